"""Pairs of a speech transcript and a translation (Li and Specia 2019, section 2.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput, new_records
from augury.augment.translation import cleaned_like
from augury.core.config import FilePath
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.files import examine, read_sentences
from augury.corpora.languages import base_language
from augury.scoring.wer import WordErrorRate, align

INDICATORS = re.compile(r"\[[^][]*\]|\([A-Z][\w'-]*(?: [\w'-]+){0,2}\)")
"""Indicators in transcripts: `[laughter]`, `(Applause)`; in round brackets up to three words."""
WORDS, ERRORS, MATCHES = "words of transcripts", "word errors", "words recognised"


class AsrTranscript(CorpusOperator):
    """Training pairs whose source is a recogniser's transcript of the speech behind the training
    text.

    The sources of the training text are human transcripts; the recogniser's are in a file, whose
    line n belongs to row n of the training text. Indicators such as `[laughter]` and `(Applause)`
    are dropped from all three texts.
    """

    operator: Literal["asr_transcript"] = "asr_transcript"
    transcripts: FilePath
    """File with a transcript by a recogniser for every row of the training text, one a line."""
    max_ratio: float | None = Field(1.5, gt=0)
    """The maximum number of words of the human transcript per recognised word (section 4.5 of the
    paper); null: no maximum."""
    text: str | None = None
    """Name of the training text with the speech, where there are several."""

    LEARNED: ClassVar[frozenset[str]] = frozenset({"transcripts"})

    def fit_parameters(self) -> dict[str, Any]:
        return {"transcripts": examine(self.transcripts).sha256}

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        if not counts.get(WORDS):
            return {}
        return {"WER": counts[ERRORS] / counts[WORDS], "WRR": counts[MATCHES] / counts[WORDS]}

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        spoken, prefix = self._spoken_text(corpus, store)
        transcripts = self._read_transcripts(spoken)
        language = base_language(corpus.manifest["source_language"])
        words_of = WordErrorRate("wer", language).prepare  # characters where there are no spaces
        for block in spoken.blocks():
            counts, kept = Counter[str](), []
            for place, record in enumerate(block.to_pylist()):
                transcript = transcripts[int(record["id"].rpartition("-")[2]) - 1]
                texts = [record["source"], transcript, record["target"]]
                texts = [" ".join(INDICATORS.sub(" ", text).split()) for text in texts]
                if fault := self._fault(*texts):
                    counts[REJECTED + fault] += 1
                    continue
                errors, matches, words = align(words_of(texts[0]), words_of(texts[1]))
                counts.update({WORDS: words, ERRORS: errors, MATCHES: matches})
                kept.append((place, prefix + record["id"], *texts[1:]))
            rows, ids, heard, targets = ([row[column] for row in kept] for column in range(4))
            yield new_records(
                block,
                self,
                [1] * len(kept),
                {"source": heard, "target": targets},
                rows=rows,
                ids=ids,
                counts=counts,
            )

    def _fault(self, said: str, recognised: str, target: str) -> str:
        """Return why texts make no pair; empty where they do."""
        if not recognised:
            return "no transcript"
        if not target:
            return "empty target"
        ratio = len(said.split()) / len(recognised.split())
        return "length ratio" if self.max_ratio is not None and ratio > self.max_ratio else ""

    def _spoken_text(self, corpus: Corpus, store: Store) -> tuple[Corpus, str]:
        """Return the training text with the speech, and its prefix of ids in the corpus."""
        addresses = {text["name"]: text["address"] for text in corpus.manifest.get("texts", [])}
        if not addresses and self.text is None:
            return corpus, ""
        if self.text not in addresses:
            raise unknown(f"text of operator {self.operator}", self.text or "", addresses)
        return Corpus.load(store, addresses[self.text]), f"{self.text}-"

    def _read_transcripts(self, spoken: Corpus) -> list[str]:
        """Return the recogniser's transcripts, cleaned like the training text; UserError where
        their rows are not those of the training text."""
        lines = read_sentences(self.transcripts)
        expected = spoken.manifest["rows_in"]
        partial = len(lines) > expected and spoken.manifest["spec"]["text"].get("first")
        if len(lines) != expected and not partial:
            raise UserError(
                f"{self.transcripts} has {len(lines):,} rows and the training text {expected:,}: "
                "row n of one must belong to row n of the other"
            )
        return cleaned_like(spoken, lines)


OPERATOR = AsrTranscript

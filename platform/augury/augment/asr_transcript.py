"""Pairs of a speech transcript and a translation (Li and Specia 2019, section 2.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment.operator import (
    REJECTED,
    CorpusOperator,
    ExtraInputs,
    MadeOf,
    Measured,
    OperatorOutput,
    derive_records,
)
from augury.augment.translation import cleaned_like
from augury.core.citations import NOISY_NMT, Paper
from augury.core.config import FilePath
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.languages import UNDETERMINED
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.scoring.wer import Alignment, align, word_error_rate, word_recognition_rate

INDICATORS = re.compile(r"\[[^][]*\]|\([A-Z][\w'-]*(?: [\w'-]+){0,2}\)")
"""Indicators in transcripts: `[laughter]`, `(Applause)`; in round brackets up to three words."""
WORDS, ERRORS, MATCHES = "words of transcripts", "word errors", "words recognised"


def enough_heard(heard: str, other: str, max_ratio: float | None) -> bool:
    """Return whether a recogniser heard words, and not too few for another text: that has at most
    `max_ratio` words per recognised one."""
    words = len(heard.split())
    return words > 0 and (max_ratio is None or len(other.split()) / words <= max_ratio)


class AsrTranscript(ExtraInputs, Measured, CorpusOperator):
    """Training pairs whose source is a recogniser's transcript of the speech behind the training
    text.

    The sources of the training text are human transcripts; the recogniser's are in a file, whose
    line n belongs to row n of the training text.
    """

    operator: Literal["asr_transcript"] = "asr_transcript"
    transcripts: FilePath
    """File with a transcript by a recogniser for every row of the training text, one a line, or
    in `column`."""
    column: str | None = None
    """Column of the transcripts, where their file is a table (TSV, CSV, JSON lines, Parquet)."""
    max_ratio: float | None = Field(1.5, gt=0)
    """The maximum number of words of the other text per recognised word; null: no maximum."""
    against: Literal["transcript", "target"] = "transcript"
    """The other text: the human transcript (section 4.5 of the paper), or the translation (section
    2.4)."""
    indicators: Literal["keep", "drop"] = "keep"
    """Keep or drop indicators such as `[laughter]` and `(Applause)`, in all three texts."""

    text: str | None = None
    """Name of the training text with the speech, where there are several."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (NOISY_NMT,)
    EXAMPLE: ClassVar[str] = "transcripts: asr.txt"
    EXAMPLE_FILE: ClassVar[str] = "demo_nmt.yaml"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"transcripts", "column"})

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"transcripts": self._file_spec}

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        if not counts.get(WORDS):
            return {}
        alignment = Alignment(*(counts.get(name, 0) for name in (ERRORS, MATCHES, WORDS)))
        return {"WER": word_error_rate(alignment), "WRR": word_recognition_rate(alignment)}

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        spoken, prefix = self._spoken_text(corpus, store)
        heard = self._read_heard(spoken, store)
        for block in spoken.blocks():
            ids, sources, targets = (
                block.column(name).to_pylist() for name in ("id", "source", "target")
            )
            parents = block.set_column(
                0, block.schema.field(0), pa.array([prefix + name for name in ids], pa.string())
            )
            counts, kept = Counter[str](), []
            for row, (name, *texts) in enumerate(zip(ids, sources, targets, strict=True)):
                said, target, heard_text = map(self._text, [*texts, heard.get(_row(name), "")])
                if self._keep(said, heard_text, target, counts):
                    kept.append((row, said, heard_text, target))
            rows, transcripts, recognised, translations = (
                [record[place] for record in kept] for place in range(4)
            )
            records = derive_records(
                parents.take(pa.array(rows, pa.int64())),
                self,
                [1] * len(rows),
                source=pa.array(recognised, pa.string()),
                target=pa.array(translations, pa.string()),
            )
            made_of = {"source": MadeOf(pa.array(transcripts, pa.string()), "source")}
            yield OperatorOutput(records, counts, made_of=made_of)

    def _keep(self, said: str, heard: str, target: str, counts: Counter[str]) -> bool:
        """Return whether texts make a pair; count its words, or the reason why not."""
        against = said if self.against == "transcript" else target
        if not heard:
            counts[f"{REJECTED}no transcript"] += 1
        elif not target:
            counts[f"{REJECTED}empty target"] += 1
        elif not enough_heard(heard, against, self.max_ratio):
            counts[f"{REJECTED}length ratio"] += 1
        else:
            alignment = align(said.split(), heard.split())
            counts.update(
                {WORDS: alignment.words, ERRORS: alignment.errors, MATCHES: alignment.matches}
            )
            counts["unchanged sources"] += heard == said
            return True
        return False

    def _text(self, text: str) -> str:
        """Return a text with or without its indicators."""
        return text if self.indicators == "keep" else " ".join(INDICATORS.sub(" ", text).split())

    def _spoken_text(self, corpus: Corpus, store: Store) -> tuple[Corpus, str]:
        """Return the training text with the speech, and its prefix of ids in the corpus."""
        addresses = {text["name"]: text["address"] for text in corpus.manifest.get("texts", [])}
        if not addresses and self.text is None:
            return corpus, ""
        if self.text not in addresses:
            raise unknown(f"text of operator {self.operator}", self.text or "", addresses)
        return Corpus.load(store, addresses[self.text]), f"{self.text}-"

    def _read_heard(self, spoken: Corpus, store: Store) -> dict[str, str]:
        """Return the recogniser's transcripts, cleaned like the training text, by row."""
        text = cached_corpus(self._file_spec, "train", store.root)
        self._check_rows(spoken, text)
        heard: dict[str, str] = {}
        for block in text.blocks(["id", "text"]):
            cleaned = cleaned_like(spoken, block.column("text").to_pylist())
            heard |= zip(map(_row, block.column("id").to_pylist()), cleaned, strict=True)
        return heard

    def _check_rows(self, spoken: Corpus, text: Corpus) -> None:
        """Raise UserError where the rows of transcripts and of the training text do not match."""
        rows, expected = text.manifest["rows_in"], spoken.manifest["rows_in"]
        if rows < expected or (
            rows > expected and not spoken.manifest["spec"]["text"].get("first")
        ):
            raise UserError(
                f"{self.transcripts} has {rows:,} rows and the training text {expected:,}: row n "
                "of one must belong to row n of the other"
            )

    @property
    def _file_spec(self) -> MonolingualSpec:
        """The file of transcripts as a text."""
        table = {"file": self.transcripts, "text_column": self.column}
        place = table if self.column else {"lines": self.transcripts}
        return MonolingualSpec.model_validate({"language": UNDETERMINED, "train": place})


def _row(name: str) -> str:
    """Return the part of an id that training text and transcripts share: the row number."""
    return name.rpartition("-")[2]


OPERATOR = AsrTranscript

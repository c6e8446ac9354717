"""Pairs of a speech transcript and a translation (Li and Specia 2019, section 2.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.mixins import REJECTED, CorpusOperator, ExtraInputs, Fitted, Measured
from augury.augment.operator import MadeOf, OperatorOutput
from augury.augment.records import derive_records
from augury.augment.translation import Translation, cleaned_like
from augury.core.citations import NOISY_NMT, Paper
from augury.core.config import FilePath, ModelName
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.languages import UNDETERMINED
from augury.corpora.readers import open_text
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.decoding.speech import SpeechModel, content
from augury.scoring.wer import Alignment, align, word_error_rate, word_recognition_rate

INDICATORS = re.compile(r"\[[^][]*\]|\([A-Z][\w'-]*(?: [\w'-]+){0,2}\)")
"""Indicators in transcripts: `[laughter]`, `(Applause)`; in round brackets up to three words."""
BLOCK_ROWS = 100
RECORDINGS_PER_SECOND = 1.0  # that one core recognises with a small model
WORDS, ERRORS, MATCHES = "words of transcripts", "word errors", "words recognised"


class Triple(NamedTuple):
    """The human transcript, the recogniser's (`heard`), and the translation."""

    transcript: str
    heard: str
    target: str

    def is_kept(self, max_ratio: float | None, against: Literal["transcript", "target"]) -> bool:
        """Return whether the recogniser heard words, and not too few for the other text.

        `max_ratio` is the maximum number of words of the other text per recognised word.
        """
        words, heard = len(getattr(self, against).split()), len(self.heard.split())
        return heard > 0 and (max_ratio is None or words / heard <= max_ratio)


class AsrTranscript(Fitted, ExtraInputs, Measured, CorpusOperator):
    """Training pairs whose source is a recogniser's transcript of the speech behind the training
    text.

    The sources of the training text are human transcripts. The recogniser's are in a file, whose
    line n belongs to row n of the training text, or are made from audio files.
    """

    operator: Literal["asr_transcript"] = "asr_transcript"
    transcripts: FilePath | None = None
    """File with a transcript by a recogniser for every row of the training text, one a line, or
    in `column`."""
    audio: FilePath | None = None
    """File with the path of an audio file for every row, one a line, or in `column`; relative ones
    begin where the file lies."""
    column: str | None = None
    """Column of the transcripts or paths, where their file is a table (TSV, CSV, JSON lines,
    Parquet)."""
    recogniser: ModelName | None = None
    """Speech model for `audio`: a checkpoint of `transformers`, by its name on a hub or its
    directory."""
    revision: str | None = None
    """Branch, tag or commit of the recogniser on the hub."""
    allow_pickle: bool = False
    """Read the recogniser's weights from pickle files too, which can run code, where it has no
    safetensors."""
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
    LEARNED: ClassVar[frozenset[str]] = frozenset(
        {"transcripts", "audio", "column", "recogniser", "revision", "allow_pickle"}
    )

    @model_validator(mode="after")
    def _one_way(self) -> AsrTranscript:
        if (self.transcripts is None) == (self.audio is None):
            raise UserError(
                "transcripts of speech are read or made: give transcripts, or audio and recogniser"
            )
        if (self.audio is None) != (self.recogniser is None):
            raise UserError(
                "audio is what a recogniser reads: give both, as recogniser: openai/whisper-tiny"
            )
        return self

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"transcripts" if self.audio is None else "audio": self._file_spec}

    def fit_parameters(self) -> dict[str, Any]:
        speech = self._speech_model()
        return {} if speech is None else {"recognised": speech.name}

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        if not counts.get(WORDS):
            return {}
        alignment = Alignment(*(counts.get(name, 0) for name in (ERRORS, MATCHES, WORDS)))
        return {"WER": word_error_rate(alignment), "WRR": word_recognition_rate(alignment)}

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        spoken, prefix = self._spoken_text(corpus, store)
        heard, recognised = self._read_heard(spoken, store, execution)
        for block in spoken.blocks():
            ids, sources, targets = (
                block.column(name).to_pylist() for name in ("id", "source", "target")
            )
            parents = block.set_column(
                0, block.schema.field(0), pa.array([prefix + name for name in ids], pa.string())
            )
            triples = [
                self._triple(source, heard.get(_row(name), ""), target)
                for name, source, target in zip(ids, sources, targets, strict=True)
            ]
            counts = Counter[str]()
            rows = [row for row, triple in enumerate(triples) if self._keep(triple, counts)]
            kept = [triples[row] for row in rows]
            records = derive_records(
                parents.take(pa.array(rows, pa.int64())),
                self,
                [1] * len(rows),
                source=pa.array([triple.heard for triple in kept], pa.string()),
                target=pa.array([triple.target for triple in kept], pa.string()),
            )
            transcripts = pa.array([triple.transcript for triple in kept], pa.string())
            yield OperatorOutput(
                records, counts, recognised, {"source": MadeOf(transcripts, "source")}
            )

    def _keep(self, triple: Triple, counts: Counter[str]) -> bool:
        """Return whether a triple makes a pair; count its words, or the reason why not."""
        if not triple.heard:
            counts[f"{REJECTED}no transcript"] += 1
        elif not triple.target:
            counts[f"{REJECTED}empty target"] += 1
        elif not triple.is_kept(self.max_ratio, self.against):
            counts[f"{REJECTED}length ratio"] += 1
        else:
            alignment = align(triple.transcript.split(), triple.heard.split())
            counts.update(
                {WORDS: alignment.words, ERRORS: alignment.errors, MATCHES: alignment.matches}
            )
            counts["unchanged sources"] += triple.heard == triple.transcript
            return True
        return False

    def _triple(self, *texts: str) -> Triple:
        if self.indicators == "keep":
            return Triple(*texts)
        return Triple(*(" ".join(INDICATORS.sub(" ", text).split()) for text in texts))

    def _spoken_text(self, corpus: Corpus, store: Store) -> tuple[Corpus, str]:
        """Return the training text with the speech, and its prefix of ids in the corpus."""
        addresses = {text["name"]: text["address"] for text in corpus.manifest.get("texts", [])}
        if not addresses and self.text is None:
            return corpus, ""
        if self.text not in addresses:
            raise unknown(f"text of operator {self.operator}", self.text or "", addresses)
        return Corpus.load(store, addresses[self.text]), f"{self.text}-"

    def _read_heard(
        self, spoken: Corpus, store: Store, execution: Execution
    ) -> tuple[dict[str, str], list[str]]:
        """Return the recogniser's transcripts, cleaned like the training text, by row, and
        their folders."""
        text = cached_corpus(self._file_spec, "train", store.root)
        self._check_rows(spoken, text)
        shards: Iterator[list[str | None]] = (
            block.column("text").to_pylist() for block in text.blocks(["text"])
        )
        folders = []
        if (speech := self._speech_model()) is not None:
            recognised = Translation(
                text, "text", speech, per_second=RECORDINGS_PER_SECOND, block_rows=BLOCK_ROWS
            )
            shards = recognised.hypotheses(
                store, execution, f"{self.operator}: recognise", "recordings"
            )
            folders = [recognised.folder(store).name]
        heard: dict[str, str] = {}
        for block, lines in zip(text.blocks(["id"]), shards, strict=True):
            cleaned = cleaned_like(spoken, [line or "" for line in lines])
            heard |= zip(map(_row, block.column("id").to_pylist()), cleaned, strict=True)
        return heard, folders

    def _check_rows(self, spoken: Corpus, text: Corpus) -> None:
        """Raise UserError where the rows of transcripts and of the training text do not match."""
        rows, expected = text.manifest["rows_in"], spoken.manifest["rows_in"]
        if rows < expected or (
            rows > expected and not spoken.manifest["spec"]["text"].get("first")
        ):
            raise UserError(
                f"{self._file} has {rows:,} rows and the training text {expected:,}: row n of one "
                "must belong to row n of the other"
            )

    def _speech_model(self) -> SpeechModel | None:
        """Return the model that transcribes the audio files; None where transcripts are read."""
        if self.recogniser is None:
            return None
        directory = str(Path(self._file).parent)
        return SpeechModel(
            self.recogniser,
            self.revision,
            directory,
            _hash_recordings(self._file_spec.model_dump_json(), directory),
            self.allow_pickle,
        )

    @property
    def _file(self) -> str:
        file = self.transcripts or self.audio
        assert file is not None
        return file

    @property
    def _file_spec(self) -> MonolingualSpec:
        """The file of transcripts or of paths as a text."""
        table = {"file": self._file, "text_column": self.column}
        place = table if self.column else {"lines": self._file}
        return MonolingualSpec.model_validate({"language": UNDETERMINED, "train": place})


@cache
def _hash_recordings(spec: str, directory: str) -> str:
    """Return a hash of the audio files that a text lists; UserError where one is missing."""
    part = MonolingualSpec.model_validate_json(spec).resolve("train")
    blocks = open_text(part.text, part.role).blocks()
    paths = [path.strip() for block in blocks for path in block.column("text").to_pylist()]
    return content([path for path in paths if path], directory)


def _row(name: str) -> str:
    """Return the part of an id that training text and transcripts share: the row number."""
    return name.rpartition("-")[2]


OPERATOR = AsrTranscript

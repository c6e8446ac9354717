"""Records by a language model that is prompted with the records of the training text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.model_outputs import GENERATED, ModelOutputs, Questions
from augury.augment.models import ReadyModel, TextModel
from augury.augment.operator import (
    REJECTED,
    CorpusOperator,
    OperatorOutput,
    language_column,
    new_records,
)
from augury.augment.prompts import COLUMN, PROMPTS, columns_of, render
from augury.augment.translation import cleaned_like
from augury.core.config import ModelName
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.rng import generator, seed_of
from augury.core.store import Store
from augury.corpora.corpus import Corpus, sentence_columns
from augury.corpora.identification import is_foreign
from augury.decoding.checkpoint import LanguageModel
from augury.decoding.settings import Sampling

VERSION = 2
"""Raised when the answers to the same prompts change; part of their addresses."""
UNREAD = ("views", "lineage")
"""The columns of records that prompts cannot read."""
WRITER = "writer"
TOP_K = 50
"""An answer is drawn from so many of the likeliest subwords."""


class Generate(CorpusOperator):
    """Records by a language model, whose prompt is filled with a record and whose answer is a
    sentence of a new one.

    The other columns of a new record are those of its parent. Left out, and counted by reason, are
    answers that are one of their record's sentences, up to case and spaces, and those that are
    clearly of another language or length.
    """

    operator: Literal["generate"] = "generate"
    model: ModelName | ReadyModel
    """A causal model or an encoder-decoder: directory, name on the hub, or {checkpoint: ..., or
    run: ..., and the settings of ReadyModel}."""
    prompt: str
    """A Jinja template that reads the columns of a record, such as {{ source }} or {{ label }}, the
    list `examples`, and the filter `language` that names a language by its code; or the name of a
    template: paraphrase, translate, noisy."""
    fills: str = ""
    """The column of a sentence that the first line of the answer fills; by default the one of a
    named prompt."""
    examples: tuple[dict[str, str], ...] = ()
    """Examples for the prompt, each a mapping from columns to texts."""
    shots: int = Field(0, ge=0, le=1000)
    """Records that are added to the examples, drawn for every prompt among the first 20,000 of the
    training text."""
    copies: int = Field(1, ge=1, le=1000)
    """Answers for every record."""
    temperature: float = Field(1.0, ge=0)
    """Divisor of the logits; 0 takes the likeliest subword at every step (greedy search)."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of the 50 likeliest subwords, draw only from the fewest that together have this probability.
    """
    max_tokens: int = Field(100, ge=1, le=10_000_000)
    """Maximum length of an answer in subwords, where it is cut."""
    length_ratio: float | None = Field(3.0, ge=1)
    """The maximum factor by which a sentence is longer or shorter, in characters, than the record's
    own in the same column; null: no maximum."""
    seed: int = 1
    """Seed of the random choices, each by record and copy."""

    VERSION: ClassVar[int] = 2
    PER_SECOND: ClassVar[float] = 1.0  # with a small model
    LEARNED: ClassVar[frozenset[str]] = frozenset({"model"})

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, values: Any) -> Any:
        """Put the text of a named prompt in place of its name, and the column that it fills."""
        prompt = values.get("prompt") if isinstance(values, Mapping) else None
        if not isinstance(prompt, str) or prompt not in PROMPTS:
            return values
        fills = values.get("fills") or PROMPTS[prompt]["fills"]
        text = PROMPTS[prompt]["text"].replace(COLUMN, str(fills))
        return {**values, "fills": fills, "prompt": text}

    @model_validator(mode="after")
    def _goes_together(self) -> Generate:
        if not columns_of(self.prompt):  # the same for all records
            raise unknown("prompt", self.prompt, PROMPTS)
        if not self.fills:
            raise UserError("say which column the answers fill, such as fills: source")
        if self.copies > 1 and not (self.temperature or self.shots):
            raise UserError(
                f"copies={self.copies} with temperature=0 are all the same: raise temperature or "
                "shots, or make one"
            )
        return self

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        readable = [name for name in columns if name not in UNREAD]
        needed = {*columns_of(self.prompt), self.fills}
        return (*readable, *sorted(needed.difference(readable)))

    def check_text(self, records: pa.Table) -> None:
        sentences = sentence_columns(records.column_names)
        if self.fills not in sentences:
            raise unknown("column of text to fill", self.fills, sentences)
        for record in records.slice(0, 1).to_pylist():
            render(self.prompt, record, [*self.examples, *[record] * self.shots])

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, ReadyModel]:
        return {WRITER: self._ready}

    @property
    def _ready(self) -> ReadyModel:
        """The settings of the model, of which a path or name alone may be given."""
        return ReadyModel(checkpoint=self.model) if isinstance(self.model, str) else self.model

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        for copy in range(1, self.copies + 1):
            written = self._written(copy, corpus, fitted["models"][WRITER], store)
            outputs = written.by_shard(execution, f"{self.operator}: write", "records")
            for block, answers in zip(corpus.blocks(), outputs, strict=True):
                lines = [(answer or "").strip().partition("\n")[0] for answer in answers]
                rows, new, counts = list[int](), list[str](), Counter[str]()
                texts = cleaned_like(corpus, lines)
                for row, (parent, text) in enumerate(zip(_readable(block), texts, strict=True)):
                    fault = "prompt too long" if answers[row] is None else self.fault(parent, text)
                    if fault:
                        counts[f"{REJECTED}{fault}"] += 1
                        continue
                    rows.append(row)
                    new.append(text)
                yield new_records(
                    block,
                    self,
                    [copy] * len(rows),
                    {self.fills: new},
                    rows=rows,
                    counts=counts,
                    made_from=[written.folder.name],
                )

    def questions(self, corpus: Corpus, copy: int, block: pa.Table) -> Questions:
        """Return the prompts of a copy for the records of a block, with their random keys; all
        choices are drawn by seed, record and copy."""
        prompts, keys = [], []
        for record in _readable(block):
            prompts.append(render(self.prompt, record, self._examples(corpus, record, copy)))
            keys.append(seed_of(self.seed, GENERATED, record["id"], copy))
        return Questions(prompts, keys)

    def _examples(
        self, corpus: Corpus, record: Mapping[str, Any], copy: int
    ) -> list[Mapping[str, Any]]:
        """Return the examples for a record: those that are given, and records but itself."""
        if not self.shots:
            return [*self.examples]
        pool = _first_records(corpus)
        random = generator(self.seed, "shots", record["id"], copy)
        drawn = random.choice(len(pool), min(self.shots + 1, len(pool)), replace=False)
        others = [pool[index] for index in drawn if pool[index]["id"] != record["id"]]
        return [*self.examples, *others[: self.shots]]

    def _written(self, copy: int, corpus: Corpus, model: TextModel, store: Store) -> ModelOutputs:
        """Return the answers of the model to the prompts of a copy; of checkpoints as language
        models, and of runs as they draw text."""
        if (ready := self._ready).checkpoint is not None:
            model = LanguageModel(ready.checkpoint, ready.revision, ready.languages)
        sampling = Sampling(
            temperature=self.temperature, top_k=TOP_K, top_p=self.top_p, max_length=self.max_tokens
        )
        prompts = {**self.model_dump(include={"prompt", "examples", "shots", "seed"}), "copy": copy}
        asked = {"version": VERSION, "prompts": prompts, "sampling": sampling.to_dict()}
        ask = partial(self.questions, corpus, copy)
        return ModelOutputs(store, asked, corpus, model, ask, sampling, self.PER_SECOND)

    def fault(self, parent: Mapping[str, Any], text: str) -> str:
        """Return the first reason to leave an answer out; empty where there is none."""
        if not text:
            return "empty"
        if _folded(text) in {_folded(parent[name]) for name in sentence_columns([*parent])}:
            return "copied"
        ratio, most = len(text) / max(1, len(parent[self.fills])), self.length_ratio
        if most is not None and not 1 / most <= ratio <= most:
            return "length ratio"
        is_target = self.fills == "target"
        language = parent["target_language" if is_target else language_column([*parent])]
        return "language" if is_foreign(text, language) else ""


@lru_cache(maxsize=1)
def _first_records(corpus: Corpus) -> list[dict[str, Any]]:
    return _readable(corpus.shard(corpus.shards[0]))


def _readable(block: pa.Table) -> list[dict[str, Any]]:
    """Return the records of a block in the columns that prompts can read."""
    records: list[dict[str, Any]] = block.drop_columns([*UNREAD]).to_pylist()
    return records


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


OPERATOR = Generate

"""Records by a language model that is prompted with the records of the training text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.answers import DISAGREED, REPEATED, AnswerFilters, new_records, read_answers
from augury.augment.model_outputs import KIND, ModelOutputs, Questions, judge, outputs_folder
from augury.augment.models import ReadyModel, TextModel
from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput
from augury.augment.prompts import PROMPTS, columns_of, named_prompt, render
from augury.augment.translation import TranslationSampling
from augury.core.config import ModelName
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.rng import generator, keys_of, seed_of, uniform
from augury.core.store import Store
from augury.corpora.corpus import Corpus, input_columns, sentence_columns
from augury.corpora.filters import Duplicates
from augury.corpora.labels import LABEL, label_counts
from augury.decoding.checkpoint import Chat, LanguageModel

VERSION = 1
"""Raised when the answers to the same prompts change; part of their addresses."""
BLOCK_ROWS = 200
"""The records of a block, which is repeated after a kill."""
ANSWERS_PER_SECOND = 1.0  # that one core draws from a small model
UNREAD = ("views", "lineage")
"""The columns of records that prompts cannot read."""
WRITER, TEACHER = "writer", "teacher"
BASELINE = "baseline"
"""In place of a trained model: one that the plain baseline of the experiment trains."""


class Generate(CorpusOperator):
    """Records by a language model, whose prompt is filled with a record and whose answer fills
    columns of a new one.

    The other columns of a new record are those of its parent.
    """

    operator: Literal["generate"] = "generate"
    model: ModelName | ReadyModel
    """A causal model or an encoder-decoder: directory, name on the hub, or {checkpoint: ..., or
    run: ..., and the settings of ReadyModel}."""
    prompt: str
    """A Jinja template that reads the columns of a record, such as {{ source }} or {{ label }}, the
    list `examples`, and the filter `language` that names a language by its code; or the name of a
    template: paraphrase, translate, hypothesis, noisy, example."""
    fills: tuple[str, ...] = ()
    """The columns that the answer fills: sentences, or label. By default the groups of `answer`, or
    the column of a named prompt."""
    answer: str = ""
    """A regular expression with a named group for each filled column, searched in the answer:
    "(?P<source>.+)\\t(?P<target>.+)". By default, for one column, the first line that is not
    empty."""
    examples: tuple[dict[str, str], ...] = ()
    """Examples for the prompt, each a mapping from columns to texts."""
    shots: int = Field(0, ge=0, le=1000)
    """Records that are added to the examples, drawn for every prompt among the first 20,000 of the
    training text; where records have labels, of the same label. By default 4 for prompt example."""
    label: Literal["own", "other"] = "own"
    """The label in the prompt, and of the new record: the record's own, or another one, drawn by
    the seed for every copy."""
    copies: int = Field(1, ge=1, le=1000)
    """Answers for every record."""
    share: float = Field(1.0, gt=0, le=1)
    """The share of the records that are asked for, drawn by the seed."""
    temperature: float = Field(1.0, ge=0)
    """Divisor of the logits; 0 takes the likeliest subword at every step (greedy search)."""
    top_k: int | None = Field(50, ge=1)
    """Draw only from this many of the likeliest subwords; null: from all."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of these, only from the fewest that together have this probability."""
    max_tokens: int = Field(100, ge=1, le=10_000_000)
    """Maximum length of an answer in subwords, where it is cut."""
    chat: Chat = "auto"
    """Whether a prompt is a user's message in the chat template of the tokenizer: auto (where it
    has one), true or false."""
    filters: AnswerFilters = AnswerFilters()
    """What an answer must be to become a record."""
    called: str = Field("generate", pattern=r"[a-z][a-z0-9_-]*")
    """The name of the records in tables and in `mixture`, for several such operators in one
    system."""
    seed: int = 1
    """Seed of the random choices, each by record and copy."""

    VERSION: ClassVar[int] = 1
    PER_SECOND: ClassVar[float] = ANSWERS_PER_SECOND
    EXAMPLE: ClassVar[str] = "model: Qwen/Qwen2.5-0.5B-Instruct, prompt: paraphrase"
    EXAMPLE_FILE: ClassVar[str] = "demo_nmt.yaml"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"model"})

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, values: Any) -> Any:
        """Put the text of a named prompt in place of its name, and what follows from it."""
        if not isinstance(values, Mapping) or not isinstance(values.get("prompt"), str):
            return values
        settings, fills = dict(values), list(values.get("fills") or ())
        if settings["prompt"] in PROMPTS:
            named = named_prompt(settings["prompt"], fills[0] if fills else None)
            fills = fills or [named.fills]
            settings |= {"prompt": named.text, "shots": values.get("shots", named.shots)}
        pattern = settings.get("answer")
        if not pattern and len(fills) == 1:
            pattern = rf"(?P<{fills[0]}>\S.*)"
        if pattern and not fills:
            fills = list(_compiled(pattern).groupindex)
        return {**settings, "fills": tuple(fills), "answer": pattern or ""}

    @model_validator(mode="after")
    def _goes_together(self) -> Generate:
        if not columns_of(self.prompt):  # the same for all records
            raise unknown("prompt", self.prompt, PROMPTS)
        groups = list(_compiled(self.answer).groupindex) if self.answer else []
        if not groups or sorted(groups) != sorted(self.fills):
            raise UserError(
                f"fills is {list(self.fills)} and the groups of answer are {groups}: give answer, "
                "a regular expression with a named group for each column that is filled, such as "
                "(?P<source>.+)"
            )
        if self.label == "other" and LABEL in self.fills:
            raise UserError("label: other asks for a label, and fills has one: leave out either")
        return self

    def inactive(self) -> dict[str, str]:
        unused: dict[str, str] = {}
        if self.temperature == 0:
            unused = dict.fromkeys(("top_k", "top_p"), "temperature 0 takes the likeliest subword")
        return unused | ({"chat": "a run of Augury"} if _ready(self.model).run else {})

    def name(self) -> str:
        return self.called

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        readable = [name for name in columns if name not in UNREAD]
        needed = {*columns_of(self.prompt), *self.fills}
        needed |= {LABEL} if self.label == "other" or self.filters.teacher else set()
        return (*readable, *sorted(needed.difference(readable)))

    def check_text(self, records: pa.Table) -> None:
        for record in records.slice(0, 1).to_pylist():
            render(self.prompt, record, [*self.examples, *[record] * self.shots])

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        models: dict[str, Mapping[str, Any] | ReadyModel] = {WRITER: _ready(self.model)}
        teacher = self.filters.teacher
        if teacher == BASELINE:
            models[TEACHER] = {**experiment, "name": TEACHER}
        elif teacher:
            models[TEACHER] = _ready(teacher)
        return models

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        models = fitted["models"]
        content = [*sentence_columns(corpus.columns), *({LABEL} & {*corpus.columns})]
        known = Duplicates()
        for block in corpus.blocks(content):
            known.repeated(*(column.combine_chunks() for column in block.columns))
        labels = tuple(sorted(label_counts(corpus))) if LABEL in corpus.columns else ()
        changed = [*self.fills, *([LABEL] if self.label == "other" else [])]
        for copy in range(1, self.copies + 1):
            prompts = Prompts(self, corpus, labels, copy)
            written = self._outputs(prompts, self._writer(models), store)
            outputs = written.by_shard(execution, f"{self.called}: write", "records")
            for block, texts in zip(corpus.blocks(), outputs, strict=True):
                parents = prompts.parents(block)
                answers = read_answers(
                    texts, parents, self.answer, self.filters, corpus, labels, copy
                )
                kept = [answer for answer in answers if not answer.reason]
                if self.filters.teacher:
                    names = input_columns(corpus.columns)
                    columns = [[answer.record[name] for answer in kept] for name in names]
                    judged = judge(models[TEACHER], store, columns, labels, execution, self.called)
                    for answer, likeliest in zip(kept, judged.argmax(1), strict=True):
                        if labels[likeliest] != answer.record[LABEL]:
                            answer.reason = DISAGREED
                    kept = [answer for answer in kept if not answer.reason]
                if self.filters.repeated and kept:
                    columns = [[answer.record[name] for answer in kept] for name in content]
                    repeated = known.repeated(*(pa.array(texts, pa.string()) for texts in columns))
                    for answer, there in zip(kept, repeated, strict=True):
                        answer.reason = REPEATED if there else ""
                counts = Counter(
                    f"{REJECTED}{answer.reason}" if answer.reason else "kept" for answer in answers
                )
                yield new_records(self, block, answers, changed, counts, written.folder.name)

    def _writer(self, models: Mapping[str, TextModel]) -> TextModel:
        """Return the model that answers; checkpoints by their prompts, runs as they draw text."""
        ready = _ready(self.model)
        if ready.checkpoint is None:
            return models[WRITER]
        return LanguageModel(
            ready.checkpoint, ready.revision, ready.languages, ready.allow_pickle, self.chat
        )

    def _outputs(self, prompts: Prompts, model: TextModel, store: Store) -> ModelOutputs:
        """Return the answers of the model to the prompts of a copy."""
        sampling = TranslationSampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            max_length=self.max_tokens,
            seed=self.seed,
        )
        asked = {
            "version": VERSION,
            "prompts": {
                "template": self.prompt,
                "labels": prompts.labels,
                "copy": prompts.copy,
                **self.model_dump(include={"examples", "shots", "label", "share", "seed"}),
            },
            "sampling": sampling.to_dict(),
            "chat": self.chat,
        }
        return ModelOutputs(
            outputs_folder(store, KIND, prompts.corpus, model, **asked),
            prompts.corpus,
            model,
            prompts,
            sampling,
            per_second=ANSWERS_PER_SECOND,
            block_rows=BLOCK_ROWS,
        )


@dataclass(frozen=True)
class Prompts:
    """What one copy of every record asks for; all choices are drawn by seed, record and copy."""

    operator: Generate
    corpus: Corpus
    """The training text, whose records are shown as examples."""
    labels: tuple[str, ...]
    """The labels of the training text."""
    copy: int

    def __call__(self, block: pa.Table) -> Questions:
        """Return the prompt of every record of a block, empty for those that are not asked for."""
        texts, seed = [""] * len(block), self.operator.seed
        for row, record in self.parents(block).items():
            texts[row] = render(self.operator.prompt, record, self._examples(record))
        ids = block.column("id").to_pylist()
        return Questions(texts, [seed_of(seed, KIND, name, self.copy) for name in ids])

    def parents(self, block: pa.Table) -> dict[int, dict[str, Any]]:
        """Return the records that are asked for, with the label that is, by their rows."""
        records = _readable(block)
        keys = keys_of([record["id"] for record in records], self.operator.seed, "share")
        chosen = uniform(keys, 0, 1)[:, 0] < self.operator.share
        return {row: self._labelled(record) for row, record in enumerate(records) if chosen[row]}

    def _labelled(self, record: dict[str, Any]) -> dict[str, Any]:
        if self.operator.label == "own":
            return record
        others = [label for label in self.labels if label != record[LABEL]]
        if not others:
            raise UserError(
                f"label: other asks for another label than '{record[LABEL]}', and the training "
                "text has no other"
            )
        key = seed_of(self.operator.seed, "label", record["id"], self.copy)
        return {**record, LABEL: others[key % len(others)]}

    def _examples(self, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the examples for a record: those that are given, and records but itself."""
        examples, shots = self.operator.examples, self.operator.shots
        if not shots:
            return [*examples]
        pool = _records_by_label(self.corpus).get(record.get(LABEL), [])
        random = generator(self.operator.seed, "shots", record["id"], self.copy)
        drawn = random.choice(len(pool), min(shots + 1, len(pool)), replace=False)
        others = [pool[index] for index in drawn if pool[index]["id"] != record["id"]]
        return [*examples, *others[:shots]]


@lru_cache(maxsize=1)
def _records_by_label(corpus: Corpus) -> dict[str | None, list[dict[str, Any]]]:
    """Return the records of the first shard by their label, or all under None."""
    pools: dict[str | None, list[dict[str, Any]]] = {}
    for record in _readable(corpus.shard(corpus.shards[0])):
        pools.setdefault(record.get(LABEL), []).append(record)
    return pools


def _readable(block: pa.Table) -> list[dict[str, Any]]:
    """Return the records of a block in the columns that prompts can read."""
    return list(
        block.select([name for name in block.column_names if name not in UNREAD]).to_pylist()
    )


def _ready(model: str | ReadyModel) -> ReadyModel:
    """Return the settings of a model, of which a path or name alone may be given."""
    return ReadyModel(checkpoint=model) if isinstance(model, str) else model


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"answer {pattern!r} is no regular expression: {error}") from error


OPERATOR = Generate

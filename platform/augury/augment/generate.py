"""Records by a language model that is prompted with the records of the training text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment import templates
from augury.augment.answers import REPEATED, Answer, AnswerFilters, AnswerReader
from augury.augment.generation import (
    ANSWERS_PER_SECOND,
    BLOCK_ROWS,
    UNREAD,
    Generation,
    Prompts,
    Requested,
    Teacher,
)
from augury.augment.mixins import REJECTED, CorpusOperator, UsesModels
from augury.augment.models import ReadyModel, TextModel
from augury.augment.operator import MadeOf, OperatorOutput
from augury.augment.records import derive_records
from augury.augment.translation import TranslationSampling
from augury.core.config import ModelName
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus, sentence_columns
from augury.corpora.filters import Duplicates
from augury.corpora.labels import LABEL, label_counts
from augury.decoding.language_model import Chat, LanguageModel

WRITER, TEACHER = "writer", "teacher"
BASELINE = "baseline"
"""In place of a trained model: one that the plain baseline of the experiment trains."""


class Generate(UsesModels, CorpusOperator):
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
    label: Requested = "own"
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
        if settings["prompt"] in templates.PROMPTS:
            named = templates.named(settings["prompt"], fills[0] if fills else None)
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
        if not templates.columns_of(self.prompt):
            if re.fullmatch(r"\w+", self.prompt):
                raise unknown("prompt", self.prompt, templates.PROMPTS)
            raise UserError(
                "the prompt reads no column of the records, so that it is the same for all: name "
                "one, such as {{ source }} or {{ label }}"
            )
        groups = list(_compiled(self.answer).groupindex) if self.answer else []
        if not groups or sorted(groups) != sorted(self.fills):
            raise UserError(
                f"fills is {list(self.fills)} and the groups of answer are {groups}: give answer, "
                "a regular expression with a named group for each column that is filled, such as "
                "(?P<source>.+)"
            )
        if self.temperature == 0 and self.copies > 1:
            raise UserError(
                f"with temperature 0 all {self.copies} copies are the same: set copies: 1, or a "
                "higher temperature"
            )
        if self.label == "other" and LABEL in self.fills:
            raise UserError("label: other asks for a label, and fills has one: leave out either")
        return self

    def inactive(self) -> dict[str, str]:
        greedy = dict.fromkeys(("top_k", "top_p"), "temperature 0 takes the likeliest subword")
        of_runs = {"chat": "the model is a run of Augury"}
        return (greedy if self.temperature == 0 else {}) | (
            of_runs if _ready(self.model).run else {}
        )

    def name(self) -> str:
        return self.called

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        fillable = [*sentence_columns(columns), *(name for name in columns if name == LABEL)]
        for column in self.fills:
            if column not in fillable:
                raise UserError(
                    f"these records have no '{column}' to be filled: give fills, of "
                    f"{', '.join(fillable)}"
                )
        readable = [name for name in columns if name not in UNREAD]
        templates.check_columns_of(self.prompt, readable)
        needed = {"label: other": self.label == "other", "filters.teacher": self.filters.teacher}
        for setting, used in needed.items():
            if used and LABEL not in columns:
                raise UserError(f"{setting} is for records with labels, and these have none")
        return tuple(readable)

    def check_text(self, records: pa.Table) -> None:
        for record in records.slice(0, 1).to_pylist():
            templates.render(self.prompt, record, [*self.examples, *[record] * self.shots])

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
        models, content = fitted["models"], _content(corpus.columns)
        labels = tuple(sorted(label_counts(corpus))) if LABEL in corpus.columns else ()
        reader = AnswerReader(self.answer, self.filters, corpus, labels)
        known = Duplicates()
        for block in corpus.blocks(content):
            known.repeated(*(column.combine_chunks() for column in block.columns))
        for copy in range(1, self.copies + 1):
            generation = self._generation(corpus, self._writer(models), labels, copy)
            outputs = generation.hypotheses(store, execution, f"{self.called}: write", "records")
            made_from = [generation.folder(store).name]
            for block, texts in zip(corpus.blocks(), outputs, strict=True):
                answers = reader.read(generation.prompts.parents(block), texts)
                if self.filters.teacher:
                    teacher = Teacher(models[TEACHER], store, labels)
                    teacher.reject(answers, self.filters.min_probability, execution, self.called)
                if self.filters.repeated:
                    _reject_repeated(answers, content, known)
                yield self._records(block, answers, copy, made_from)

    def _writer(self, models: Mapping[str, TextModel]) -> TextModel:
        """Return the model that answers; checkpoints by their prompts, runs as they draw text."""
        ready = _ready(self.model)
        if ready.checkpoint is None:
            return models[WRITER]
        return LanguageModel(
            ready.checkpoint,
            ready.revision,
            ready.languages,
            ready.allow_pickle,
            self.chat,
        )

    def _generation(
        self, corpus: Corpus, model: TextModel, labels: tuple[str, ...], copy: int
    ) -> Generation:
        sampling = TranslationSampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            max_length=self.max_tokens,
            seed=self.seed,
        )
        prompts = Prompts(
            self.prompt, self.examples, self.shots, self.label, labels, self.share, self.seed, copy
        )
        return Generation(
            corpus,
            self.fills[0],
            model,
            sampling=sampling,
            per_second=ANSWERS_PER_SECOND,
            block_rows=BLOCK_ROWS,
            prompts=prompts,
            drawn_by={"chat": self.chat},
        )

    def _records(
        self, block: pa.Table, answers: Sequence[Answer], copy: int, made_from: Sequence[str]
    ) -> OperatorOutput:
        """Return the records of a block's answers, and count the answers that make none."""
        counts = Counter(
            f"{REJECTED}{answer.reason}" if answer.reason else "kept" for answer in answers
        )
        kept = [answer for answer in answers if not answer.reason]
        parents = block.take(pa.array([answer.row for answer in kept], pa.int64()))
        changed = [*self.fills, *([LABEL] if self.label == "other" else [])]
        columns = {
            name: pa.array([answer.record[name] for answer in kept], pa.string())
            for name in changed
        }
        made_of = {name: MadeOf(parents.column(name), name) for name in sentence_columns(changed)}
        records = derive_records(parents, self, [copy] * len(kept), **columns)
        return OperatorOutput(records, counts, made_from, made_of)


def _ready(model: str | ReadyModel) -> ReadyModel:
    """Return the settings of a model, of which a path or name alone may be given."""
    return ReadyModel(checkpoint=model) if isinstance(model, str) else model


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"answer {pattern!r} is no regular expression: {error}") from error


def _content(columns: Sequence[str]) -> list[str]:
    """Return the columns that make a record another one."""
    return [*sentence_columns(columns), *(name for name in columns if name == LABEL)]


def _reject_repeated(answers: Sequence[Answer], content: Sequence[str], known: Duplicates) -> None:
    """Reject the records that are known, and make the others known."""
    kept = [answer for answer in answers if not answer.reason]
    if kept:
        columns = [[answer.record[name] for answer in kept] for name in content]
        repeated = known.repeated(*(pa.array(column, pa.string()) for column in columns))
        for answer, there in zip(kept, repeated, strict=True):
            answer.reason = REPEATED if there else ""


OPERATOR = Generate

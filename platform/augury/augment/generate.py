"""Records by a language model that is prompted with the records of the training text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import pyarrow as pa
from jinja2 import StrictUndefined, Template, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import Field, model_validator

from augury.augment.operator import (
    REJECTED,
    CorpusOperator,
    MadeOf,
    OperatorOutput,
    ReadyModel,
    TextModel,
    TrainedModel,
    UsesModels,
    derive_records,
)
from augury.augment.pipeline import Block
from augury.augment.translation import Translation, TranslationSampling, cleaned_like
from augury.core import config
from augury.core.config import ModelName, Section
from augury.core.errors import UserError, nearest, unknown
from augury.core.execution import Execution
from augury.core.rng import generator, keys_of, seed_of, uniform
from augury.core.store import Folder, Store
from augury.corpora.corpus import KINDS, Corpus, input_columns, sentence_columns
from augury.corpora.filters import Duplicates
from augury.corpora.identification import is_foreign
from augury.corpora.labels import LABEL, label_counts
from augury.corpora.languages import base_language, languages
from augury.decoding.checkpoint import Chat, LanguageModel

EXAMPLES = "examples"
"""The name of the examples in a template, a list of mappings from columns to texts."""
COLUMN = "COLUMN"
"""What stands in a named prompt for the column that is filled."""


class NamedPrompt(NamedTuple):
    """A template, the column that it fills and the records that it shows, unless others are
    given."""

    fills: str
    text: str
    shots: int = 0


PROMPTS: Mapping[str, NamedPrompt] = {
    "paraphrase": NamedPrompt(
        "source",
        """\
Say the same in other words and in the same language. Answer with one sentence and nothing else.
{% for example in examples %}
Sentence: {{ example.COLUMN }}
{% endfor %}
Sentence: {{ COLUMN }}
In other words:""",
    ),
    "translate": NamedPrompt(
        "target",
        """\
Translate the sentence from {{ source_language | language }} to {{ target_language | language }}. \
Answer with the translation and nothing else.
{% for example in examples %}
{{ source_language | language }}: {{ example.source }}
{{ target_language | language }}: {{ example.target }}
{% endfor %}
{{ source_language | language }}: {{ source }}
{{ target_language | language }}:""",
    ),
    "hypothesis": NamedPrompt(
        "hypothesis",
        """\
{% set means = {"entailment": "is certainly true", "neutral": "may be true or not", \
"contradiction": "is certainly false"} %}
Write a sentence that {{ means[label] }} if the premise is true. Answer with the sentence and \
nothing else.
{% for example in examples %}
Premise: {{ example.premise }}
A sentence that {{ means[example.label] }}: {{ example.hypothesis }}
{% endfor %}
Premise: {{ premise }}
A sentence that {{ means[label] }}:""",
    ),
    "noisy": NamedPrompt(
        "source",
        """\
{% if examples %}
These sentences were written as they came to mind:
{% for example in examples %}
- {{ example.COLUMN }}
{% endfor %}
Write the next sentence as their authors would, with the same kinds of mistakes, and keep its \
meaning and language. \
{% else %}
Write the sentence as people type in a hurry, with mistakes in spelling, case and punctuation, and \
keep its meaning and language. \
{% endif %}
Answer with the sentence and nothing else.
Sentence: {{ COLUMN }}
As they would write it:""",
    ),
    "example": NamedPrompt(
        "text",
        """\
Write a new sentence with the label "{{ label }}", about something else than the ones before it. \
Answer with the sentence and nothing else.
{% for example in examples %}
{{ example.label }}: {{ example.COLUMN }}
{% endfor %}
{{ label }}:""",
        shots=4,
    ),
}
"""Prompts by name."""


def named_prompt(name: str, column: str | None = None) -> NamedPrompt:
    """Return the prompt of a name, for the column that it is to fill."""
    prompt = PROMPTS[name]
    filled = column or prompt.fills
    return prompt._replace(fills=filled, text=prompt.text.replace(COLUMN, filled))


def columns_of(template: str) -> list[str]:
    """Return the columns that a template reads, sorted; UserError for one that is not valid."""
    try:
        read = meta.find_undeclared_variables(_environment().parse(template))
    except TemplateSyntaxError as error:
        raise UserError(
            f"the prompt is no Jinja template: line {error.lineno}, {error.message}; a column "
            "stands in two braces, such as {{ source }}"
        ) from error
    return sorted(read - {EXAMPLES})


def check_columns_of(template: str, columns: Sequence[str]) -> None:
    """Raise UserError for a template that reads a column that records do not have."""
    for name in columns_of(template):
        if name not in columns:
            close = nearest(name, columns)
            hint = f"; {close}" if close.endswith("?") else ""
            raise UserError(
                f"the prompt reads '{name}', and these records have the columns "
                f"{', '.join(columns)}{hint}"
            )


def render(template: str, record: Mapping[str, Any], examples: Sequence[Mapping[str, str]]) -> str:
    """Return a template filled with a record and examples; UserError where that fails."""
    try:
        return _template(template).render({**record, EXAMPLES: list(examples)})
    except Exception as error:  # a template's own, of any type
        raise UserError(
            f"the prompt cannot be filled with record {record.get('id')}: "
            f"{type(error).__name__}: {error}"
        ) from error


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["language"] = _language_name
    return environment


@cache
def _template(template: str) -> Template:
    return _environment().from_string(template)


def _language_name(code: str) -> str:
    """Return the English name of a language, or a code that has none as it is."""
    name = languages().names.get(base_language(code))
    return name.title() if name else code


TOO_LONG, EMPTY, UNPARSED = "prompt too long", "empty", "answer of another form"
UNKNOWN_LABEL, COPIED, LENGTH, FOREIGN = "unknown label", "copied", "length ratio", "language"
DISAGREED, REPEATED = "teacher", "there already"
"""Reasons for which an answer becomes no record."""


class AnswerFilters(Section):
    """What an answer must be to become a record; those left out are counted by reason."""

    copied: bool = True
    """Leave out answers whose sentences all are sentences of the record that they were made for, up
    to case and spaces."""
    length_ratio: float | None = Field(3.0, ge=1)
    """The maximum factor by which a sentence is longer or shorter, in characters, than the record's
    own in the same column; null: no maximum."""
    language: bool = True
    """Leave out sentences that are clearly of another language than their column: most letters are
    of another script, or several words are among the most common ones of another language."""
    repeated: bool = True
    """Leave out records that the training text has, or that another answer made."""
    teacher: Literal["baseline"] | ModelName | ReadyModel | None = None
    """A classifier whose likeliest label must be the record's: baseline trains the plain baseline
    of the experiment (seed 1); or a checkpoint, by path or name, or {run: ...}."""
    min_probability: float = Field(0.0, ge=0, le=1)
    """The minimum probability of the label by the teacher."""

    def inactive(self) -> dict[str, str]:
        return {} if self.teacher else {"min_probability": "there is no teacher"}


@dataclass
class Answer:
    """A record with what an answer fills, or the reason why it becomes none."""

    row: int
    """The row of its parent in a block."""
    parent: Mapping[str, Any]
    texts: Mapping[str, str]
    """The columns that are filled."""
    reason: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """The columns of the new record that prompts read."""
        return {**self.parent, **self.texts}


@dataclass(frozen=True)
class AnswerReader:
    """Reads answers as columns of records, and applies the filters that need no model."""

    pattern: str
    """A regular expression whose named groups are the columns."""
    filters: AnswerFilters
    corpus: Corpus
    """The training text, like which texts are cleaned."""
    labels: tuple[str, ...]
    """The labels of the training text."""

    def read(
        self, parents: Mapping[int, Mapping[str, Any]], outputs: Sequence[str | None]
    ) -> list[Answer]:
        """Return what the outputs of a model, one for each row of a block, fill of new records.

        `parents` are those of the rows for which there was a prompt; an output is None where it was
        too long for the model.
        """
        read = [Answer(row, parent, *self._parse(outputs[row])) for row, parent in parents.items()]
        parsed = [answer for answer in read if not answer.reason]
        for column in re.compile(self.pattern).groupindex:
            texts = cleaned_like(self.corpus, [answer.texts[column] for answer in parsed])
            for answer, text in zip(parsed, texts, strict=True):
                answer.texts = {**answer.texts, column: text}
        for answer in parsed:
            answer.reason = self._fault(answer.parent, answer.texts)
        return read

    def _parse(self, output: str | None) -> tuple[dict[str, str], str]:
        """Return the texts of an output, and the reason if it has none."""
        if output is None:
            return {}, TOO_LONG
        if not output.strip():
            return {}, EMPTY
        match = re.search(self.pattern, output)
        if match is None:
            return {}, UNPARSED
        return {column: text or "" for column, text in match.groupdict().items()}, ""

    def _fault(self, parent: Mapping[str, Any], texts: Mapping[str, str]) -> str:
        """Return the first reason to leave out what an answer fills; empty where there is none."""
        filters, columns = self.filters, list(parent)
        if not all(texts.values()):
            return EMPTY
        if LABEL in texts and texts[LABEL] not in self.labels:
            return UNKNOWN_LABEL
        sentences = {name: texts[name] for name in sentence_columns(list(texts))}
        own = {_folded(parent[name]) for name in sentence_columns(columns)}
        if filters.copied and sentences and own.issuperset(map(_folded, sentences.values())):
            return COPIED
        for name, text in sentences.items():
            ratio, most = len(text) / max(1, len(parent[name])), filters.length_ratio
            if most is not None and not 1 / most <= ratio <= most:
                return LENGTH
            if filters.language and is_foreign(text, parent[_language_column(name, columns)]):
                return FOREIGN
        return ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _language_column(name: str, columns: Sequence[str]) -> str:
    """Return the column with the language of a column of sentences."""
    kind = next(
        kind for kind in KINDS.values() if name in kind.sentences and kind.language in columns
    )
    return kind.target_language if name == kind.target else kind.language


KIND = "generated"
VERSION = 1
"""Raised when the answers to the same prompts change; part of their addresses."""
BLOCK_ROWS = 200
"""The records of a block, which is repeated after a kill."""
ANSWERS_PER_SECOND = 1.0  # that one core draws from a small model
JUDGED_PER_SECOND, JUDGED_ROWS = 20.0, 1_000
UNREAD = ("views", "lineage")
"""The columns of records that prompts cannot read."""
Requested = Literal["own", "other"]


@dataclass(frozen=True)
class Prompts:
    """What one copy of every record asks for; all choices are drawn by seed, record and copy."""

    template: str
    examples: tuple[dict[str, str], ...]
    shots: int
    """Records that are added to the examples."""
    label: Requested
    """The label that is asked for: the record's own, or another one."""
    labels: tuple[str, ...]
    """The labels of the training text."""
    share: float
    """The share of the records that are asked for."""
    seed: int
    copy: int

    def parents(self, block: pa.Table) -> dict[int, dict[str, Any]]:
        """Return the records that are asked for, with the label that is, by their rows."""
        records = _readable(block)
        keys = keys_of([record["id"] for record in records], self.seed, "share")
        chosen = uniform(keys, 0, 1)[:, 0] < self.share
        return {row: self._labelled(record) for row, record in enumerate(records) if chosen[row]}

    def texts(self, block: pa.Table, corpus: Corpus) -> list[str]:
        """Return the prompt of every record of a block, empty for those that are not asked for."""
        texts = [""] * len(block)
        for row, record in self.parents(block).items():
            texts[row] = render(self.template, record, self._examples(record, corpus))
        return texts

    def _labelled(self, record: dict[str, Any]) -> dict[str, Any]:
        if self.label == "own":
            return record
        others = [label for label in self.labels if label != record[LABEL]]
        if not others:
            raise UserError(
                f"label: other asks for another label than '{record[LABEL]}', and the training "
                "text has no other"
            )
        key = seed_of(self.seed, "label", record["id"], self.copy)
        return {**record, LABEL: others[key % len(others)]}

    def _examples(self, record: Mapping[str, Any], corpus: Corpus) -> list[Mapping[str, Any]]:
        """Return the examples for a record: those that are given, and records but itself."""
        if not self.shots:
            return [*self.examples]
        pool = _records_by_label(corpus).get(record.get(LABEL), [])
        random = generator(self.seed, "shots", record["id"], self.copy)
        drawn = random.choice(len(pool), min(self.shots + 1, len(pool)), replace=False)
        others = [pool[index] for index in drawn if pool[index]["id"] != record["id"]]
        return [*self.examples, *others[: self.shots]]


@dataclass(frozen=True, kw_only=True)
class Generation(Translation):
    """The answers of a model to the prompts of one copy of every record."""

    prompts: Prompts
    drawn_by: Mapping[str, Any]
    """Settings of the model that decide on its answers."""

    def folder(self, store: Store) -> Folder:
        assert self.sampling is not None
        address = config.address(
            {
                "version": VERSION,
                "corpus": self.corpus.address,
                "model": self.model.name,
                "prompts": asdict(self.prompts),
                "sampling": self.sampling.to_dict(),
                **self.drawn_by,
            }
        )
        return store.folder(KIND, address)

    def texts(self, block: Block) -> list[str]:
        return self.prompts.texts(self.records(block), self.corpus)

    def keys(self, block: Block, seed: int) -> list[int]:
        ids = self.records(block).column("id").to_pylist()
        return [seed_of(seed, KIND, name, self.prompts.copy) for name in ids]

    def _rows(self, block: Block) -> int:
        return len(self.records(block))

    def records(self, block: Block) -> pa.Table:
        """Return the records of a block."""
        return self.corpus.shard(block.shard).slice(block.start, block.stop - block.start)


@dataclass(frozen=True)
class Teacher:
    """A classifier that decides whether the labels of new records are right."""

    model: TrainedModel
    store: Store
    labels: tuple[str, ...]

    def reject(
        self,
        answers: Sequence[Answer],
        min_probability: float,
        execution: Execution,
        name: str,
    ) -> None:
        """Reject the answers whose label is not the likeliest, or is less likely than that."""
        kept = [answer for answer in answers if not answer.reason]
        rows = [
            tuple(answer.record[column] for column in input_columns([*answer.record]))
            for answer in kept
        ]
        judged = execution.map_texts(
            self,
            rows,
            name=f"{name}: judge",
            unit="records",
            per_second=JUDGED_PER_SECOND,
            chunk=JUDGED_ROWS,
        )
        for answer, probabilities in zip(kept, judged, strict=True):
            label = self.labels.index(answer.record[LABEL])
            least = max(min_probability, max(probabilities))
            if probabilities[label] < least:
                answer.reason = DISAGREED

    def __call__(self) -> Callable[[Sequence[tuple[str, ...]]], list[list[float]]]:
        """Return the function from rows of sentences to the probabilities of their labels."""

        def judge(rows: Sequence[tuple[str, ...]]) -> list[list[float]]:
            columns = [[*column] for column in zip(*rows, strict=True)]
            probabilities = self.model.probabilities(self.store, *columns, labels=self.labels)
            return [row.tolist() for row in probabilities]

        return judge


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
        if not columns_of(self.prompt):
            if re.fullmatch(r"\w+", self.prompt):
                raise unknown("prompt", self.prompt, PROMPTS)
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
        check_columns_of(self.prompt, readable)
        needed = {"label: other": self.label == "other", "filters.teacher": self.filters.teacher}
        for setting, used in needed.items():
            if used and LABEL not in columns:
                raise UserError(f"{setting} is for records with labels, and these have none")
        return tuple(readable)

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

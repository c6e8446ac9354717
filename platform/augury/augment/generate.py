"""Records by a language model that is prompted with the records of the training text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.model_outputs import (
    KIND,
    ModelOutputs,
    Request,
    judge,
    new_records,
    outputs_folder,
    questions,
)
from augury.augment.models import ReadyModel, TextModel
from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput
from augury.augment.prompts import COLUMN, PROMPTS, columns_of, render
from augury.augment.translation import TranslationSampling, cleaned_like
from augury.core.config import ModelName
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.rng import generator, keys_of, seed_of, uniform
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus, input_columns, sentence_columns
from augury.corpora.filters import Duplicates
from augury.corpora.identification import is_foreign
from augury.corpora.labels import LABEL, label_counts
from augury.decoding.checkpoint import LanguageModel

VERSION = 2
"""Raised when the answers to the same prompts change; part of their addresses."""
BLOCK_ROWS = 200
"""The records of a block, which is repeated after a kill."""
ANSWERS_PER_SECOND = 1.0  # that one core draws from a small model
UNREAD = ("views", "lineage")
"""The columns of records that prompts cannot read."""
WRITER, TEACHER = "writer", "teacher"
BASELINE = "baseline"
"""In place of a trained model: one that the plain baseline of the experiment trains."""
TOP_K = 50
"""An answer is drawn from so many of the likeliest subwords."""


class Generate(CorpusOperator):
    """Records by a language model, whose prompt is filled with a record and whose answer fills
    columns of a new one.

    The other columns of a new record are those of its parent. Left out, and counted by reason, are
    answers whose sentences all are their record's, up to case and spaces; those that are clearly of
    another language; and records that the training text has, or that another answer made.
    """

    operator: Literal["generate"] = "generate"
    model: ModelName | ReadyModel
    """A causal model or an encoder-decoder: directory, name on the hub, or {checkpoint: ..., or
    run: ..., and the settings of ReadyModel}."""
    prompt: str
    """A Jinja template that reads the columns of a record, such as {{ source }} or {{ label }}, the
    list `examples`, and the filter `language` that names a language by its code; or the name of a
    template: paraphrase, translate, noisy, example."""
    fills: tuple[str, ...] = ()
    """The columns that the answer fills, sentences or label: one by its first line, several as a
    JSON object with their names. By default the column of a named prompt."""
    examples: tuple[dict[str, str], ...] = ()
    """Examples for the prompt, each a mapping from columns to texts."""
    shots: int = Field(0, ge=0, le=1000)
    """Records that are added to the examples, drawn for every prompt among the first 20,000 of the
    training text; where records have labels, of the same label. By default 4 for prompt example."""
    copies: int = Field(1, ge=1, le=1000)
    """Answers for every record."""
    share: float = Field(1.0, gt=0, le=1)
    """The share of the records that are asked for, drawn by the seed."""
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
    teacher: Literal["baseline"] | ModelName | ReadyModel | None = None
    """A classifier whose likeliest label must be the record's: baseline trains the plain baseline
    of the experiment (seed 1); or a checkpoint, by path or name, or {run: ...}."""
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
        prompt = values.get("prompt") if isinstance(values, Mapping) else None
        if not isinstance(prompt, str) or prompt not in PROMPTS:
            return values
        named = PROMPTS[prompt]
        fills = tuple(values.get("fills") or [named.fills])
        text = named.text.replace(COLUMN, fills[0])
        return {"shots": named.shots, **values, "fills": fills, "prompt": text}

    @model_validator(mode="after")
    def _goes_together(self) -> Generate:
        if not columns_of(self.prompt):  # the same for all records
            raise unknown("prompt", self.prompt, PROMPTS)
        if not self.fills:
            raise UserError("say which columns the answers fill, such as fills: [source]")
        return self

    def inactive(self) -> dict[str, str]:
        greedy = self.temperature == 0
        return {"top_p": "temperature 0 takes the likeliest subword"} if greedy else {}

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        readable = [name for name in columns if name not in UNREAD]
        needed = {*columns_of(self.prompt), *self.fills, *([LABEL] if self.teacher else [])}
        return (*readable, *sorted(needed.difference(readable)))

    def check_text(self, records: pa.Table) -> None:
        for record in records.slice(0, 1).to_pylist():
            render(self.prompt, record, [*self.examples, *[record] * self.shots])

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        models: dict[str, Mapping[str, Any] | ReadyModel] = {WRITER: _ready(self.model)}
        if self.teacher == BASELINE:
            models[TEACHER] = {**experiment, "name": TEACHER}
        elif self.teacher:
            models[TEACHER] = _ready(self.teacher)
        return models

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        models: Mapping[str, Any] = fitted["models"]
        content = [*sentence_columns(corpus.columns), *({LABEL} & {*corpus.columns})]
        known = Duplicates()
        for block in corpus.blocks(content):
            known.repeated(*(column.combine_chunks() for column in block.columns))
        labels = tuple(sorted(label_counts(corpus))) if LABEL in corpus.columns else ()
        for copy in range(1, self.copies + 1):
            requests = partial(self.requests, corpus, copy)
            written = self._written(partial(questions, requests), copy, corpus, models, store)
            outputs = written.by_shard(execution, f"{self.operator}: write", "records")
            for block, texts in zip(corpus.blocks(), outputs, strict=True):
                asked = requests(block)
                self.read(asked, texts, corpus, labels)
                kept = [request for request in asked if not request.reason]
                if self.teacher:
                    columns, model = input_columns(corpus.columns), models[TEACHER]
                    judged = judge(model, store, kept, columns, labels, execution, self.operator)
                    for request, likeliest in zip(kept, judged.argmax(1), strict=True):
                        if labels[likeliest] != request.record[LABEL]:
                            request.reason = "teacher"
                    kept = [request for request in kept if not request.reason]
                if kept:
                    rows = [[request.record[name] for request in kept] for name in content]
                    repeated = known.repeated(*(pa.array(of, pa.string()) for of in rows))
                    for request, there in zip(kept, repeated, strict=True):
                        request.reason = "there already" if there else ""
                counts = Counter(
                    f"{REJECTED}{request.reason}" if request.reason else "kept" for request in asked
                )
                yield new_records(self, block, asked, self.fills, counts, written.folder.name)

    def requests(self, corpus: Corpus, copy: int, block: pa.Table) -> list[Request]:
        """Return what a copy asks for the records of a block; all choices are drawn by seed, record
        and copy."""
        records = _readable(block)
        keys = keys_of([record["id"] for record in records], self.seed, "share")
        chosen = uniform(keys, 0, 1)[:, 0] < self.share
        requests = []
        for row, record in enumerate(records):
            if chosen[row]:
                prompt = render(self.prompt, record, self._examples(corpus, record, copy))
                key = seed_of(self.seed, KIND, record["id"], copy)
                requests.append(Request(row, record, copy, prompt, key))
        return requests

    def _examples(
        self, corpus: Corpus, record: Mapping[str, Any], copy: int
    ) -> list[Mapping[str, Any]]:
        """Return the examples for a record: those that are given, and records but itself."""
        if not self.shots:
            return [*self.examples]
        pool = _records_by_label(corpus).get(record.get(LABEL), [])
        random = generator(self.seed, "shots", record["id"], copy)
        drawn = random.choice(len(pool), min(self.shots + 1, len(pool)), replace=False)
        others = [pool[index] for index in drawn if pool[index]["id"] != record["id"]]
        return [*self.examples, *others[: self.shots]]

    def _written(
        self, ask: Any, copy: int, corpus: Corpus, models: Mapping[str, TextModel], store: Store
    ) -> ModelOutputs:
        """Return the answers of the model to the prompts of a copy; of checkpoints as language
        models, and of runs as they draw text."""
        model, ready = models[WRITER], _ready(self.model)
        if ready.checkpoint is not None:
            model = LanguageModel(ready.checkpoint, ready.revision, ready.languages)
        sampling = TranslationSampling(
            temperature=self.temperature,
            top_k=TOP_K,
            top_p=self.top_p,
            max_length=self.max_tokens,
            seed=self.seed,
        )
        settings = {"prompt", "examples", "shots", "share", "seed"}
        prompts = {**self.model_dump(include=settings), "copy": copy}
        asked = {"version": VERSION, "prompts": prompts, "sampling": sampling.to_dict()}
        return ModelOutputs(
            outputs_folder(store, KIND, corpus, model, **asked),
            corpus,
            model,
            ask,
            sampling,
            per_second=ANSWERS_PER_SECOND,
            block_rows=BLOCK_ROWS,
        )

    def read(
        self,
        requests: Sequence[Request],
        outputs: Sequence[str | None],
        corpus: Corpus,
        labels: Sequence[str],
    ) -> None:
        """Fill requests by the outputs of a model, each None where its prompt was too long, or say
        why they become no records; texts are cleaned like those of a corpus with `labels`."""
        for request, output in zip(requests, outputs, strict=True):
            if output is None:
                request.reason = "prompt too long"
            elif not output.strip():
                request.reason = "empty"
            elif len(self.fills) == 1:
                request.texts = {self.fills[0]: output.strip().partition("\n")[0]}
            elif (texts := _object(output)) and all(
                isinstance(texts.get(name), str) for name in self.fills
            ):
                request.texts = {name: texts[name] for name in self.fills}
            else:
                request.reason = "answer of another form"
        filled = [request for request in requests if not request.reason]
        for name in self.fills:
            cleaned = cleaned_like(corpus, [request.texts[name] for request in filled])
            for request, text in zip(filled, cleaned, strict=True):
                request.texts[name] = text
        for request in filled:
            request.reason = self._fault(request.parent, request.texts, labels)

    def _fault(
        self, parent: Mapping[str, Any], texts: Mapping[str, str], labels: Sequence[str]
    ) -> str:
        """Return the first reason to leave out what an answer fills; empty where there is none."""
        if not all(texts.values()):
            return "empty"
        if LABEL in texts and texts[LABEL] not in labels:
            return "unknown label"
        sentences = {name: texts[name] for name in sentence_columns([*texts])}
        own = {_folded(parent[name]) for name in sentence_columns([*parent])}
        if sentences and own.issuperset(map(_folded, sentences.values())):
            return "copied"
        for name, text in sentences.items():
            ratio, most = len(text) / max(1, len(parent[name])), self.length_ratio
            if most is not None and not 1 / most <= ratio <= most:
                return "length ratio"
            kind = next(
                kind
                for kind in KINDS.values()
                if name in kind.sentences and kind.language in parent
            )
            language = kind.target_language if name == kind.target else kind.language
            if is_foreign(text, parent[language]):
                return "language"
        return ""


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


def _object(output: str) -> dict[str, Any] | None:
    """Return the JSON object in an answer; None where there is none."""
    try:
        found = json.loads(output[output.find("{") : output.rfind("}") + 1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _ready(model: str | ReadyModel) -> ReadyModel:
    """Return the settings of a model, of which a path or name alone may be given."""
    return ReadyModel(checkpoint=model) if isinstance(model, str) else model


OPERATOR = Generate

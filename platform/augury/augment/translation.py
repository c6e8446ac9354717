"""Translate a corpus with trained models, block by block, stored by address.

An executor runs the blocks: Ray's actors, or this process.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.operator import (
    CorpusOperator,
    ExtraInputs,
    MadeOf,
    OperatorOutput,
    ReadyModel,
    TextModel,
    UsesModels,
    derive_records,
)
from augury.augment.pipeline import Block, split_into_blocks
from augury.core import config
from augury.core.citations import NOISY_NMT, Paper
from augury.core.config import Overrides
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.executors import Executor, Row, Task
from augury.core.locks import make_once
from augury.core.progress import Stage
from augury.core.rng import seed_of
from augury.core.store import Folder, Store
from augury.corpora.corpus import KINDS, Corpus, read_shard, write_shard
from augury.corpora.filters import Cleaning, clean_lines
from augury.corpora.ingest import cached_corpus
from augury.corpora.spec import BaseSpec, MonolingualSpec, swapped
from augury.decoding.settings import PLAIN, Decoding, Sampling

KIND = "translations"
VERSION = 1
"""Raised when a model's translation of the same text changes; part of every address."""
SAMPLING_VERSION = 2
"""Raised when sampled translations of the same text change; part of their addresses."""
BLOCK_ROWS = 1_000
SENTENCES_PER_SECOND = 60  # that one core translates with a small model


class TranslationSampling(Sampling):
    """Parameters for sampling translations instead of beam search (Edunov et al. 2018)."""

    top_k: int | None = Field(None, ge=1)
    """Sample only from this many of the likeliest subwords; null: from all."""
    seed: int = 1
    """Seed of sampling."""


class Direction(NamedTuple):
    """The sides of a pair that models of a direction translate from and to."""

    name: str
    read: str
    written: str


FORWARD = Direction("forward", "source", "target")
BACKWARD = Direction("backward", "target", "source")


def direction_experiment(
    direction: Direction, experiment: Mapping[str, Any], system: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the sections of an experiment that trains models of a direction.

    `experiment` has the sections of the forward direction, `system` the dotted keys in which the
    new one differs.
    """
    return config.merge(experiment if direction == FORWARD else _backward(experiment), system)


def _backward(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections of an experiment with source and target swapped."""
    sections = {**experiment, "corpus": swapped(experiment["corpus"])}
    if stage := experiment.get("stage"):
        sections["stage"] = {**stage, "after": _backward(stage["after"])}
    return sections


def require_view(operator: str, role: str, view: str, views: Sequence[str]) -> None:
    """Raise UserError where an experiment's model cannot read texts rendered as a view."""
    if view not in views:
        raise UserError(
            f"operator {operator}: {unknown('view', view, views)}; the {role} model makes views "
            "by operators of its own, such as system: {augment: [{operator: cipher, keys: [1, "
            "2]}], regime: ...}"
        )


UNTRANSLATED = ("too long", "empty")
"""The counts of texts without a translation."""


def count_outcomes(hypotheses: Sequence[str | None]) -> Counter[str]:
    """Count the hypotheses, and by reason those that become no pair."""
    empty = sum(text is not None and not text.strip() for text in hypotheses)
    too_long, without = UNTRANSLATED
    return Counter(
        {"translated": len(hypotheses), too_long: hypotheses.count(None), without: empty}
    )


def cleaned_like(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """Return texts as the records of a corpus are: in its case, with its entities; a mixture
    changes neither."""
    cleaning = corpus.manifest.get("spec", {}).get("filter", {})
    kept = {name: cleaning.get(name, False) for name in ("lowercase", "unescape")}
    return clean_lines(texts, Cleaning(**kept))


@dataclass(frozen=True)
class Translation:
    """The output of a model for one column of a corpus, read as a view (`plain`, `rot-1`)."""

    corpus: Corpus
    column: str
    model: TextModel
    view: str = PLAIN
    decoding: Decoding = Decoding()
    sampling: TranslationSampling | None = None
    """How outputs are sampled; None: beam search."""
    per_second: float = SENTENCES_PER_SECOND
    """Texts that one core processes in a second."""
    block_rows: int | None = None
    """The maximum number of texts in a block, which is repeated after a kill; None: as for
    translation."""

    def folder(self, store: Store) -> Folder:
        """Return the folder of the translations, whether it exists or not."""
        address = config.address(
            {
                "version": VERSION,
                "corpus": self.corpus.address,
                "column": self.column,
                "model": self.model.name,
                "view": self.view,
                **(
                    {"drawn": {**self.sampling.to_dict(), "version": SAMPLING_VERSION}}
                    if self.sampling
                    else {"decoding": self._search}
                ),
            }
        )
        return store.folder(KIND, address)

    def hypotheses(
        self, store: Store, execution: Execution, name: str, unit: str = "sentences"
    ) -> Iterator[list[str | None]]:
        """Yield the translations of every shard of the corpus, made unless the store has them.

        None marks a text that is too long for the model. After a kill the first missing block is
        next. `name` and `unit` are those of the progress line.
        """
        folder = self.folder(store)
        make_once(folder, lambda: self._make(folder, store, execution, name, unit))
        blocks = self._blocks()
        for shard in self.corpus.shards:
            parts = [read_shard(folder, block.name) for block in blocks if block.shard == shard]
            yield [text for part in parts for text in part.column("text").to_pylist()]

    @property
    def _search(self) -> dict[str, Any]:
        """The settings of the search that can change its outputs, without those of its speed."""
        return self.decoding.model_dump(exclude={"batch_tokens"})

    def _blocks(self) -> list[Block]:
        return split_into_blocks(self.corpus, self.block_rows or BLOCK_ROWS)

    def _make(
        self, folder: Folder, store: Store, execution: Execution, name: str, unit: str
    ) -> None:
        blocks = self._blocks()
        missing = [block for block in blocks if not folder.exists(block.name)]
        executor = execution.choose(self.corpus.rows / self.per_second, name)
        threads = 1 if executor.name == "ray" else execution.threads or 2
        with Stage(name, self.corpus.rows, unit) as stage:
            stage.advance(self.corpus.rows - sum(self._rows(block) for block in missing))
            done = executor.map(
                _TranslateBlock(self, folder, store, threads),
                [block._asdict() for block in missing],
                stage,
                **self._reserved(execution, executor),
            )
        folder.finish(
            {
                "shards": [block.name for block in blocks],
                "view": self.view,
                "inputs": [self.corpus.address, self.model.name],
                "seconds": self._seconds(done),
            }
        )

    def _seconds(self, done: Sequence[Row]) -> float:
        """Return the seconds that one process needs for all texts, extrapolated from this call."""
        rows = sum(block["rows"] for block in done)
        return sum(block["seconds"] for block in done) * self.corpus.rows / rows if rows else 0.0

    def _reserved(self, execution: Execution, executor: Executor) -> dict[str, float]:
        """Return the CPUs and GPUs of every process; sampling by `generate` prefers a GPU."""
        reserved = execution.reserved(executor)
        return reserved if self.sampling or self.model.on_gpu else {**reserved, "gpus": 0.0}

    def _rows(self, block: Block) -> int:
        return len(self.texts(block))

    def texts(self, block: Block) -> list[str]:
        """Return the texts of a block."""
        return list(self._column(block, self.column))

    def keys(self, block: Block, seed: int) -> list[int]:
        """Return a random key for every text of a block, from `seed` and the text's id."""
        return [seed_of(seed, KIND, name) for name in self._column(block, "id")]

    def _column(self, block: Block, name: str) -> list[Any]:
        rows = self.corpus.shard(block.shard, [name]).slice(block.start, block.stop - block.start)
        return list(rows.column(name).to_pylist())


@dataclass(frozen=True)
class _TranslateBlock:
    """Creates the task that translates a block, stores it and returns the `seconds` that its texts
    took; each process loads the model once."""

    translation: Translation
    folder: Folder
    store: Store
    threads: int

    def __call__(self) -> Task:
        translation = self.translation
        outputs_of = self._drawing(translation.sampling) if translation.sampling else self._search()

        def apply(row: Row) -> Row:
            block = Block(row["shard"], row["start"], row["stop"], row["name"])
            start = time.perf_counter()
            outputs = outputs_of(block)
            seconds = time.perf_counter() - start
            write_shard(self.folder, block.name, pa.table({"text": pa.array(outputs, pa.string())}))
            return {"rows": len(outputs), "seconds": seconds}

        return apply

    def _search(self) -> Callable[[Block], Sequence[str | None]]:
        translation = self.translation
        translate = translation.model.translator(self.store, self.threads)
        return lambda block: translate(
            translation.texts(block), translation.view, translation.decoding
        )

    def _drawing(self, sampling: TranslationSampling) -> Callable[[Block], Sequence[str | None]]:
        translation, draw = self.translation, self.translation.model.sampler(self.store, whole=True)
        return lambda block: draw(
            translation.texts(block), translation.keys(block, sampling.seed), sampling
        )


TRANSLATOR = "translator"


class TranslatedText(UsesModels, ExtraInputs, CorpusOperator):
    """Parameters of an operator that adds a monolingual text, translated, to the training text."""

    monolingual: MonolingualSpec
    """The text."""
    ready: ReadyModel | None = None
    """A trained model, in place of one to train."""
    seed: int = 1
    """The seed of the model that is trained."""
    system: Overrides = {}
    """Dotted keys in which the experiment that trains the model differs from the plain baseline
    of this one."""
    view: str = PLAIN
    """The view that the model reads the text as."""
    decoding: Decoding = Decoding()
    """How the model searches for the best translation."""
    sampling: TranslationSampling | None = None
    """Draw translations instead, as `sampling: {}` with the model's own probabilities."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (NOISY_NMT,)
    LOST: ClassVar[tuple[str, ...]] = UNTRANSLATED

    DIRECTION: ClassVar[Direction]
    VERSION: ClassVar[int] = 3
    EXAMPLE_FILE: ClassVar[str] = "demo_nmt.yaml"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual", "ready", "seed", "system"})

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"monolingual": self.monolingual}

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        return texts["monolingual"]

    def inactive(self) -> dict[str, str]:
        unused = dict.fromkeys(("seed", "system"), "the model is ready") if self.ready else {}
        return unused | ({"decoding": "translations are drawn"} if self.sampling else {})

    @model_validator(mode="after")
    def _drawn_from_plain_text(self) -> TranslatedText:
        if self.sampling and self.view != PLAIN:
            raise UserError(
                f"translations are drawn from plain text: leave out view {self.view}, or sampling"
            )
        return self

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        language = self.monolingual.language
        expected = experiment["corpus"][f"{self.DIRECTION.read}_language"]
        if language != expected:
            raise UserError(
                f"operator {self.operator}: monolingual.language is '{language}', and what is "
                f"translated is in '{expected}', the {self.DIRECTION.read} language"
            )
        trained = direction_experiment(self.DIRECTION, experiment, self.system)
        return {TRANSLATOR: self.ready or {**trained, "name": self.operator, "seeds": [self.seed]}}

    def check_model(self, role: str, views: Sequence[str]) -> None:
        require_view(self.operator, role, self.view, views)

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        text = cached_corpus(self.monolingual, "train", store.root)
        translation = Translation(
            text, "text", fitted["models"][TRANSLATOR], self.view, self.decoding, self.sampling
        )
        outputs = translation.hypotheses(store, execution, f"{self.operator}: translate")
        languages = {key: corpus.manifest[key] for key in ("source_language", "target_language")}
        for block, hypotheses in zip(text.blocks(), outputs, strict=True):
            counts = count_outcomes(hypotheses)
            usable = pa.array([bool(output and output.strip()) for output in hypotheses])
            texts = {
                self.DIRECTION.read: block.column("text"),
                self.DIRECTION.written: pa.array(hypotheses, pa.string()),
            }
            sides = {
                side: pa.array(cleaned_like(corpus, text.filter(usable).to_pylist()), pa.string())
                for side, text in texts.items()
            }
            parents = _parents(block.filter(usable), {**sides, **languages})
            read, written = self.DIRECTION.read, self.DIRECTION.written
            yield OperatorOutput(
                derive_records(parents, self, [1] * len(parents)),
                counts,
                [translation.folder(store).name],
                {written: MadeOf(sides[read], read)},
            )


def _parents(block: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return sentences as parallel records; `columns` are texts, or a value for all."""
    values = {
        name: pa.repeat(value, len(block)) if isinstance(value, str) else value
        for name, value in columns.items()
    }
    values |= {name: block.column(name) for name in ("id", "origin", "lineage")}
    schema = KINDS["parallel"].schema
    values["views"] = pa.array([[]] * len(block), schema.field("views").type)
    return pa.table({name: values[name] for name in schema.names}, schema=schema)

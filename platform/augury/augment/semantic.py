"""Generated hypotheses for other labels (Dong et al. 2021, section 2.1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from augury.augment import prompts
from augury.augment.health import YIELD
from augury.augment.operator import (
    BlockFunction,
    MakesRecords,
    OperatorOutput,
    ReadyModel,
    TrainedModel,
    UsesModels,
    derive_records,
)
from augury.core import config
from augury.core.citations import CROSS_LINGUAL_NLI, Paper
from augury.core.config import Overrides, Section
from augury.core.locks import make_once
from augury.core.rng import seed_of
from augury.core.store import Store
from augury.corpora.corpus import LABELS, read_shard, write_shard
from augury.decoding.settings import Sampler, Sampling

Rectify = Literal["requested", "teacher", "teacher_or_requested", "agreement"]
DROPPED = -1


def rectify_labels(
    requested: npt.NDArray[np.int64],
    probabilities: npt.NDArray[np.floating] | None,
    rectify: Rectify,
    threshold: float,
) -> npt.NDArray[np.int64]:
    """Return the label of every example, (n,), or DROPPED.

    `requested` (n,) are positions of labels, `probabilities` (n, labels) the teacher's, None where
    it is not used. Its label is the likeliest one, and it is confident where that has strictly
    more than `threshold`.
        requested: the requested label; teacher: the teacher's label where it is confident,
        otherwise DROPPED; teacher_or_requested: the teacher's label where it is confident,
        otherwise the requested one (TR); agreement: the requested label where it is the teacher's
        too, however confident, otherwise DROPPED.
    """
    if rectify == "requested":
        return requested
    assert probabilities is not None
    label, confident = probabilities.argmax(1), probabilities.max(1) > threshold
    if rectify == "agreement":
        return np.where(label == requested, requested, DROPPED)
    return np.where(confident, label, DROPPED if rectify == "teacher" else requested)


GENERATOR, TEACHER = "generator", "teacher"
KIND, SHARD = "generated", "part-00000.parquet"


class Request(NamedTuple):
    """A hypothesis to generate: the row of its record in a block, its label and copy number."""

    row: int
    label: str
    copy: int


class GeneratorModel(Section):
    """The generator: sections of its experiment; by default T5-base as in the paper."""

    model: Overrides = {"name": "t5-base"}
    training: Overrides = {}
    """Settings that are not given are the paper's."""
    max_pieces: int | None = Field(None, ge=2, le=1_000_000)
    """Longest source and target in subwords, to which longer ones are cut; None: the generator's
    default."""
    ready: ReadyModel | None = None
    """A trained generator, instead of training one."""


class TeacherModel(Section):
    """The teacher: sections of its experiment; by default RoBERTa-large as in the paper."""

    model: Overrides = {"name": "roberta-large"}
    training: Overrides = {}
    """Settings that are not given are the paper's, with batches of 16."""
    max_length: int | None = Field(None, ge=8, le=1_000_000)
    """Longest pair in subwords, to which longer ones are cut; None: the classifier's default."""
    ready: ReadyModel | None = None
    """A trained classifier, instead of training one."""


class Semantic(UsesModels, MakesRecords):
    """Pairs of a premise and a hypothesis generated for another label than its own.

    A generator trained on the examples writes a hypothesis for a label and a premise, which may not
    fit the label. A teacher, a classifier trained on the same examples, decides which pairs get
    which label.
    """

    operator: Literal["semantic"] = "semantic"
    copies: int = Field(2, ge=1, le=1000)
    """Hypotheses sampled for every example and requested label."""
    labels: Literal["all_others", "one_other"] = "all_others"
    """The requested labels: all_others: every label but the example's; one_other: one of these for
    every copy, drawn by the seed, which gives as many hypotheses as examples instead of twice as
    many."""
    rectify: Rectify = "teacher"
    """requested: every hypothesis has the requested label. teacher: it has the teacher's where that
    is confident, otherwise it is dropped. teacher_or_requested: it has the teacher's where that is
    confident, otherwise the requested one. agreement: it is dropped where the two differ."""
    threshold: float = Field(0.8, ge=0, le=1)
    """The teacher is confident where its likeliest label has more than this probability."""
    generator: GeneratorModel = GeneratorModel()
    """The generator: sections of a seq2seq experiment."""
    teacher: TeacherModel = TeacherModel()
    """The teacher: sections of an nli experiment."""
    sampling: Sampling = Sampling()
    """Sampling of the generator's outputs."""
    seed: int = 1
    """Seed of the random choices."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (CROSS_LINGUAL_NLI,)
    PER_SECOND: ClassVar[float] = 0.5
    READS: ClassVar[tuple[str, ...]] = ("id", "premise", "hypothesis", "label")
    BLOCK_ROWS: ClassVar[int | None] = 500
    EXAMPLE: ClassVar[str] = (
        "generator: {model: {architecture: tiny}}, teacher: {model: {architecture: tiny}}"
    )
    LEARNED: ClassVar[frozenset[str]] = frozenset({"generator", "teacher"})
    LOST: ClassVar[tuple[str, ...]] = ("empty", "copied", "dropped ")
    NORMAL: ClassVar[frozenset[str]] = frozenset({YIELD})

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        corpus = experiment["corpus"]
        generator = {
            "name": GENERATOR,
            "task": "seq2seq",
            "corpus": {**corpus, "form": "hypothesis"},
            **self.generator.model_dump(mode="json", exclude_none=True),
        }
        models: dict[str, Mapping[str, Any] | ReadyModel] = {
            GENERATOR: self.generator.ready or generator
        }
        if self.rectify == "requested":
            return models
        sections = self.teacher.model_dump(mode="json", exclude_none=True)
        training = {"max_examples": 16, **self.teacher.training}
        teacher = {
            "name": TEACHER,
            "task": "nli",
            "corpus": corpus,
            **sections,
            "training": training,
        }
        return models | {TEACHER: self.teacher.ready or teacher}

    def inactive(self) -> dict[str, str]:
        if self.rectify == "requested":
            return dict.fromkeys(("threshold", "teacher"), "no teacher decides on labels")
        return (
            {"threshold": "agreement asks for no confidence"} if self.rectify == "agreement" else {}
        )

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        models = _Models(self, fitted["models"], store)

        def apply(block: pa.Table) -> OperatorOutput:
            requests = self._requests(block)
            parents = _rows(block, [request.row for request in requests])
            hypotheses = models.hypotheses(parents, requests)
            originals = parents.column("hypothesis").to_pylist()
            counts = Counter(
                {
                    "generated": len(hypotheses),
                    "empty": hypotheses.count(""),
                    "copied": sum(
                        new == old for new, old in zip(hypotheses, originals, strict=True)
                    ),
                }
            )
            usable = [
                row for row, text in enumerate(hypotheses) if text not in ("", originals[row])
            ]
            labels = self._labels(models, parents, requests, hypotheses, usable)
            for row, label in zip(usable, labels, strict=True):
                outcome = (
                    "dropped"
                    if label is None
                    else "kept"
                    if label == requests[row].label
                    else "changed"
                )
                counts[f"{outcome} {requests[row].label}"] += 1
            kept = [
                (row, label) for row, label in zip(usable, labels, strict=True) if label is not None
            ]
            records = derive_records(
                _rows(parents, [row for row, _ in kept]),
                self,
                [requests[row].copy for row, _ in kept],
                hypothesis=pa.array([hypotheses[row] for row, _ in kept], pa.string()),
                label=pa.array([label for _, label in kept], pa.string()),
            )
            return OperatorOutput(records, counts)

        return apply

    def _labels(
        self,
        models: _Models,
        parents: pa.Table,
        requests: Sequence[Request],
        hypotheses: Sequence[str],
        rows: Sequence[int],
    ) -> list[str | None]:
        """Return the label of each of these rows, None where it is dropped."""
        requested = np.array([LABELS.index(requests[row].label) for row in rows], np.int64)
        probabilities = None
        if self.rectify != "requested":
            premises = _rows(parents, rows).column("premise").to_pylist()
            probabilities = models.probabilities(premises, [hypotheses[row] for row in rows])
        positions = rectify_labels(requested, probabilities, self.rectify, self.threshold)
        return [None if label == DROPPED else LABELS[label] for label in positions.tolist()]

    def max_records(self) -> int:
        return self.copies * (len(LABELS) - 1 if self.labels == "all_others" else 1)

    def _requests(self, block: pa.Table) -> list[Request]:
        """Return the hypotheses to generate; more copies leave requests of fewer as they are."""
        requests = []
        ids, labels = (block.column(name).to_pylist() for name in ("id", "label"))
        for row, (name, gold) in enumerate(zip(ids, labels, strict=True)):
            others = [label for label in LABELS if label != gold]
            if self.labels == "all_others":
                labels_asked = others * self.copies
            else:
                keys = [
                    seed_of(self.seed, self.operator, name, "label", copy)
                    for copy in range(self.copies)
                ]
                labels_asked = [others[key % len(others)] for key in keys]
            requests += [Request(row, label, copy) for copy, label in enumerate(labels_asked, 1)]
        return requests


class _Models:
    """The stored outputs of generator and teacher, which all strategies and thresholds share.

    A model is loaded only for outputs that are not in the store.
    """

    def __init__(self, operator: Semantic, models: Mapping[str, TrainedModel], store: Store):
        self.operator, self.models, self.store = operator, models, store

    def hypotheses(self, parents: pa.Table, requests: Sequence[Request]) -> list[str]:
        """Return the hypothesis for every request."""
        operator, run = self.operator, self.models[GENERATOR]
        ids, premises = (parents.column(name).to_pylist() for name in ("id", "premise"))
        texts = [
            prompts.hypothesis(request.label, premise)
            for request, premise in zip(requests, premises, strict=True)
        ]
        keys = [
            seed_of(operator.seed, operator.operator, name, request.copy)
            for request, name in zip(requests, ids, strict=True)
        ]
        question = {
            "run": run.name,
            "texts": texts,
            "keys": keys,
            "sampling": operator.sampling.to_dict(),
        }
        table = self._cached_table(
            question,
            lambda: pa.table(
                {"text": [text or "" for text in self._sampler(texts, keys, operator.sampling)]}
            ),
        )
        return list(table.column("text").to_pylist())

    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        """Return the teacher's probabilities, (pairs, labels)."""
        run = self.models[TEACHER]

        def classify() -> pa.Table:
            shares = run.probabilities(self.store, premises, hypotheses)
            return pa.table({label: shares[:, position] for position, label in enumerate(LABELS)})

        if not premises:
            return np.zeros((0, len(LABELS)))
        table = self._cached_table(
            {"run": run.name, "texts": [list(premises), list(hypotheses)]}, classify
        )
        return np.stack([table.column(label).to_numpy() for label in LABELS], axis=1)

    @cached_property
    def _sampler(self) -> Sampler:
        return self.models[GENERATOR].sampler(self.store)

    def _cached_table(self, question: dict[str, Any], make: Callable[[], pa.Table]) -> pa.Table:
        folder = self.store.folder(
            KIND, config.address({"version": self.operator.VERSION, **question})
        )

        def write() -> None:
            write_shard(folder, SHARD, make())
            folder.finish({"shards": [SHARD], "inputs": [question["run"]]})

        make_once(folder, write)
        return read_shard(folder, SHARD)


def _rows(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    return table.take(pa.array(rows, pa.int64()))


OPERATOR = Semantic

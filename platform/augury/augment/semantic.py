"""Generated hypotheses for other labels (Dong et al. 2021, section 2.1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.model_outputs import (
    KIND,
    ModelOutputs,
    Request,
    judge,
    new_records,
    outputs_folder,
    questions,
)
from augury.augment.models import ReadyModel
from augury.augment.operator import CorpusOperator, OperatorOutput
from augury.augment.prompts import hypothesis
from augury.core.config import Overrides, Section
from augury.core.execution import Execution
from augury.core.rng import seed_of
from augury.core.store import Store
from augury.corpora.corpus import LABELS, Corpus
from augury.decoding.settings import Sampling

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
BLOCK_ROWS = 500
"""The records of a block, which is repeated after a kill."""


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


class Semantic(CorpusOperator):
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

    PER_SECOND: ClassVar[float] = 0.5
    READS: ClassVar[tuple[str, ...]] = ("id", "premise", "hypothesis", "label")
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

    def max_records(self) -> int:
        return self.copies * (len(LABELS) - 1 if self.labels == "all_others" else 1)

    def requests(self, block: pa.Table) -> list[Request]:
        """Return the hypotheses to generate, whose parents have the label that is asked for; more
        copies leave requests of fewer as they are."""
        requests, key = [], (self.seed, self.operator)
        for row, record in enumerate(block.select(self.READS).to_pylist()):
            name, others = record["id"], [label for label in LABELS if label != record["label"]]
            asked = others * self.copies
            if self.labels == "one_other":
                drawn = [seed_of(*key, name, "label", copy) for copy in range(self.copies)]
                asked = [others[number % len(others)] for number in drawn]
            for copy, label in enumerate(asked, start=1):
                parent, prompt = {**record, "label": label}, hypothesis(label, record["premise"])
                requests.append(Request(row, parent, copy, prompt, seed_of(*key, name, copy)))
        return requests

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        models = fitted["models"]
        # All strategies and thresholds share what the generator writes.
        settings = {"operator", "copies", "labels", "sampling", "seed"}
        asked = self.model_dump(mode="json", include=settings) | {"version": self.VERSION}
        written = ModelOutputs(
            outputs_folder(store, KIND, corpus, models[GENERATOR], **asked),
            corpus,
            models[GENERATOR],
            partial(questions, self.requests),
            self.sampling,
            columns=self.READS,
            per_second=self.PER_SECOND,
            block_rows=BLOCK_ROWS,
        )
        outputs = written.by_shard(execution, f"{self.operator}: write", "records")
        for block, texts in zip(corpus.blocks(), outputs, strict=True):
            counts = Counter(generated=len(texts), empty=0, copied=0)
            kept = []
            for request, text in zip(self.requests(block), texts, strict=True):
                if not text or text == request.parent["hypothesis"]:
                    counts["copied" if text else "empty"] += 1
                    continue
                request.texts = {"hypothesis": text}
                kept.append(request)
            probabilities = None
            if self.rectify != "requested":
                columns, model = ("premise", "hypothesis"), models[TEACHER]
                probabilities = judge(model, store, kept, columns, LABELS, execution, self.operator)
            requested = np.array([LABELS.index(of.record["label"]) for of in kept], np.int64)
            places = rectify_labels(requested, probabilities, self.rectify, self.threshold)
            for request, place, asked_for in zip(kept, places, requested, strict=True):
                outcome = "kept" if place == asked_for else "changed"
                if place == DROPPED:
                    outcome = request.reason = "dropped"
                counts[f"{outcome} {LABELS[asked_for]}"] += 1
                request.texts["label"] = LABELS[place]
            changed = ("hypothesis", "label")
            yield new_records(self, block, kept, changed, counts, written.folder.name)


OPERATOR = Semantic

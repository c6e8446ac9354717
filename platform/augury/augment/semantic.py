"""Generated hypotheses for other labels (Dong et al. 2021, section 2.1.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.model_outputs import GENERATED, ModelOutputs, Questions
from augury.augment.models import Classifier
from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput, new_records
from augury.augment.prompts import hypothesis
from augury.core import config
from augury.core.config import Overrides
from augury.core.execution import Execution, map_texts
from augury.core.locks import make_once
from augury.core.rng import seed_of
from augury.core.store import Store
from augury.corpora.corpus import LABELS, Corpus, read_shard, write_shard
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
SHARD = "part-00000.parquet"


class Request(NamedTuple):
    """A hypothesis that is asked for: the row of its parent in a block, and the number of the copy;
    the premise, and the label to write for; and the random key of the answer."""

    row: int
    copy: int
    premise: str
    label: str
    key: int


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
    generator: Overrides = {}
    """Sections of the seq2seq experiment that trains the generator; what is not given is the
    paper's, T5-base."""
    teacher: Overrides = {}
    """Sections of the nli experiment that trains the teacher; what is not given is the paper's,
    RoBERTa-large with batches of 16."""
    sampling: Sampling = Sampling()
    """Sampling of the generator's outputs."""
    seed: int = 1
    """Seed of the random choices."""

    PER_SECOND: ClassVar[float] = 0.5
    READS: ClassVar[tuple[str, ...]] = ("id", "premise", "hypothesis", "label")
    LEARNED: ClassVar[frozenset[str]] = frozenset({"generator", "teacher"})
    NORMAL: ClassVar[frozenset[str]] = frozenset({YIELD})

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        corpus = experiment["corpus"]
        of_generator = {"corpus": {**corpus, "form": "hypothesis"}, "model": {"name": "t5-base"}}
        generator = {"name": GENERATOR, "task": "seq2seq", **of_generator, **self.generator}
        if self.rectify == "requested":
            return {GENERATOR: generator}
        training = self.teacher.get("training", {})
        if isinstance(training, Mapping):  # what else is given, the experiment refuses
            training = {"max_examples": 16, **training}
        of_teacher = {"corpus": corpus, "model": {"name": "roberta-large"}, **self.teacher}
        teacher = {"name": TEACHER, "task": "nli", **of_teacher, "training": training}
        return {GENERATOR: generator, TEACHER: teacher}

    def inactive(self) -> dict[str, str]:
        if self.rectify == "requested":
            return dict.fromkeys(("threshold", "teacher"), "no teacher decides on labels")
        if self.rectify == "agreement":
            return {"threshold": "agreement asks for no confidence"}
        return {}

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        return self.copies * (len(LABELS) - 1 if self.labels == "all_others" else 1) * parents

    def requests(self, block: pa.Table) -> list[Request]:
        """Return the hypotheses to generate; more copies leave requests of fewer as they are."""
        requests, key = [], (self.seed, self.operator)
        for row, record in enumerate(block.select(self.READS).to_pylist()):
            name, others = record["id"], [label for label in LABELS if label != record["label"]]
            asked = others * self.copies
            if self.labels == "one_other":
                drawn = [seed_of(*key, name, "label", copy) for copy in range(self.copies)]
                asked = [others[number % len(others)] for number in drawn]
            for copy, label in enumerate(asked, start=1):
                of_copy = seed_of(*key, name, copy)
                requests.append(Request(row, copy, record["premise"], label, of_copy))
        return requests

    def questions(self, block: pa.Table) -> Questions:
        """Return the prompts of a block's requests and their random keys."""
        requests = self.requests(block)
        prompts = [hypothesis(request.label, request.premise) for request in requests]
        return Questions(prompts, [request.key for request in requests])

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        models = fitted["models"]
        # All strategies and thresholds share what the generator writes.
        settings = {"operator", "copies", "labels", "sampling", "seed"}
        asked = self.model_dump(mode="json", include=settings) | {"version": self.VERSION}
        generator, ask = models[GENERATOR], self.questions
        written = ModelOutputs(store, asked, corpus, generator, ask, self.sampling, self.PER_SECOND)
        outputs = written.by_shard(execution, f"{self.operator}: write", "records")
        for block, texts in zip(corpus.blocks(), outputs, strict=True):
            originals = block.column("hypothesis").to_pylist()
            counts, new = Counter[str](), list[tuple[Request, str]]()
            for request, text in zip(self.requests(block), texts, strict=True):
                if not text or text == originals[request.row]:
                    counts[REJECTED + ("copied" if text else "empty")] += 1
                else:
                    new.append((request, text))
            probabilities = None
            if self.rectify != "requested":
                pairs = [(request.premise, text) for request, text in new]
                probabilities = self._judged(models[TEACHER], store, pairs, execution)
            requested = np.array([LABELS.index(request.label) for request, _ in new], np.int64)
            places = rectify_labels(requested, probabilities, self.rectify, self.threshold)
            kept = []
            for (request, text), place in zip(new, places, strict=True):
                if place == DROPPED:
                    counts[f"{REJECTED}dropped {request.label}"] += 1
                else:
                    kept.append((request, text, LABELS[place]))
            yield new_records(
                block,
                self,
                [request.copy for request, _, _ in kept],
                {
                    "hypothesis": [text for _, text, _ in kept],
                    "label": [label for _, _, label in kept],
                },
                rows=[request.row for request, _, _ in kept],
                counts=counts,
                made_from=[written.folder.name],
            )

    def _judged(
        self, teacher: Classifier, store: Store, pairs: list[tuple[str, str]], execution: Execution
    ) -> np.ndarray:
        """Return the probabilities of labels, (pairs, labels), by a classifier of premises and
        hypotheses, computed unless the store has them."""
        if not pairs:
            return np.zeros((0, len(LABELS)))
        folder = store.folder(GENERATED, config.address({"model": teacher.name, "rows": pairs}))

        def probabilities(pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
            premises, hypotheses = zip(*pairs, strict=True)
            rows: list[list[float]] = teacher.probabilities(store, premises, hypotheses).tolist()
            return rows

        def write() -> None:
            label = f"{self.operator}: judge"
            judged = map_texts(
                execution.choose(len(pairs) / 20.0, label, gpus=True),  # 20 pairs a second and core
                lambda: probabilities,
                pairs,
                name=label,
                unit="records",
                chunk=1_000,
            )
            write_shard(folder, SHARD, pa.table([*zip(*judged, strict=True)], [*LABELS]))
            folder.finish({"shards": [SHARD], "inputs": [teacher.name]})

        make_once(folder, write)
        table = read_shard(folder, SHARD)
        return np.stack([table.column(label).to_numpy() for label in LABELS], axis=1)


OPERATOR = Semantic

"""Natural language inference: a classifier of sentence pairs, trained under any regime over
copies of an example."""

from __future__ import annotations

from typing import ClassVar, Literal

from augury.corpora.corpus import LABELS
from augury.corpora.spec import NliSpec
from trainables.classification.config import ClassifierExperiment
from trainables.classification.task import ClassifierTask


class NliExperiment(ClassifierExperiment):
    """An NLI experiment."""

    task: Literal["nli"] = "nli"
    corpus: NliSpec

    READS_SEVERAL_TEXTS: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[str, ...]:
        return LABELS


class Nli(ClassifierTask):
    """Classify whether a hypothesis follows from a premise, contradicts it, or neither."""

    EXPERIMENT = NliExperiment
    EXAMPLE = r"printf 'Two dogs run.\tAnimals move.\n'"


TASK = Nli()

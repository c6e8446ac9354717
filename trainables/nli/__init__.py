"""Natural language inference: a classifier of sentence pairs, trained under any regime over
copies of an example."""

from __future__ import annotations

from typing import Any, ClassVar

from augury.corpora.corpus import LABELS
from augury.experiments.task import Draft
from augury.regimes.regime import SOURCE
from augury.tasks.classification.task import ClassifierTask
from trainables.nli.config import Config


class Nli(ClassifierTask):
    """Classify whether a hypothesis follows from a premise, contradicts it, or neither."""

    EXPERIMENT = Config
    EXAMPLE = r"printf 'Two dogs run.\tAnimals move.\n'"
    SIDES: ClassVar = {SOURCE: ("premise", "hypothesis")}

    def labels(self, experiment: Any) -> tuple[str, ...]:
        return LABELS

    def draft(self, rows: int, model: str | None) -> Draft:
        names = "labels: {0: entailment, 1: neutral, 2: contradiction}"
        draft = super().draft(rows, model)
        return draft._replace(corpus=f"Other names of labels are mapped: {names}")


TASK = Nli()

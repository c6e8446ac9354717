"""Classification of sentences or pairs of sentences, trained under any regime over copies of an
example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from augury.corpora.corpus import input_columns
from augury.experiments.task import Draft
from augury.regimes.regime import SOURCE
from augury.tasks.classification.task import ClassifierTask
from trainables.classification.config import Config


class Classification(ClassifierTask):
    """Which of a few labels a sentence or a pair of sentences has."""

    EXPERIMENT = Config
    EXAMPLE = "echo 'A fine film.'"
    SIDES: ClassVar = {SOURCE: ("text",)}

    def sides(self, experiment: Any) -> Mapping[str, tuple[str, ...]]:
        return {SOURCE: input_columns(experiment.corpus.TEXT.KIND.columns)}

    def draft(self, rows: int, model: str | None) -> Draft:
        names = "names: {'0': negative, '1': positive}"
        comment = f"Other names of the labels, in every text beside its file: {names}"
        return super().draft(rows, model)._replace(corpus=comment)


TASK = Classification()

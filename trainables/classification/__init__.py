"""Classification of sentences or pairs of sentences, trained under any regime over copies of an
example."""

from __future__ import annotations

from augury.experiments.task import Draft
from trainables.classification.config import Config
from trainables.classification.task import ClassifierTask


class Classification(ClassifierTask):
    """Which of a few labels a sentence or a pair of sentences has."""

    EXPERIMENT = Config
    EXAMPLE = "echo 'A fine film.'"

    def draft(self, rows: int, model: str | None) -> Draft:
        names = "names: {'0': negative, '1': positive}"
        comment = f"Other names of the labels, in every text beside its file: {names}"
        return super().draft(rows, model)._replace(corpus=comment)


TASK = Classification()

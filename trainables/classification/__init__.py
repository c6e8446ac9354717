"""Classification of sentences or pairs of sentences, trained under any regime over copies of an
example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from augury.corpora.corpus import input_columns
from augury.regimes.regime import SOURCE
from augury.tasks.classification.task import ClassifierTask
from trainables.classification.config import Config


class Classification(ClassifierTask):
    """Which of a few labels a sentence or a pair of sentences has."""

    EXPERIMENT = Config
    EXAMPLE = "echo 'A fine film.'"
    SIDES: ClassVar = {SOURCE: ("text",)}

    def sides(self, experiment: Any) -> Mapping[str, tuple[str, ...]]:
        return {SOURCE: input_columns(experiment.corpus.SCHEMA.names)}


TASK = Classification()

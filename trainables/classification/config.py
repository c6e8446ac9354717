"""The experiment file of classification."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from augury.core.config import discriminated_union
from augury.corpora.spec import LabelledPairsSpec, LabelledSpec
from augury.scoring.settings import LabelScoring
from augury.tasks.classification.settings import ClassifierConfig


class SentencesCorpus(LabelledSpec):
    """A corpus of single sentences with one label each."""

    form: Literal["sentences"] = "sentences"


class PairsCorpus(LabelledPairsSpec):
    """A corpus of pairs of sentences with one label each."""

    form: Literal["pairs"] = "pairs"


FORMS = {"sentences": SentencesCorpus, "pairs": PairsCorpus}


class ClassScoring(LabelScoring):
    """Metrics for predicted labels; macro F1 counts every label alike, however rare."""

    metrics: tuple[str, ...] = Field(("accuracy", "macro_f1"), min_length=1)
    """Names of metrics for labels, or paths of files that define one: accuracy, macro_f1."""


class Config(ClassifierConfig):
    """An experiment with labelled sentences, or labelled pairs of sentences."""

    task: Literal["classification"] = "classification"
    corpus: Annotated[
        SentencesCorpus | PairsCorpus,
        discriminated_union(FORMS, "corpus", key="form", default="sentences"),
    ]
    scoring: ClassScoring = ClassScoring()

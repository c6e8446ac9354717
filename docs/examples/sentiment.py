"""A task of one's own: one label for a sentence, such as its sentiment. All of it is here.

task: ./docs/examples/sentiment.py in an experiment file, or --set task=... on the command line,
finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from augury.corpora.spec import LabelledSpec
from augury.regimes.regime import SOURCE
from augury.tasks.classification.settings import ClassifierConfig
from augury.tasks.classification.task import ClassifierTask


class SentimentExperiment(ClassifierConfig):
    """An experiment file: the sections of every classifier, and a corpus of labelled sentences."""

    corpus: LabelledSpec


class Sentiment(ClassifierTask):
    """Say of a sentence which of a few labels it has."""

    EXPERIMENT = SentimentExperiment
    EXAMPLE = "echo 'A fine film.'"
    SIDES: ClassVar[Mapping[str, tuple[str, ...]]] = {SOURCE: ("text",)}


TASK = Sentiment()

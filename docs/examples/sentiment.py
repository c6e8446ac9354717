"""A task of one's own: one label for a sentence, such as its sentiment. All of it is here.

task: ./docs/examples/sentiment.py in an experiment file, or --set task=... on the command line,
finds it.
"""

from __future__ import annotations

from augury.corpora.spec import LabelledSpec
from trainables.classification.config import ClassifierExperiment
from trainables.classification.task import ClassifierTask


class SentimentExperiment(ClassifierExperiment):
    """An experiment file: the sections of every classifier, and a corpus of labelled sentences."""

    corpus: LabelledSpec


class Sentiment(ClassifierTask):
    """Say of a sentence which of a few labels it has."""

    EXPERIMENT = SentimentExperiment
    EXAMPLE = "echo 'A fine film.'"


TASK = Sentiment()

"""Classification of sentences or pairs of sentences, trained under any regime over copies of an
example."""

from __future__ import annotations

from trainables.classification.task import ClassifierTask

TASK = ClassifierTask()

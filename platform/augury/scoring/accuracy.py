"""Accuracy of predicted labels, one a line, as a metric that depends on its examples through sums of counts."""

from __future__ import annotations

from collections.abc import Sequence

from augury.scoring.metrics import Metric

NAME = "accuracy"


def value(sums: Sequence[float]) -> float:
    """Summed counts (correct, examples) to the share that is correct, 0 to 100."""
    correct, examples = sums
    return 100 * correct / examples


def _count(predicted: str, label: str) -> list[int]:
    return [int(predicted == label), 1]


METRIC = Metric(NAME, "labels:exact|version:augury-0.1", str.strip, _count, value)

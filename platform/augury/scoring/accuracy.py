"""Accuracy of predicted labels, one a line, from counts of examples."""

from __future__ import annotations

from collections.abc import Sequence

from augury.scoring.metric import VERSION, CountedMetric


class Accuracy(CountedMetric):
    """The share of labels that are right, spaces around them left out of account."""

    title = "accuracy"
    unit = "%"
    measures = "labels"
    bounds = (0.0, 100.0)
    signature = f"labels:exact|version:{VERSION}"

    def prepare(self, line: str) -> str:
        return line.strip()

    def count(self, hypothesis: str, reference: str) -> list[int]:
        return statistics(hypothesis, reference)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums)


METRICS = {"accuracy": Accuracy}


def statistics(predicted: str, label: str) -> list[int]:
    """Return the two counts of an example: whether it is right, and one."""
    return [int(predicted == label), 1]


def value(sums: Sequence[float]) -> float:
    """Return the share of examples, 0 to 100, whose label is right; `sums` are those of `statistics`."""
    correct, examples = sums
    return 100 * correct / examples

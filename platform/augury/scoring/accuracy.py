"""Accuracy of predicted labels, one per line."""

from __future__ import annotations

from collections.abc import Sequence

from augury.core.errors import UserError
from augury.scoring.metric import VERSION, CountedMetric


class Accuracy(CountedMetric):
    """The percentage of correct labels, ignoring surrounding white space."""

    title = "accuracy"
    unit = "%"
    measures = "labels"
    bounds = (0.0, 100.0)
    signature = f"labels:exact|version:{VERSION}"

    def prepare(self, line: str) -> str:
        return line.strip()

    def count(self, hypothesis: str, reference: str) -> list[int]:
        return statistics(hypothesis, reference)

    def multiple_count(self, hypothesis: str, *references: str) -> list[float]:
        raise UserError(
            f"metric '{self.name}' compares with one label: give one file of references"
        )

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums)


METRICS = {"accuracy": Accuracy}


def statistics(predicted: str, label: str) -> list[int]:
    """Return the counts of an example: 1 if it is correct, and the number of examples, 1."""
    return [int(predicted == label), 1]


def value(sums: Sequence[float]) -> float:
    """Return accuracy, 0 to 100, from summed `statistics`."""
    correct, examples = sums
    return 100 * correct / examples

"""Accuracy of predicted labels, one a line, from counts of examples."""

from __future__ import annotations

from collections.abc import Sequence


def statistics(predicted: str, label: str) -> list[int]:
    """The two counts of an example: whether it is right, and one."""
    return [int(predicted == label), 1]


def value(sums: Sequence[float]) -> float:
    """The share of examples, 0 to 100, whose label is right; `sums` are those of `statistics`."""
    correct, examples = sums
    return 100 * correct / examples

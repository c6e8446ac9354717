"""Metrics of predicted labels, one per line, ignoring surrounding white space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.scoring.metric import VERSION, Lines, Metric


class _LabelMetric(Metric):
    """A metric of labels, in percent."""

    measures = "labels"
    bounds = (0.0, 100.0)

    def statistics(
        self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
    ) -> NDArray[Any]:
        if len(references) > 1:
            raise UserError(f"metric '{self.name}' reads one label: give one file of references")
        predicted, actual = (
            np.array([line.strip() for line in lines]) for lines in (hypotheses, references[0])
        )
        return self.counts(predicted, actual)

    @abstractmethod
    def counts(self, predicted: NDArray[Any], actual: NDArray[Any]) -> NDArray[Any]:
        """Return the counts of each example, given its predicted and its actual label."""


class Accuracy(_LabelMetric):
    """The percentage of correct labels."""

    title = "accuracy"
    signature = f"labels:exact|version:{VERSION}"

    def counts(self, predicted: NDArray[Any], actual: NDArray[Any]) -> NDArray[Any]:
        right = (predicted == actual).astype(np.int64)
        return np.column_stack([right, np.ones_like(right)])

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        correct, examples = sums
        return 100 * correct / examples

    @classmethod
    def examples(cls, statistics: NDArray[Any]) -> int:
        return len(statistics)


class MacroF1(_LabelMetric):
    """The mean, over labels, of the harmonic mean of precision and recall.

    It is a function of counts that add up over examples, as BLEU is, and no mean over them. The
    labels are those of the references, so that systems are scored alike; a prediction that is
    none of them misses its reference's label, and is a false positive of no label. In a sample
    with a label neither in references nor in predictions, that label is left out of the mean.
    """

    title = "macro F1"
    signature = f"labels:exact|of:references|average:macro|version:{VERSION}"

    def counts(self, predicted: NDArray[Any], actual: NDArray[Any]) -> NDArray[Any]:
        """Return two counts of each label in order, (examples, 2 x labels).

        They are 1 if it is predicted rightly, and how often it is predicted or in the reference.
        """
        labels = np.unique(actual)
        chosen, expected = predicted[:, None] == labels, actual[:, None] == labels
        occurrences = chosen.astype(np.int64) + expected
        return np.stack([chosen & expected, occurrences], axis=2).reshape(len(actual), -1)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        """Return macro F1, 0 to 100, from summed statistics: 2 right / occurrences per label."""
        pairs = zip(sums[::2], sums[1::2], strict=True)
        scores = [2 * right / occurrences for right, occurrences in pairs if occurrences]
        return 100 * sum(scores) / len(scores) if scores else 0.0

    @classmethod
    def examples(cls, statistics: NDArray[Any]) -> int:
        """Return the examples of the rarest label: all exceptions may be of this one."""
        # An example of a label is one occurrence in the references, and one in the predictions.
        return max(1, int(statistics[:, 1::2].sum(0).min()) // 2)


METRICS = {"accuracy": Accuracy, "macro_f1": MacroF1}

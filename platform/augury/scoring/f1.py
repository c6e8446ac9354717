"""Macro F1 of predicted labels: the mean of F1 over the labels of the references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from augury.scoring.metric import VERSION, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MacroF1(Metric):
    """The mean, over labels, of the harmonic mean of precision and recall, in percent.

    It is a function of counts that add up over examples, as BLEU is, and no mean over them. The
    labels are those of the references, so that systems are scored alike; a prediction that is
    none of them misses its reference's label, and is a false positive of no label. In a sample
    with a label neither in references nor in predictions, that label is left out of the mean.
    """

    title = "macro F1"
    unit = "%"
    measures = "labels"
    bounds = (0.0, 100.0)
    signature = f"labels:exact|of:references|average:macro|version:{VERSION}"

    def statistics(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str],
        sources: Sequence[str] | None = None,
    ) -> NDArray[Any]:
        """Return two counts of each label in order, (examples, 2 x labels).

        They are 1 if it is predicted rightly, and how often it is predicted or in the reference.
        """
        import numpy as np

        predicted = np.array([line.strip() for line in hypotheses])[:, None]
        actual = np.array([line.strip() for line in references])[:, None]
        labels = np.unique(actual)
        right = (predicted == labels) & (actual == labels)
        occurrences = (predicted == labels).astype(np.int64) + (actual == labels)
        return np.stack([right, occurrences], axis=2).reshape(len(actual), -1)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        """Return macro F1, 0 to 100, from summed statistics: 2 right / occurrences per label."""
        pairs = zip(sums[::2], sums[1::2], strict=True)
        scores = [2 * right / occurrences for right, occurrences in pairs if occurrences]
        return 100 * sum(scores) / len(scores) if scores else 0.0


METRICS = {"macro_f1": MacroF1}

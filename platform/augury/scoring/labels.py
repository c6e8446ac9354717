"""Metrics of predicted labels, one per line, and what always answering one label scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError
from augury.scoring.metric import VERSION, CountedMetric, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 0.6
"""The share of a label above which `imbalance_note` says so."""


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
        return [int(hypothesis == reference), 1]

    def multiple_count(self, hypothesis: str, *references: str) -> list[float]:
        raise UserError(
            f"metric '{self.name}' compares with one label: give one file of references"
        )

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        correct, examples = sums
        return 100 * correct / examples


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


METRICS = {"accuracy": Accuracy, "macro_f1": MacroF1}


def imbalance_note(name: str, counts: Mapping[str, int], metrics: Sequence[str]) -> str | None:
    """Return a note on the most frequent label of a text called `name`, with what always answering
    it scores by `metrics` of labels; None where no label has a share above `LARGEST`.

    `counts` are the records with each label.
    """
    from augury.scoring.registry import metric

    rows = sum(counts.values())
    label = max(counts, key=counts.__getitem__, default="")
    if not rows or counts[label] <= LARGEST * rows:
        return None
    references = [other for other, count in counts.items() for _ in range(count)]
    scores = []
    for scorer in map(metric, metrics):
        value = scorer.value(scorer.statistics([label] * rows, references).sum(0).tolist())
        scores.append(f"{scorer.title} {value:.1f}")
    share = f"{100 * counts[label] / rows:.1f} % of the {rows:,} examples of {name} are '{label}'"
    return f"{share}: always answering it scores {', '.join(scores)}"

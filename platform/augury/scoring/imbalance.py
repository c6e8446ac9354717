"""Say what always answering the most frequent label scores, where labels are imbalanced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from augury.scoring.registry import metric

LARGEST = 0.6
"""The share of a label above which it is said."""


def imbalance_note(name: str, counts: Mapping[str, int], metrics: Sequence[str]) -> str | None:
    """Return a note on the most frequent label of a text called `name`, with what always answering
    it scores; None where no label has a share above `LARGEST`.

    `counts` are the records with each label.
    """
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

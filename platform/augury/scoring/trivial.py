"""What an output scores that takes no model: one text or label for every example, or the source
copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from augury.scoring.metric import Metric, SegmentMetric
from augury.scoring.registry import metric

CANDIDATES = 24
"""How many references are tried as the output for every example."""
SAMPLE = 60
"""On how many examples they are tried; the best ones are then tried on all."""
FINALISTS = 3
LARGEST = 0.6
"""The share of a label above which `imbalance_warning` says so."""
SHOWN = 40
"""Characters of a text in messages."""


class Trivial(NamedTuple):
    """A trivial output, in words, and its score."""

    output: str
    value: float


def best_trivial(
    scorer: Metric, references: Sequence[str], sources: Sequence[str] | None = None
) -> Trivial | None:
    """Return the trivial output that scores best: for labels the most frequent one, for text a
    reference for every example or, where there are `sources`, these.

    None for metrics that are models, which would be read for it, and without examples.
    """
    if not references or isinstance(scorer, SegmentMetric):
        return None

    def best(texts: Sequence[str], expected: Sequence[str]) -> list[Trivial]:
        known = [Trivial(text, _value(scorer, [text] * len(expected), expected)) for text in texts]
        lower = type(scorer).lower_is_better
        return sorted(known, key=lambda trivial: trivial.value, reverse=not lower)

    if scorer.measures == "labels":
        candidates = [Counter(references).most_common(1)[0][0]]
    else:
        distinct = list(dict.fromkeys(references))
        tried = best(_spread(distinct, CANDIDATES), _spread(references, SAMPLE))
        candidates = [trivial.output for trivial in tried[:FINALISTS]]
    constant = best(candidates, references)[0]
    text = constant.output if len(constant.output) <= SHOWN else f"{constant.output[:SHOWN]}…"
    constant = constant._replace(output=f"'{text}' for every example")
    if sources is None or scorer.measures == "labels":
        return constant
    copied = _value(scorer, sources, references)
    better = copied < constant.value if scorer.lower_is_better else copied > constant.value
    return Trivial("the source copied", copied) if better else constant


def imbalance_warning(name: str, counts: Mapping[str, int], metrics: Sequence[str]) -> str | None:
    """Return a warning of the most frequent label of a text called `name`, with what always
    answering it scores by `metrics` of labels; None where no label has a share above `LARGEST`.

    `counts` are the records with each label.
    """
    rows = sum(counts.values())
    label = max(counts, key=counts.__getitem__, default="")
    if not rows or counts[label] <= LARGEST * rows:
        return None
    references = [other for other, count in counts.items() for _ in range(count)]
    scores = [
        f"{scorer.title} {_value(scorer, [label] * rows, references):.1f}"
        for scorer in map(metric, metrics)
    ]
    share = f"{100 * counts[label] / rows:.1f} % of the {rows:,} examples of {name} are '{label}'"
    return f"{share}: always answering it scores {', '.join(scores)}"


def _value(scorer: Metric, outputs: Sequence[str], references: Sequence[str]) -> float:
    return float(scorer.value(scorer.statistics(outputs, references).sum(0)))


def _spread(items: Sequence[str], count: int) -> Sequence[str]:
    """Return at most `count` items, at equal distances."""
    return items[:: -(-len(items) // count)]

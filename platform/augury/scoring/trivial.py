"""What an output scores that takes no model: one text for every example, or the source copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from augury.scoring.metric import CountedMetric, Metric

CANDIDATES = 24
"""How many references are tried as the output for every example."""
SAMPLE = 60
"""On how many examples they are tried; the best ones are then tried on all."""
FINALISTS = 3
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
    if not references:
        return None
    if scorer.measures == "labels":
        ((label, _),) = Counter(references).most_common(1)
        counts = scorer.statistics([label] * len(references), references)
        return Trivial(_constant(label), float(scorer.value(counts.sum(0))))
    if not isinstance(scorer, CountedMetric):
        return None
    outputs = [_best_constant(scorer, references)]
    if sources is not None:
        counts = scorer.statistics(sources, references)
        outputs.append(Trivial("the source copied", float(scorer.value(counts.sum(0)))))
    return _best(scorer, outputs)[0]


def _best_constant(scorer: CountedMetric, references: Sequence[str]) -> Trivial:
    prepared = [scorer.prepare(line) for line in references]

    def tried(texts: Sequence[str], examples: Sequence[Any]) -> list[Trivial]:
        outputs = []
        for text in texts:
            hypothesis = scorer.prepare(text)
            counts = [scorer.count(hypothesis, reference) for reference in examples]
            sums = [sum(column) for column in zip(*counts, strict=True)]
            outputs.append(Trivial(text, float(scorer.value(sums))))
        return _best(scorer, outputs)

    distinct = list(dict.fromkeys(references))
    finalists = tried(_spread(distinct, CANDIDATES), _spread(prepared, SAMPLE))[:FINALISTS]
    best = tried([trivial.output for trivial in finalists], prepared)[0]
    return best._replace(output=_constant(best.output))


def _best(scorer: Metric, outputs: Sequence[Trivial]) -> list[Trivial]:
    """Return the outputs, the best first."""
    return sorted(
        outputs, key=lambda output: output.value, reverse=not type(scorer).lower_is_better
    )


def _spread(items: Sequence[Any], count: int) -> Sequence[Any]:
    """Return at most `count` items, at equal distances."""
    return items[:: -(-len(items) // count)]


def _constant(text: str) -> str:
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f"'{shown}' for every example"

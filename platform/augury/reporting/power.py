"""Say what an experiment can see: the smallest difference that it finds, and the seeds that a
smaller one needs. Before it is run, from the variance of typical models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.naming import counted
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import Experiment
from augury.reporting.results import Estimate
from augury.scoring.power import Components
from augury.scoring.registry import bounds, segment_noun, title

# Of small models on 1,000 sentences of Multi30k: three seeds of four systems vary by 0.28
# (BLEU) and 0.18 (chrF), and differences of single seeds by 0.19 and 0.10 over sentences, most of
# which is due to seeds. Accuracy is a guess: two systems disagree on every fifth example.
TYPICAL: Mapping[str, Components] = {
    "bleu": Components(0.20, 80.0, 35.0, dof=8),
    "chrf": Components(0.14, 43.0, 17.0, dof=8),
    "accuracy": Components(1.0, 800.0, 400.0, dof=8),
}
"""By metric."""


@dataclass(frozen=True)
class Power:
    """The smallest difference of a comparison, at 5 % with correction for its comparisons, found
    in 80 % of cases."""

    seeds: int
    sentences: int
    smallest: float
    target: float
    """A smaller difference, of about half the size."""
    seeds_needed: tuple[int | None, int | None]
    """The fewest and the most seeds that it may need; None where even many do not suffice, because
    the test set is too small."""
    text: str


def power_of_comparison(
    metric: str, known: Components | None, scored: Sequence[Estimate]
) -> Power | None:
    """Return the power of a comparison of systems with these scores, with as many seeds as the
    fewest of those with several; None where fewer than two have, which a note says.

    A race gives most systems one seed: what it can see is said of those that it gave more.
    """
    several = [count for score in scored if (count := len(score.seeds)) > 1]
    if known is None or len(several) < 2:
        return None
    sentences = min(score.n for score in scored)
    return power(metric, known, min(several), sentences, len(scored) - 1)


def power(
    metric: str, known: Components, seeds: int, sentences: int, comparisons: int
) -> Power | None:
    """Return what `seeds` seeds and `sentences` sentences can see; None where scores do not
    vary."""
    smallest = known.smallest_difference(seeds, sentences, comparisons)
    if not smallest:
        return None
    target = _one_digit(min(smallest, _widest(metric)) / 2)
    needed = known.range_needed(target, sentences, comparisons)
    unit, segments = title(metric), segment_noun(metric)
    missed = f"differences below {smallest:.1f}"
    if smallest >= _widest(metric):
        missed = "any difference in"
    text = (
        f"power: {counted(seeds, 'seed')} and {sentences:,} {segments} may miss {missed} {unit}; "
        f"finding one of {target:g} takes {seeds_text(needed)}"
    )
    return Power(seeds, sentences, smallest, target, needed, text)


def seeds_text(needed: tuple[int | None, int | None]) -> str:
    """Return `3 to 10 seeds`, `14 seeds or more`, or `a larger test set`."""
    fewest, most = needed
    if fewest is None:
        return "a larger test set"
    if most is None:
        return f"{fewest} seeds or more"
    return f"{fewest} seeds" if fewest == most else f"{fewest} to {most} seeds"


def _widest(metric: str) -> float:
    """Return the largest difference that the range of a metric allows."""
    lowest, highest = bounds(metric)
    return highest - lowest


@dataclass(frozen=True)
class PlannedPower:
    """What an experiment can see on one test set."""

    test: str
    metric: str
    seeds: int
    """The seeds of the experiment; with one, the statement is on two."""
    comparisons: int
    """Differences to the baseline, for which p is corrected."""
    power: Power


def power_lines(statements: Sequence[PlannedPower]) -> list[str]:
    """Return what is said of each test set, once for those of which the same is said."""
    tests: dict[str, list[str]] = {}
    for planned in statements:
        source = "typical small models: a rough guess"
        if planned.comparisons > 1:
            source += f", corrected for {planned.comparisons} comparisons"
        alone = "one seed says nothing of others; " if planned.seeds == 1 else ""
        text = f"{alone}{planned.power.text.removeprefix('power: ')} ({source})"
        tests.setdefault(text, []).append(planned.test)
    return [f"{', '.join(names)}: {text}" for text, names in tests.items()]


def planned_power(systems: Sequence[Experiment], store: Store, seeds: int) -> list[PlannedPower]:
    """Return what each test set of an experiment can show with so many seeds; nothing for a single
    system, and for metrics of which no typical variance is known.

    Texts are read into the storage if they are not there.
    """
    first, statements = systems[0], []
    metric, comparisons = first.scoring.metrics[0], len(systems) - 1
    if not comparisons or metric not in TYPICAL:
        return []
    for test in first.test_sets:
        corpus = cached_corpus(first.corpus, test, store.root)
        if corpus.rows:
            shown = power(metric, TYPICAL[metric], max(seeds, 2), corpus.rows, comparisons)
            if shown:
                statements.append(PlannedPower(test, metric, seeds, comparisons, shown))
    return statements


def _one_digit(value: float) -> float:
    """Return a number rounded to one significant digit."""
    place = math.floor(math.log10(value))
    return round(value, -place)

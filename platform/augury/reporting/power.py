"""Say what an experiment can see: the smallest difference that it finds, and the seeds that a
smaller one needs. Before it is run, from runs that are stored for its test sets or typical ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.naming import counted
from augury.core.store import Folder, Store
from augury.corpora.ingest import cached_corpus
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.experiments.spec import Experiment
from augury.reporting import run_files
from augury.reporting.results import Estimate, resample_runs
from augury.scoring.bootstrap import Resampled
from augury.scoring.power import Components, components
from augury.scoring.registry import bounds, segment_noun, title

MOST_SYSTEMS = 8
"""Stored systems are enough for a variance; more take time."""
SAMPLES = 200
"""Bootstrap samples of stored systems: enough for a variance."""
# Of small models on 1,000 sentences of Multi30k: three seeds of four systems vary by 0.28
# (BLEU) and 0.18 (chrF), and differences of single seeds by 0.19 and 0.10 over sentences, most of
# which is due to seeds. Accuracy is a guess: two systems disagree on every fifth example.
TYPICAL: Mapping[str, Components] = {
    "bleu": Components(0.20, 80.0, 35.0, dof=8),
    "chrf": Components(0.14, 43.0, 17.0, dof=8),
    "accuracy": Components(1.0, 800.0, 400.0, dof=8),
}
"""By metric, for experiments on test sets of which nothing is stored."""


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
    systems: int
    """Stored systems that the components are estimated from; 0: typical components."""
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
        if planned.systems:
            source = f"{counted(planned.systems, 'system')} stored for it"
        if planned.comparisons > 1:
            source += f", corrected for {planned.comparisons} comparisons"
        alone = "one seed says nothing of others; " if planned.seeds == 1 else ""
        text = f"{alone}{planned.power.text.removeprefix('power: ')} ({source})"
        tests.setdefault(text, []).append(planned.test)
    return [f"{', '.join(names)}: {text}" for text, names in tests.items()]


def planned_power(systems: Sequence[Experiment], store: Store, seeds: int) -> list[PlannedPower]:
    """Return what each test set of an experiment can show with so many seeds.

    Nothing for a single system.

    Texts are read into the storage if they are not there.
    """
    if len(systems) < 2:
        return []
    first = systems[0]
    metric = first.scoring.metrics[0]
    comparisons, statements = len(systems) - 1, []
    for test in first.test_sets:
        corpus = cached_corpus(first.corpus, test, store.root)
        stored = stored_systems(store, corpus.address, metric)
        known = TYPICAL.get(metric)
        if len(stored) > 1:
            known = components(stored, len(stored[0].statistics[0]))
        if known is None or not corpus.rows:
            continue
        if shown := power(metric, known, max(seeds, 2), corpus.rows, comparisons):
            count = len(stored) if len(stored) > 1 else 0
            statements.append(PlannedPower(test, metric, count, seeds, comparisons, shown))
    return statements


def stored_systems(store: Store, text: str, metric: str) -> list[Resampled]:
    """Return systems of several seeds that are scored on a test set, given by the address of its
    text."""
    groups: dict[str, list[tuple[Folder, RunRecord]]] = {}
    names: dict[str, str] = {}
    scored = filter(run_files.is_scored, stored_runs.folders(store))
    for run, record in stored_runs.intact(scored, RunRecord.read).items():
        roles = {corpus.address: corpus.role for corpus in record.inputs}
        test = roles.get(text)
        if test is not None and any(score.name == metric for score in record.tests.get(test, ())):
            groups.setdefault(record.address, []).append((run, record))
            names[record.address] = test
    several = [address for address, group in groups.items() if len(group) > 1][:MOST_SYSTEMS]
    systems = [resample_runs(groups[of], names[of], metric, SAMPLES) for of in several]
    return [system for system in systems if system is not None]


def _one_digit(value: float) -> float:
    """Return a number rounded to one significant digit."""
    place = math.floor(math.log10(value))
    return round(value, -place)

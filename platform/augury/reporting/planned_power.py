"""Say before an experiment what it can see, from runs that are stored for its test sets, or from
typical ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from augury.core.naming import counted
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import Experiment
from augury.reporting.power import Power, power
from augury.reporting.stored_systems import stored_systems
from augury.scoring.power import Components, components

SEEDS = (2, 3, 5, 10)
"""Numbers of seeds whose smallest differences are shown."""
# Of small models on 1,000 sentences of Multi30k (LOG.md): three seeds of four systems vary by 0.28
# (BLEU) and 0.18 (chrF), and differences of single seeds by 0.19 and 0.10 over sentences, most of
# which is due to seeds. Accuracy is a guess: two systems disagree on every fifth example.
TYPICAL: Mapping[str, Components] = {
    "bleu": Components(seeds=0.20, seeds_and_sentences=80.0, systems_and_sentences=35.0),
    "chrf": Components(seeds=0.14, seeds_and_sentences=43.0, systems_and_sentences=17.0),
    "accuracy": Components(seeds=1.0, seeds_and_sentences=800.0, systems_and_sentences=400.0),
}
"""By metric, for experiments on test sets of which nothing is stored."""


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
    by_seeds: Mapping[int, float]
    """Number of seeds -> the smallest difference."""

    def lines(self) -> Iterator[str]:
        """Yield the statement, and the smallest difference for other numbers of seeds."""
        source = (
            f"{counted(self.systems, 'system')} stored for it"
            if self.systems
            else "typical small models: a rough guess"
        )
        if self.comparisons > 1:
            source += f", corrected for {self.comparisons} comparisons"
        alone = "one seed says nothing of others; " if self.seeds == 1 else ""
        yield f"{self.test}: {alone}{self.power.text.removeprefix('power: ')} ({source})"
        cells = [f"{count} seeds {smallest:.1f}" for count, smallest in self.by_seeds.items()]
        yield f"smallest difference by seeds: {', '.join(cells)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as JSON-like values."""
        return {
            **asdict(self),
            "by_seeds": {str(count): value for count, value in self.by_seeds.items()},
        }


def planned_power(systems: Sequence[Experiment], store: Store, seeds: int) -> list[PlannedPower]:
    """Return what each test set of an experiment can show with so many seeds.

    Nothing for a single system.

    Texts are read into the storage if they are not there.
    """
    if len(systems) < 2:
        return []
    first = systems[0]
    metric = first.scoring.metrics[0]
    statements = []
    for test in first.test_sets:
        corpus = cached_corpus(first.corpus, test, store.root)
        stored = stored_systems(store, corpus.address, metric)
        known = (
            components(stored, len(stored[0].statistics[0]))
            if len(stored) > 1
            else TYPICAL.get(metric)
        )
        if known is None or not corpus.rows:
            continue
        comparisons = len(systems) - 1
        statement = power(metric, known, max(seeds, 2), corpus.rows, comparisons)
        if statement:
            by_seeds = {
                count: known.smallest_difference(count, corpus.rows, comparisons) for count in SEEDS
            }
            systems_known = len(stored) if len(stored) > 1 else 0
            statements.append(
                PlannedPower(test, metric, systems_known, seeds, comparisons, statement, by_seeds)
            )
    return statements

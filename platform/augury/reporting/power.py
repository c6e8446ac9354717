"""Say what an experiment can see: the smallest difference that it finds, and the seeds that a
smaller one needs. Before it is run, from the variance of typical models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from augury.core.naming import counted
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import Experiment
from augury.reporting.numbers import number
from augury.reporting.results import Estimate
from augury.scoring.power import MOST_SEEDS, Components
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


def power_of_comparison(metric: str, known: Components | None, scored: Sequence[Estimate]) -> str:
    """Return the power of a comparison of systems with these scores, with as many seeds as the
    fewest of those with several; empty where fewer than two have.

    A race gives most systems one seed: what it can see is said of those that it gave more.
    """
    several = [count for score in scored if (count := len(score.seeds)) > 1]
    if known is None or len(several) < 2:
        return ""
    sentences = min(score.n for score in scored)
    said = power(metric, known, min(several), sentences, len(scored) - 1)
    return f"power: {said}" if said else ""


def power(metric: str, known: Components, seeds: int, sentences: int, comparisons: int) -> str:
    """Return the smallest difference that is found in 80 % of cases, at 5 % with correction for
    the comparisons, and the seeds that finding half of it may take; empty where scores do not
    vary."""
    smallest = known.smallest_difference(seeds, sentences, comparisons)
    if not smallest:
        return ""
    lowest, highest = bounds(metric)
    widest = highest - lowest
    target = min(smallest, widest) / 2
    target = round(target, -math.floor(math.log10(target)))  # one digit
    needed = known.range_needed(target, sentences, comparisons)
    missed = f"differences below {number(smallest)}" if smallest < widest else "any difference in"
    return (
        f"{counted(seeds, 'seed')} and {number(sentences, 'count')} {segment_noun(metric)} may "
        f"miss {missed} {title(metric)}; finding one of {target:g} takes {seeds_text(needed)}"
    )


def seeds_text(needed: tuple[int | None, int | None]) -> str:
    """Return `3 to 10 seeds`, `14 seeds or more`, or `more than 20 seeds or a larger test set`."""
    fewest, most = needed
    if fewest is None:
        return f"more than {MOST_SEEDS} seeds or a larger test set"
    if most is None:
        return f"{fewest} seeds or more"
    return f"{fewest} seeds" if fewest == most else f"{fewest} to {most} seeds"


def planned_power(systems: Sequence[Experiment], store: Store, seeds: int) -> list[str]:
    """Return what the test sets of an experiment can show with so many seeds, once for those of
    which the same is said; nothing for a single system, and for metrics of which no typical
    variance is known.

    Texts are read into the storage if they are not there.
    """
    first, tests = systems[0], dict[str, list[str]]()
    metric, comparisons = first.scoring.metrics[0], len(systems) - 1
    if not comparisons or metric not in TYPICAL:
        return []
    alone = "one seed says nothing of others; " if seeds == 1 else ""
    source = "typical small models: a rough guess"
    if comparisons > 1:
        source += f", corrected for {comparisons} comparisons"
    for test in first.test_sets:
        rows = cached_corpus(first.corpus, test, store.root).rows
        if rows and (said := power(metric, TYPICAL[metric], max(seeds, 2), rows, comparisons)):
            tests.setdefault(f"{alone}{said} ({source})", []).append(test)
    return [f"{', '.join(names)}: {text}" for text, names in tests.items()]

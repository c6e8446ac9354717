"""The results of an experiment in a terminal: all test sets in one table, or validations where
there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from augury.experiments.stored_runs import NO_TESTS
from augury.reporting.comparison import Comparison, cautions
from augury.reporting.numbers import MISSING
from augury.reporting.results import SystemResult, best_validations
from augury.reporting.score_tables import by_test, score_tables
from augury.reporting.tables import plain_text, table
from augury.reporting.untrained import SystemScore, untrained_warnings
from augury.scoring.registry import title

MOST_SETS = 3
"""The maximum number of test sets that are shown in full.

Of more, only the mean is, and scores of the others.
"""


def text(comparisons: Sequence[Comparison], width: int | None = None) -> str:
    """Return the scores on all test sets, the cost and the notes as plain lines."""
    if len(comparisons) <= MOST_SETS:
        return plain_text(score_tables(comparisons), width)
    mean, *_ = score_tables(comparisons[:1])
    listed = replace(
        by_test(comparisons),
        notes=("every test set with intervals and p: the page, --json, or augury compare",),
    )
    return plain_text([mean, listed], width)


def validations(systems: Sequence[SystemResult]) -> str:
    """Return runs without test sets: their folders, and the best value of every metric in their
    validations."""
    runs = [
        (system.name, str(seed), run) for system in systems for seed, run in system.runs.items()
    ]
    best = [best_validations(run) for _, _, run in runs]
    metrics = list(dict.fromkeys(metric for values in best for metric in values))
    rows = [
        [
            name,
            seed,
            *(f"{values[metric]:.2f}" if metric in values else MISSING for metric in metrics),
            run.uri,
        ]
        for (name, seed, run), values in zip(runs, best, strict=True)
    ]
    columns = ["system", "seed", *(f"best {title(metric)}" for metric in metrics), "run"]
    best_scores = [
        SystemScore(f"{name}, seed {seed}", run, metric, value, value)
        for (name, seed, run), values in zip(runs, best, strict=True)
        for metric, value in values.items()
    ]
    notes = (*untrained_warnings(best_scores, "valid"), NO_TESTS, *cautions(systems))
    return plain_text([table(columns, rows, notes=notes)])

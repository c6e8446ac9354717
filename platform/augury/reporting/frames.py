"""Results as pandas frames, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from augury.core.store import Store
from augury.experiments import stored_runs
from augury.experiments.record import SCORES, RunRecord
from augury.reporting.answer import answer, sweep_answer
from augury.reporting.comparison import Comparison, compare_all, warnings_of
from augury.reporting.find import choices_of, common_tests, load_systems
from augury.reporting.results import SystemResult
from augury.reporting.score_tables import COSTS, Record, by_system, frame, run_records
from augury.reporting.sweeps.summary import recommended, summarise
from augury.scoring.registry import record_name
from augury.sweeping.state import PAGE, Sweep

RUN = {"system": "name", **{name: name for name in ("experiment", "task", "address", "seed")}}
"""Column -> field of a run's record."""
SCORE = ("test", "metric", "value", "low", "high", "n", "signature")
SWEPT = ("name", "seeds", "test", "metric", "score", "low", "high")
TESTED = ("difference", "difference_low", "difference_high", "p")


def results(storage: str | Path = "results") -> pd.DataFrame:
    """Return a row for every scored run, test set and metric of a storage.

    Columns: system, experiment, task, address and seed of the run; test, metric, its value, the
    ends `low` and `high` of its 95 % interval (bootstrap over sentences), `n` sentences, signature;
    cost: parameters, data_factor, updates, onset, weights, target_tokens, train_seconds,
    device_hours, device, cpu_seconds, trainings, uncounted; `run`, its folder. The frame of a
    storage without scored runs has these columns and no row.
    """
    store = Store.existing(storage)
    scored = [run for run in stored_runs.folders(store) if run.exists(SCORES)]
    found = stored_runs.intact(scored, RunRecord.read)
    rows = []
    for run, record in found.items():
        identity = {name: getattr(record, field) for name, field in RUN.items()}
        rows += [{**identity, **row, "run": run.uri} for row in run_records(record)]
    return pd.DataFrame(rows, columns=[*RUN, *SCORE, *COSTS, "run"])


def compare(baseline: str | Path, system: str | Path, storage: str = "results") -> pd.DataFrame:
    """Compare two systems: a row for every test set (the mean of several first), system and metric,
    all numbers exact.

    A system is a run folder (one seed), the folder of a configuration (all seeds) or `sweeps/NAME`,
    as `augury compare` takes them; addresses are those of the storage. The rows of the deciding
    metric have the difference to the baseline, `difference_low` and `difference_high` of
    its 95 % interval, `p` and, corrected for the table, `p_corrected`. `attrs` is what may be
    `said`. UserError where a system is not there, has no scores, or cannot be compared.
    """
    systems = load_systems([str(baseline), str(system)], storage)
    comparisons = compare_all(systems, common_tests(systems))
    compared = frame(comparisons)
    compared.attrs = said(comparisons, systems)
    return compared


def said(comparisons: Sequence[Comparison], systems: Sequence[SystemResult]) -> dict[str, Any]:
    """Return what may be said of systems, the baseline first: the `answer`, and `warnings`, which
    may change a decision; nothing without test sets."""
    if not comparisons:
        return {}
    return {
        "answer": answer(comparisons[0], choices_of(systems)),
        "warnings": warnings_of(comparisons),
    }


def sweep(swept: Sweep) -> pd.DataFrame:
    """Return a row for every configuration of a sweep, best first.

    Columns: name and the number of its finished `seeds`; the deciding test (validation where there
    are no test sets), metric and score with the ends `low` and `high` of its 95 % interval; the
    difference to the reference with its interval, and p, corrected for all comparisons; the mean
    cost of a seed; state (finished, stopped, failed, ...), whether it is `recommended`, and its
    address. What is not known, such as the score of a stopped configuration, is missing. `attrs`
    holds the `answer` and the address of the `page`.
    """
    summary, rows = summarise(swept), []
    chosen, deciding = recommended(summary), summary.deciding
    test, _, metric = swept.metric.partition("/")
    scored = by_system(deciding) if deciding else {}
    if deciding:
        test, metric = deciding.test, record_name(deciding.metrics[0])
    for result in summary.ranking:
        low, high = result.interval
        row: Record = {"value": result.mean, "low": low, "high": high}
        if deciding:
            row = dict(scored.get(result.name, {}))
        row |= {"score": row.get("value"), "p": row.get("p_corrected")}
        row |= {"name": result.name, "seeds": result.finished, "test": test, "metric": metric}
        row |= {"state": result.state, "recommended": result is chosen, "address": result.address}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=[*SWEPT, *TESTED, *COSTS, "state", "recommended", "address"])
    frame.attrs = {"answer": sweep_answer(summary), "page": swept.folder.location(PAGE)}
    return frame

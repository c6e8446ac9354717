"""A sweep in the terminal: the table at its end, and the same as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from augury.core.progress import duration
from augury.reporting.numbers import MISSING, factor
from augury.reporting.score_tables import by_test, score_cells, score_columns, shared_notes
from augury.reporting.sweeps.answer import summary_answer
from augury.reporting.sweeps.locations import locations
from augury.reporting.sweeps.summary import (
    ConfigurationResult,
    Summary,
    rows_by_address,
    summarise,
)
from augury.reporting.tables import Table, table
from augury.reporting.tables import text as table_text
from augury.sweeping.state import Sweep


def text(sweep: Sweep) -> str:
    """Return the question, all configurations, the answer, and what must be known to believe it."""
    summary = summarise(sweep)
    notes = [*summary.cautions, *shared_notes(summary.comparisons[:1])]
    failures = [
        f"failed: {item.name}, seed {trial.seed}: {trial.error}"
        for item in sweep.configurations
        for trial in item.trials
        if trial.progress == "failed"
    ]
    merged = [f"same as {point.same_as}: {point.label} ({point.reason})" for point in sweep.merged]
    blocks = [
        sweep.question,
        table_text([_table(summary)]).rstrip(),
        summary_answer(summary),
        table_text([by_test(summary.comparisons)]).rstrip() if len(summary.comparisons) > 1 else "",
        "\n".join(dict.fromkeys(notes)),
        "\n".join([*failures, *merged]),
        "\n".join(f"{name:<12}{value}" for name, value in locations(sweep).items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_dict(sweep: Sweep) -> dict[str, Any]:
    """Return the sweep as JSON-like values."""
    summary = summarise(sweep)
    trials = [trial for item in sweep.configurations for trial in item.trials]
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": summary_answer(summary),
        "ended": sweep.ended,
        "metric": sweep.metric,
        "mode": sweep.mode,
        "scale": sweep.scale,
        "scheduler": sweep.scheduler,
        "decided_on": "validation" if sweep.tests == () else "tests",
        "cautions": summary.cautions,
        "seeds": list(sweep.seeds),
        "reference": sweep.reference,
        "best": summary.leader.address if summary.leader else None,
        "table": [_result_dict(summary, result) for result in summary.ranking],
        "merged": [asdict(point) for point in sweep.merged],
        "decisions": [asdict(decision) for decision in sweep.decisions],
        "trials": sum(trial.progress != "waiting" for trial in trials),
        "finished": sweep.count("finished"),
        "failed": sweep.count("failed"),
        "stopped": sweep.count("stopped"),
        "cost": {"train_seconds": sum(trial.seconds for trial in trials if trial.progress != "waiting")},
        "sweep": sweep.folder.uri,
    }


def _result_dict(summary: Summary, result: ConfigurationResult) -> dict[str, Any]:
    tests = {
        comparison.test: {**asdict(row), "mark": row.mark}
        for comparison in summary.comparisons
        if (row := rows_by_address(comparison).get(result.address))
    }
    return {
        **result.configuration.to_dict(),
        "state": result.state,
        "rung": result.rung,
        "seeds": result.finished,
        "validation": {
            "mean": result.mean,
            "sd": result.deviation,
            "low": result.low,
            "high": result.high,
            "values": {str(seed): value for seed, value in result.values.items()},
        },
        "train_seconds": result.seconds,
        "tests": tests,
    }


def _table(summary: Summary) -> Table:
    """Return validations, scores on the test set or the mean of several, and cost."""
    sweep, deciding = summary.sweep, summary.deciding
    columns = ["configuration", "state", "seeds", summary.metric]
    if deciding:
        score, difference, p_value, *_ = score_columns(deciding)
        columns += [f"{score.partition(' [')[0]} {deciding.test}", difference, p_value]
    rows = []
    for result in summary.ranking:
        row = summary.row(result)
        rows.append(
            [
                f"{result.name} (reference)" if result is summary.reference else result.name,
                *_state(sweep, result),
                result.spread_text,
                *(score_cells(deciding, row)[:3] if deciding else ()),
                _seconds(result),
                factor(row.time_factor if row else None),
            ]
        )
    return table([*columns, "train time", "× reference"], rows, parts=(4, len(columns)))


def _state(sweep: Sweep, result: ConfigurationResult) -> tuple[str, str]:
    return result.state_text, f"{result.finished}/{len(sweep.seeds)}"


def _seconds(result: ConfigurationResult) -> str:
    return MISSING if result.seconds is None else duration(result.seconds)

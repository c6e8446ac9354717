"""A sweep in the terminal: the table at its end, and the same as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from augury.core.progress import duration
from augury.reporting.numbers import factor, number
from augury.reporting.score_tables import by_test, shared_notes
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.locations import locations
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, summarise
from augury.reporting.tables import Table, plain_text, table
from augury.sweeping.state import Progress, Sweep

ENDS: tuple[Progress, ...] = ("finished", "failed", "stopped")


def text(sweep: Sweep) -> str:
    """Return the question, all configurations, the answer, and its cautions and notes."""
    summary = summarise(sweep)
    notes = [*summary.cautions, *shared_notes(summary.comparisons[:1])]
    failures = [f"failed: {name}: {trial.error}" for name, trial in summary.failures.items()]
    merged = [f"same as {point.same_as}: {point.label} ({point.reason})" for point in sweep.merged]
    blocks = [
        sweep.question,
        plain_text([_table(summary)]).rstrip(),
        answer(summary),
        plain_text([by_test(summary.comparisons)]).rstrip() if len(summary.comparisons) > 1 else "",
        "\n".join(dict.fromkeys(notes)),
        "\n".join([*failures, *merged]),
        "\n".join(f"{name:<12}{value}" for name, value in locations(sweep).items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_dict(sweep: Sweep) -> dict[str, Any]:
    """Return the sweep as JSON-like values."""
    summary = summarise(sweep)
    begun = [trial for _, trial in sweep.trials if trial.progress != "waiting"]
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": answer(summary),
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
        "trials": len(begun),
        **{state: sweep.count(state) for state in ENDS},
        "cost": {"train_seconds": sum(trial.seconds for trial in begun)},
        "sweep": sweep.folder.uri,
    }


def _result_dict(summary: Summary, result: ConfigurationResult) -> dict[str, Any]:
    tests = {
        comparison.test: {**asdict(row), "mark": row.mark}
        for comparison in summary.comparisons
        if (row := comparison.row(result.address))
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
    columns = ["configuration", "state", "seeds", summary.metric, *summary.score_columns[:3]]
    rows = [
        [
            f"{result.name} (reference)" if result is summary.reference else result.name,
            result.state_text,
            f"{result.finished}/{len(summary.sweep.seeds)}",
            result.spread_text,
            *summary.score_cells(result)[:3],
            number(result.seconds, duration),
            number(summary.time_factor(result), factor),
        ]
        for result in summary.ranking
    ]
    return table([*columns, "wall time", summary.time_factor_title], rows, parts=(4, len(columns)))

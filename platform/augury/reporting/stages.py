"""The table of the stages of systems: the stage before, the training data, and the scores after
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from augury.core.store import Folder, Store
from augury.reporting import run_files
from augury.reporting.numbers import MISSING, amount, factor
from augury.reporting.results import SystemResult, load_groups
from augury.reporting.tables import Cell, Table, cell, table
from augury.runs.record import RunRecord, run_folder
from augury.runs.stored_runs import FIRST
from augury.scoring.registry import title


def stage_table(results: Sequence[SystemResult], tests: Sequence[str], metric: str) -> Table | None:
    """Return the stages of systems, each once and after the one that it begins with; None where
    none has several."""
    stages = _stages(results)
    if all(stage.record.before is None for stage in stages.values()):
        return None
    rows = [_cells(stage, stages, tests, metric) for stage in stages.values()]
    columns = ("stage", "begins with", "takes over", "run", "pairs", "data", "updates", *tests)
    notes = (
        f"{title(metric)} after every stage, the mean over seeds; updates are those of the stage "
        "alone",
    )
    return table(columns, rows, title="stages", notes=notes, parts=(7,))


def _stages(results: Sequence[SystemResult]) -> dict[str, SystemResult]:
    """Return the stages of systems by address, earlier stages of a system before it."""
    systems = {result.address: result for result in results}
    stages: dict[str, SystemResult] = {}
    for result in results:
        chain, before = [result], _previous_runs(result)
        while before:
            record = RunRecord.read(next(iter(before.values())))
            known = systems.get(record.address) or stages.get(record.address)
            name = f"{result.name}, {record.parameters.get('stage.name', FIRST)}"
            chain.append(known or load_groups([before], [name])[0])
            before = _previous_runs(chain[-1])
        stages |= {stage.address: stages.get(stage.address, stage) for stage in reversed(chain)}
    return stages


def _cells(
    stage: SystemResult, stages: Mapping[str, SystemResult], tests: Sequence[str], metric: str
) -> list[Cell]:
    record, before, cost = stage.record, stage.record.before, stage.cost
    carried = record.parameters.get("stage.carry", MISSING)
    pairs = next((text.rows for text in record.inputs if text.role == "train"), None)
    scores = [stage.tests.get(test, {}).get(metric) for test in tests]
    return [
        Cell(stage.name),
        Cell(stages[before].name if before else MISSING),
        Cell(carried if before else MISSING),
        Cell(stage.address, code=True),
        cell(pairs, amount),
        cell(cost.data_factor if cost else None, factor),
        cell(cost.updates if cost else None, ",.0f"),
        *(
            cell(score.value, hint=f"{score.low:.1f} to {score.high:.1f}")
            if score
            else Cell(MISSING)
            for score in scores
        ),
    ]


def _previous_runs(stage: SystemResult) -> dict[int, Folder]:
    """Return the runs of the previous stage, by seed."""
    before = stage.record.before
    if before is None:
        return {}
    runs = {seed: run_folder(Store(run.root), before, seed) for seed, run in stage.runs.items()}
    return {seed: run for seed, run in runs.items() if run_files.is_described(run)}

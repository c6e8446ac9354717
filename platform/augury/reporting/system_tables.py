"""Tables of an experiment's systems beside their scores: stages, and the settings that differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord, run_folder
from augury.experiments.stored_runs import FIRST
from augury.reporting import run_files
from augury.reporting.numbers import MISSING, amount, factor
from augury.reporting.results import SystemResult, load_groups
from augury.reporting.tables import Cell, Table, cell, records, table
from augury.scoring.registry import title


def stage_table(results: Sequence[SystemResult], tests: Sequence[str], metric: str) -> Table | None:
    """Return the stages of systems, each once and after the one that it begins with; None where
    none has several."""
    stages = _stages(results)
    if all(stage.record.before is None for stage in stages.values()):
        return None
    rows = []
    for stage in stages.values():
        record, before, cost = stage.record, stage.record.before, stage.cost
        row: dict[str, object] = {
            "stage": stage.name,
            "begins with": stages[before].name if before else None,
            "takes over": record.parameters.get("stage.carry") if before else None,
            "run": Cell(stage.address, code=True),
            "pairs": cell(
                next((text.rows for text in record.inputs if text.role == "train"), None), amount
            ),
            "data": cell(cost.data_factor if cost else None, factor),
            "updates": cell(cost.updates if cost else None, ",.0f"),
        }
        for test in tests:
            score = stage.score(test, metric)
            hint = f"{score.low:.1f} to {score.high:.1f}" if score else ""
            row[test] = cell(score.value if score else None, hint=hint)
        rows.append(row)
    note = f"{title(metric)} after every stage, the mean over seeds; updates are those of the stage"
    return records(rows, title="stages", notes=(f"{note} alone",), parts=(7,))


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
        for stage in reversed(chain):
            stages.setdefault(stage.address, stage)
    return stages


def _previous_runs(stage: SystemResult) -> dict[int, Folder]:
    """Return the runs of the previous stage, by seed."""
    before = stage.record.before
    if before is None:
        return {}
    runs = {seed: run_folder(Store(run.root), before, seed) for seed, run in stage.runs.items()}
    return {seed: run for seed, run in runs.items() if run_files.is_described(run)}


def setting_table(results: Sequence[SystemResult]) -> Table | None:
    """Return the settings that differ between the systems; None where there are none.

    Of settings that some systems do not have, those that the runs' descriptions name as differing
    are shown; defaults are not, as the regime or the operator that brings them says as much.
    """
    described = [result.record for result in results if result.runs]
    parameters = [record.parameters for record in described]
    chosen = {key for record in described for key in record.differing}
    rows = []
    for key in dict.fromkeys(key for settings in parameters for key in settings):
        values = [settings.get(key) for settings in parameters]
        cells = [Cell(MISSING) if of in (None, [], {}) else _code(of) for of in values]
        everywhere = all(key in settings for settings in parameters)
        shown = everywhere or key in chosen or not chosen
        if shown and len({cell.text for cell in cells}) > 1:
            rows.append([Cell(key, code=True), *cells])
    names = [result.name for result in results if result.runs]
    return table(["setting", *names], rows, kind="words") if rows else None


def _code(value: Any) -> Cell:
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )
    return Cell(text, code=True)

"""What the finished runs of a paper's table measure where it is not one of scores; it is kept with the sweep."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.system import open_systems
from augury.core.progress import say
from augury.core.store import Folder
from augury.reporting import run_files
from augury.sweeping.published import Published
from augury.sweeping.state import Sweep

MEASURED = "measured.json"
"""In the sweep's folder: run -> printed column -> value."""


def measured(table: Published, sweep: Sweep) -> dict[Folder, Mapping[str, float]]:
    """Return what every finished run measures, by printed column; what was measured before is not measured again."""
    assert table.measure is not None
    kept = dict(sweep.folder.read_json(MEASURED)) if sweep.folder.exists(MEASURED) else {}
    values = {}
    for configuration in sweep.configurations:
        for trial in configuration.trials:
            if not run_files.scored(trial.folder):
                continue
            if trial.folder.name not in kept:
                say(f"{table.where}: measuring {configuration.name}, seed {trial.seed}")
                (system,) = open_systems([trial.folder], sentences=table.sentences)
                kept[trial.folder.name] = {column: float(value) for column, value in table.measure(system).items()}
                sweep.folder.write_json(MEASURED, kept)
            values[trial.folder] = kept[trial.folder.name]
    return values

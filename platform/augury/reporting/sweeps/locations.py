"""The locations of a sweep, the commands that show it in other tools, and the command that runs
it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence

from augury.core.naming import command, mlflow_command
from augury.core.plugin_files import file_of, is_path
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.experiments.recording import Tracking, place
from augury.reporting import run_files
from augury.reporting.tables import Cell, Table, table
from augury.sweeping.state import DEFINITION, TUNE, Configuration, Sweep


def locations(sweep: Sweep) -> dict[str, str]:
    """Return name -> the address where something is stored, or the command that shows it."""
    shown = {"storage": sweep.folder.root, "sweep": sweep.folder.uri}
    uri = _mlflow(sweep)
    if uri is not None:
        shown["MLflow"] = mlflow_command(uri)
        shown["in MLflow"] = (
            f"tags.augury.sweep = '{sweep.name}' and tags.augury.level = 'configuration'"
        )
    if sweep.folder.exists(TUNE):
        shown["TensorBoard"] = command("tensorboard", "--logdir", sweep.folder.sub(TUNE).uri)
    return shown


def sweep_command(sweep: Sweep, seeds: Iterable[int] | None = None) -> str:
    """Return the command that runs the sweep again, as far as the sweep's folder records it;
    `seeds` take the place of its own."""
    definition = sweep.folder.read_record(DEFINITION)
    experiment = definition.get("experiment")
    words = [
        definition.get("declared", definition.get("space", sweep.name)),
        *([experiment] if experiment else ["--scale", sweep.scale]),
        "--seeds",
        *map(str, sweep.seeds if seeds is None else seeds),
    ]
    words += ["--scheduler", sweep.scheduler] if "space" in definition else []
    words += ["--search", definition["search"]] if "search" in definition else []
    words += ["--samples", str(definition["samples"])] if definition.get("samples") else []
    words += ["--rows", *definition["rows"]] if definition.get("rows") else []
    return shlex.join(["augury", "sweep", *words, *_assignments(sweep), *_destination(sweep)])


def compare_command(sweep: Sweep) -> str:
    """Return the command that compares the configurations of the sweep on every test set."""
    words = [f"sweeps/{sweep.name}", "--storage", sweep.folder.root]
    return shlex.join(["augury", "compare", *words])


def reproduce_command(sweep: Sweep, table: str, rows: Sequence[str] = ()) -> str:
    """Return the command that measures a paper's table, or these rows of it, again with the
    settings of this sweep."""
    words = [
        str(file_of(table)) if is_path(table) else table,
        "--scale",
        sweep.scale,
        "--seeds",
        *map(str, sweep.seeds),
        *(["--rows", *rows] if rows else []),
    ]
    return shlex.join(["augury", "reproduce", *words, *_assignments(sweep), *_destination(sweep)])


def _destination(sweep: Sweep) -> list[str]:
    return ["--name", sweep.name, "--storage", sweep.folder.root]


def _assignments(sweep: Sweep) -> list[str]:
    settings = sweep.folder.read_record(DEFINITION).get("assignments", {})
    return [
        word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")
    ]


def described_runs(sweep: Sweep) -> list[Folder]:
    """Return the folders of the runs that training has described."""
    return [trial.folder for _, trial in sweep.trials if run_files.is_described(trial.folder)]


def address_table(what: str, configurations: Iterable[tuple[str, Configuration]]) -> Table:
    """Return the runs and seeds of named configurations; `what` is the title of the column of
    names."""
    rows = [
        [
            name,
            Cell(f"runs/{configuration.address}", code=True),
            ", ".join(f"{trial.seed} ({trial.progress})" for trial in configuration.trials),
        ]
        for name, configuration in configurations
    ]
    return table([what, "runs", "seeds"], rows, kind="words")


def _mlflow(sweep: Sweep) -> str | None:
    """Return the address of the MLflow store of the runs; None where they are not recorded."""
    described = described_runs(sweep)
    settings = RunRecord.read(described[0]).parameters if described else {}
    if not settings.get("tracking.enabled", True):
        return None
    return place(Tracking(uri=settings.get("tracking.uri")), Store(sweep.folder.root)).uri

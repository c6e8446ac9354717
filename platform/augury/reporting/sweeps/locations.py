"""The locations of a sweep, and the commands that show it in other tools."""

from __future__ import annotations

import shlex

from augury.core.naming import command, mlflow_command
from augury.core.store import Store
from augury.experiments.record import DESCRIPTION, RunRecord
from augury.experiments.recording import Tracking, mlflow_uri
from augury.sweeping.state import TUNE, Sweep


def locations(sweep: Sweep) -> dict[str, str]:
    """Return name -> the address where something is stored, or the command that shows it."""
    shown = {"storage": sweep.folder.root, "sweep": sweep.folder.uri}
    runs = (trial.folder for _, trial in sweep.trials if trial.folder.exists(DESCRIPTION))
    settings = next((RunRecord.read(run).parameters for run in runs), {})
    if settings.get("tracking.enabled", True):
        tracking = Tracking(uri=settings.get("tracking.uri"))
        shown["MLflow"] = mlflow_command(mlflow_uri(tracking, Store(sweep.folder.root)))
    if sweep.folder.exists(TUNE):
        shown["TensorBoard"] = command("tensorboard", "--logdir", sweep.folder.sub(TUNE).uri)
    return shown


def repeating(sweep: Sweep) -> str:
    """Return the command that runs a sweep again where it is stored; empty for one from Python."""
    return f"{sweep.command} --storage {shlex.quote(sweep.folder.root)}" if sweep.command else ""

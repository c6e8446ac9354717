"""Where a sweep lies, and the commands that show it in other tools."""

from __future__ import annotations

from augury.core.commands import command
from augury.core.store import Store
from augury.experiments import runs
from augury.experiments.tracking import Tracking, place
from augury.sweeping.state import Sweep

TUNE = "tune"  # where Ray Tune leaves its event files


def places(sweep: Sweep) -> dict[str, str]:
    """Names for people -> an address or a command."""
    found = {"storage": sweep.folder.root, "sweep": sweep.folder.uri}
    uri = _mlflow(sweep)
    if uri is not None:
        found["MLflow"] = uri if uri.startswith("http") else command("mlflow", "ui", "--backend-store-uri", uri)
        found["in MLflow"] = f"tags.augury.sweep = '{sweep.name}' and tags.augury.level = 'configuration'"
    if sweep.folder.exists(TUNE):
        found["TensorBoard"] = command("tensorboard", "--logdir", sweep.folder.sub(TUNE).uri)
    return found


def _mlflow(sweep: Sweep) -> str | None:
    """Where the runs are recorded; None where they are not."""
    described = [
        trial.folder for each in sweep.configurations for trial in each.trials if trial.folder.exists(runs.DESCRIPTION)
    ]
    settings = described[0].read_json(runs.DESCRIPTION)["parameters"] if described else {}
    if not settings.get("tracking.enabled", True):
        return None
    return place(Tracking(uri=settings.get("tracking.uri")), Store(sweep.folder.root)).uri

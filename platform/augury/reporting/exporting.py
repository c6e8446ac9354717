"""Export a trained run: the model for another library, with its card, an example and its
experiment file."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from pathlib import Path

from augury.core.directories import reset_permissions
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments.record import RunRecord
from augury.experiments.run import Run
from augury.experiments.task import Exported, Exports, capable
from augury.models.pretrained import hub_name
from augury.reporting import card
from augury.reporting.run_files import experiment_yaml

README, EXPERIMENT, EXAMPLE = "README.md", "experiment.yaml", "example.py"


def usual_name(run: Folder, form: str) -> str:
    """Return the default name of the directory of an exported model: `cipherdaug-seed-1-hf`."""
    record = RunRecord.read(run)
    return re.sub(r"[^\w.-]+", "-", f"{record.name}-seed-{record.seed}-{form}")


def export(run: Folder, store: Store, form: str, output: Path) -> Exported:
    """Write a run's model for another library into a new directory, which appears when it is
    complete; return what is known of it.

    UserError where the directory exists or cannot be made, where the task has no such form and
    where training has not ended.
    """
    if output.exists():
        raise UserError(f"'{output}' exists already: give another --output, or remove it")
    trained = Run.read(run)
    directory = output.with_name(f".tmp-{output.name}-{uuid.uuid4().hex[:8]}")
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise UserError(
            f"'{output}' cannot be made ({error.strerror}): give another --output"
        ) from error
    try:
        exported = capable(trained.experiment.task, Exports).export(trained, form, directory)
        if model := trained.experiment.pretrained:
            exported = exported._replace(base_model=hub_name(model.name))
        experiment = experiment_yaml(run, [trained.seed])
        (directory / EXPERIMENT).write_text(experiment, encoding="utf-8")
        (directory / EXAMPLE).write_text(exported.usage, encoding="utf-8")
        (directory / README).write_text(
            card.render(run, store, exported, EXPERIMENT), encoding="utf-8"
        )
        reset_permissions(directory)
        os.replace(directory, output)
        return exported
    finally:
        shutil.rmtree(directory, ignore_errors=True)

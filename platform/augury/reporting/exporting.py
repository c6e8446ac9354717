"""Export a trained run: the model for another library, with its card, an example and its
experiment file, and its upload to the Hugging Face hub."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import disable_progress_bars, enable_progress_bars, validate_repo_id

from augury.core.directories import reset_permissions
from augury.core.errors import UserError
from augury.core.naming import command
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
        assert experiment is not None, "a finished run keeps its experiment file"
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


def check_name(repository: str) -> None:
    """Raise UserError unless a repository has a name that the hub allows, NAME/MODEL."""
    try:
        validate_repo_id(repository)
    except HFValidationError as error:
        raise UserError(f"--push {repository}: {error}") from error
    if "/" not in repository:
        raise UserError(
            f"--push {repository}: give the owner too, NAME/MODEL, such as my-name/{repository}"
        )


def push(directory: Path, repository: str, private: bool = False) -> str:
    """Upload a directory to a model repository, made unless it exists; return its address.

    UserError where the hub cannot be reached or refuses.
    """
    api = HfApi()
    disable_progress_bars()
    try:
        made = api.create_repo(repository, private=private or None, exist_ok=True)
        api.upload_folder(
            folder_path=directory,
            repo_id=made.repo_id,
            commit_message=f"Export {directory.name} of Augury",
        )
    except Exception as error:  # from huggingface_hub and its HTTP library
        reason = " ".join(str(error).split())
        retry = command("hf", "upload", repository, str(directory))
        raise UserError(
            f"the export is in {directory}, and was not pushed to {repository} of {api.endpoint}: "
            f"{reason:.300}. Log in with `hf auth login` or HF_TOKEN, and continue with: {retry}"
        ) from error
    finally:
        enable_progress_bars()
    return str(made)

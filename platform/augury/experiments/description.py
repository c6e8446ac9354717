"""What is written down of a run: its experiment, what it reads, what it is made with; and the files to keep with it."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
import subprocess
from typing import Any

import yaml

from augury.core import config
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.experiments.experiment import Experiment
from augury.experiments.recording import File
from augury.experiments.runs import DESCRIPTION
from augury.experiments.trainable import Prepared

PACKAGES = ("augury", "torch", "ray", "transformers", "sentencepiece", "sacrebleu", "ctranslate2", "mlflow", "pyarrow")
EVALUATION = ("corpus.tests", "decoding", "scoring")
"""The settings of an experiment that concern a trained model."""


def describe(run: Folder, name: str, system: Experiment, prepared: Prepared, seed: int) -> None:
    """Write down what a run is: its experiment, inputs, parameters, and what it is made with."""
    run.write("experiment.yaml", _yaml(system.plain()))
    run.write_json("prepared.json", prepared.config)
    run.write_json(
        DESCRIPTION,
        {
            "name": name,
            "experiment": system.name,
            "address": prepared.address,
            "seed": seed,
            "task": system.task,
            "inputs": _inputs(prepared),
            "parameters": _parameters(system),
            "versions": {package: _version(package) for package in PACKAGES},
            "commit": _commit(os.getcwd()),
        },
    )


def describe_scores(run: Folder, system: Experiment, prepared: Prepared) -> None:
    """Bring up to date what a run's description says of test sets and scoring, which may change after training."""
    written, now = yaml.safe_load(run.read("experiment.yaml")), system.plain()
    written |= {section: now[section] for section in ("decoding", "scoring") if section in now}
    written["corpus"]["tests"] = now["corpus"]["tests"]
    run.write("experiment.yaml", _yaml(written))
    facts, parameters = run.read_json(DESCRIPTION), _parameters(system)
    trained = {key: value for key, value in facts["parameters"].items() if not key.startswith(EVALUATION)}
    scored = {key: value for key, value in parameters.items() if key.startswith(EVALUATION)}
    run.write_json(DESCRIPTION, facts | {"inputs": _inputs(prepared), "parameters": trained | scored})


def _yaml(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _inputs(prepared: Prepared) -> list[dict[str, Any]]:
    return [{"name": role, "address": address, "rows": rows} for role, address, rows in prepared.inputs]


def _parameters(system: Experiment) -> dict[str, Any]:
    return {key: value for key, value in config.flatten(system.plain()).items() if not key.startswith("systems")}


def artifacts(prepared: Prepared, store: Store) -> list[File]:
    """The files to keep with a run: vocabulary, what operators learned, manifests of corpora."""
    folders = {name: Folder(store.root, folder) for name, folder in prepared.artifacts.items()}
    files = [File(folder, file, name) for name, folder in folders.items() for file in folder.names() if file[0] != "_"]
    corpora = [
        File(store.folder(CORPORA, given.address), "manifest.json", f"corpora/{given.role}")
        for given in prepared.inputs
    ]
    return files + corpora


@functools.cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


@functools.cache
def _commit(directory: str) -> str | None:
    """The commit of a directory's repository, `+` where there are uncommitted changes: as this process found it."""
    if shutil.which("git") is None:
        return None
    found = subprocess.run(
        ["git", "-C", directory, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or None

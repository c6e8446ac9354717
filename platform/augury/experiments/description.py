"""Write the description of a run: its experiment, inputs and versions.

List the files to keep with it.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from augury.core import config, plugin_files, yaml_file
from augury.core.secrets import with_redacted_uris
from augury.corpora.corpus import KIND as CORPORA
from augury.experiments.run import Run, portable
from augury.experiments.spec import Experiment
from augury.runs.record import RunRecord, read_description
from augury.runs.recording import File

PACKAGES = (
    "augury",
    "torch",
    "ray",
    "transformers",
    "sentencepiece",
    "sacrebleu",
    "ctranslate2",
    "mlflow",
    "pyarrow",
)
EVALUATION = ("corpus.tests", "decoding", "scoring")
"""The settings of an experiment that concern a trained model."""


def describe(run: Run, name: str, differing: Sequence[str] = ()) -> None:
    """Write the description of a run: its experiment, inputs, parameters, versions and commit.

    `differing` are the parameters in which the systems of its experiment differ.
    """
    run.folder.write("experiment.yaml", _yaml(portable(run.experiment)))
    for file, content in plugin_files.sources(run.experiment.to_dict()).items():
        run.folder.sub(f"plugins/{file}".rpartition("/")[0]).write(Path(file).name, content)
    record = RunRecord(
        name=name,
        experiment=run.experiment.name,
        address=run.address,
        seed=run.seed,
        task=run.experiment.task,
        inputs=run.inputs,
        parameters=_parameters(run.experiment),
        differing=tuple(differing),
        versions={package: _version(package) for package in PACKAGES},
        commit=commit(),
    )
    record.write_description(run.folder, run.to_dict())


def differing_parameters(systems: Iterable[Experiment]) -> list[str]:
    """Return the dotted keys in which the systems of an experiment differ.

    Of the settings of an operator or a regime that only some systems have, those at their defaults
    are left out.
    """
    known = list(systems)
    parameters = [_parameters(system) for system in known]
    chosen = {key for system in known for key in _chosen(system)}
    keys = dict.fromkeys(key for of_system in parameters for key in of_system)
    differing = []
    for key in keys:
        values = [of_system.get(key) for of_system in parameters]
        everywhere = all(key in of_system for of_system in parameters)
        if (everywhere or key in chosen) and any(value != values[0] for value in values):
            differing.append(key)
    return differing


def _chosen(experiment: Experiment) -> set[str]:
    """Return the dotted keys of settings other than their defaults, and of the names of parts."""
    names = {key for key in _parameters(experiment) if key.endswith((".name", ".operator"))}
    return names | {*config.flatten(experiment.model_dump(mode="json", exclude_defaults=True))}


def describe_scores(run: Run) -> RunRecord:
    """Update test sets and scoring in the description of a run, which may change after training."""
    described, record = read_description(run.folder)["run"], RunRecord.read(run.folder)
    written, now = yaml_file.parse(run.folder.read("experiment.yaml")), portable(run.experiment)
    written |= {section: now[section] for section in ("decoding", "scoring") if section in now}
    written["corpus"]["tests"] = now["corpus"]["tests"]
    run.folder.write("experiment.yaml", _yaml(written))
    trained = {
        key: value for key, value in record.parameters.items() if not key.startswith(EVALUATION)
    }
    scored = {
        key: value
        for key, value in _parameters(run.experiment).items()
        if key.startswith(EVALUATION)
    }
    record = replace(record, inputs=run.inputs, parameters=trained | scored)
    changed = {"experiment": written, "inputs": run.to_dict()["inputs"]}
    record.write_description(run.folder, described | changed)
    return record


def artifacts(run: Run) -> list[File]:
    """Return the files to keep with a run: tokenizer, fitted data of operators, manifests of
    corpora."""
    folders = {
        name: run.stored_folder(folder)
        for name, folder in {"vocabulary": run.tokenizer, **run.fits}.items()
    }
    files = [
        File(folder, file, name)
        for name, folder in folders.items()
        for file in folder.names()
        if file[0] != "_"
    ]
    corpora = [
        File(run.store.folder(CORPORA, corpus.address), "manifest.json", f"corpora/{corpus.role}")
        for corpus in run.inputs
    ]
    return files + corpora


def _yaml(content: dict[str, Any]) -> str:
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return with_redacted_uris(text)


def _parameters(experiment: Experiment) -> dict[str, Any]:
    flat = config.flatten(portable(experiment))
    return {
        key: value
        for key, value in flat.items()
        if not key.startswith(("systems", "stages", "stage.after"))
    }


@functools.cache
def _version(package: str) -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


@functools.cache
def commit() -> str | None:
    """Return the commit of the working directory's repository at the first call, with `+` for
    uncommitted changes.

    To be called when a command starts: later the directory may have changed, or be gone.
    """
    try:
        directory = os.getcwd()
    except FileNotFoundError:
        return None
    if shutil.which("git") is None:
        return None
    described = subprocess.run(
        ["git", "-C", directory, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or None

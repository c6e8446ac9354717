"""The files of a run that reports read, and the experiment file that trains it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from augury.core.store import Folder
from augury.corpora import corpus as corpora
from augury.corpora.corpus import Corpus
from augury.experiments import runs

EXPERIMENT = "experiment.yaml"
ANALYSES = "analyses"
"""The folder in a run's of what `augury analyze` writes, a folder for every test set."""
PRIVATE = ("storage", "tracking")
"""Sections of an experiment file that name places on a machine, and nothing of the model."""


def described(run: Folder) -> bool:
    """Tell whether training has begun, so that `facts` are known."""
    return run.exists(runs.DESCRIPTION)


def facts(run: Folder) -> dict[str, Any]:
    """Return name, address, seed, task, inputs, parameters, versions and commit of a run."""
    return dict(run.read_json(runs.DESCRIPTION))


def made_with(facts: Mapping[str, Any]) -> str:
    """Return the commit, if it is known, and the versions of packages that trained a run, a line each."""
    versions = ", ".join(f"{package} {version}" for package, version in facts["versions"].items())
    return f"commit {facts['commit']}\n{versions}" if facts["commit"] else versions


def scored(run: Folder) -> bool:
    """Tell whether a run has scores."""
    return run.exists(runs.SCORES)


def scores(run: Folder) -> dict[str, Any]:
    """Return the scores of a run by test set, and its cost; both are empty where it is not scored."""
    return dict(run.read_json(runs.SCORES)) if scored(run) else {"tests": {}, "cost": {}}


def test_corpus(run: Folder, test: str) -> Corpus | None:
    """Return a test set that a run was scored on; None where it is gone."""
    inputs = {text["name"]: text["address"] for text in facts(run)["inputs"]}
    corpus = Corpus(Folder(run.root, f"{corpora.KIND}/{inputs.get(test)}"))
    return corpus if corpus.folder.complete else None


def analyses(run: Folder) -> dict[str, Folder]:
    """Return the folders of a run's analyses, by their names in the run's."""
    names = (f"{ANALYSES}/{name}" for name in run.sub(ANALYSES).subfolders())
    return {name: run.sub(name) for name in names}


def experiment(run: Folder, seeds: Iterable[int]) -> dict[str, Any]:
    """Return the settings that train the system of a run again with these seeds."""
    content = {key: value for key, value in yaml.safe_load(run.read(EXPERIMENT)).items() if key not in PRIVATE}
    content["execution"] = {**content["execution"], "address": None}
    return {**content, "seeds": list(seeds), "baseline": False, "systems": {}}


def experiment_yaml(run: Folder, seeds: Iterable[int]) -> str | None:
    """Return the same as a file; None where the run keeps none."""
    if not run.exists(EXPERIMENT):
        return None
    return str(yaml.safe_dump(experiment(run, seeds), sort_keys=False, allow_unicode=True))

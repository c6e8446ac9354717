"""Read the files of a run, and write the experiment file that trains it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from augury.augment.health import Health
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import Corpus
from augury.experiments import stored_runs
from augury.experiments.stored_runs import run_folder

EXPERIMENT = "experiment.yaml"
ANALYSES = "analyses"
"""The folder, within that of a run, where `augury analyze` writes a folder for every test set."""
PRIVATE = ("storage", "tracking")
"""Sections of an experiment file that describe a machine and not the model."""


def is_described(run: Folder) -> bool:
    """Return whether training has begun, so that `metadata` exists."""
    return run.exists(stored_runs.DESCRIPTION)


def metadata(run: Folder) -> dict[str, Any]:
    """Return name, address, seed, task, inputs, parameters, versions and commit of a run."""
    return dict(run.read_json(stored_runs.DESCRIPTION))


def operator_outputs(run: Folder) -> list[Health]:
    """Return the measures of what operators made for a run and for the stages before it, these
    first."""
    facts = metadata(run)
    described = facts.get("run", {})
    before = (
        run_folder(Store(run.root), described["before"], facts["seed"])
        if described.get("before")
        else None
    )
    earlier = operator_outputs(before) if before and is_described(before) else []
    return [*earlier, *map(Health.from_dict, described.get("health", ()))]


def format_versions(metadata: Mapping[str, Any]) -> str:
    """Return the commit, if it is known, and the versions of packages that trained a run, in two
    lines."""
    versions = ", ".join(
        f"{package} {version}" for package, version in metadata["versions"].items()
    )
    return f"commit {metadata['commit']}\n{versions}" if metadata["commit"] else versions


def is_scored(run: Folder) -> bool:
    """Return whether a run has scores."""
    return run.exists(stored_runs.SCORES)


def scores(run: Folder) -> dict[str, Any]:
    """Return the scores of a run by test set, and its cost; both are empty before it is scored."""
    return dict(run.read_json(stored_runs.SCORES)) if is_scored(run) else {"tests": {}, "cost": {}}


def test_corpus(run: Folder, test: str) -> Corpus | None:
    """Return a test set that a run was scored on; None where it no longer exists."""
    inputs = {text["name"]: text["address"] for text in metadata(run)["inputs"]}
    corpus = Corpus(Folder(run.root, f"{corpora.KIND}/{inputs.get(test)}"))
    return corpus if corpus.folder.complete else None


def analyses(run: Folder) -> dict[str, Folder]:
    """Return the folders of a run's analyses, by their names within the run's folder."""
    names = (f"{ANALYSES}/{name}" for name in run.sub(ANALYSES).subfolders())
    return {name: run.sub(name) for name in names}


def experiment(run: Folder, seeds: Iterable[int]) -> dict[str, Any]:
    """Return the settings that train the system of a run again with these seeds."""
    content = {
        key: value
        for key, value in yaml.safe_load(run.read(EXPERIMENT)).items()
        if key not in PRIVATE
    }
    content["execution"] = {**content["execution"], "address": None}
    return {**content, "seeds": list(seeds), "baseline": False, "systems": {}}


def experiment_yaml(run: Folder, seeds: Iterable[int]) -> str | None:
    """Return the settings of `experiment` as YAML; None where the run keeps none."""
    if not run.exists(EXPERIMENT):
        return None
    return str(yaml.safe_dump(experiment(run, seeds), sort_keys=False, allow_unicode=True))

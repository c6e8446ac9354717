"""The experiment file that trains a run again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from augury.core.store import Folder

PRIVATE = ("storage", "tracking")
"""Sections of an experiment file that name places on a machine, and nothing of the model."""


def experiment(run: Folder, seeds: Iterable[int]) -> dict[str, Any]:
    """Return the settings that train the system of a run again with these seeds."""
    content = {key: value for key, value in yaml.safe_load(run.read("experiment.yaml")).items() if key not in PRIVATE}
    content["execution"] = {**content["execution"], "address": None}
    return {**content, "seeds": list(seeds), "baseline": False, "systems": {}}


def experiment_yaml(run: Folder, seeds: Iterable[int]) -> str | None:
    """Return the same as a file; None where the run keeps none."""
    if not run.exists("experiment.yaml"):
        return None
    return str(yaml.safe_dump(experiment(run, seeds), sort_keys=False, allow_unicode=True))

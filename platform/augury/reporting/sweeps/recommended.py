"""The experiment file of the system that a sweep recommends, beside its reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from augury.core.store import Folder
from augury.reporting.run_files import EXPERIMENT, experiment
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, recommended
from augury.sweeping.schedulers import fresh_seeds

RECOMMENDED = "recommended.yaml"
SHARED = ("name", "task", "seeds", "baseline", "systems", "execution", "health")
"""Sections that the systems of an experiment do not change."""
HEAD = """\
# Sweep {sweep} recommends {name}{reference}.
# Its seeds took no part in the choice; runs that are there are found, not trained again.
"""


def recommend(summary: Summary) -> str | None:
    """Write the experiment file of the recommended system into the sweep's folder; return where it
    is.

    It trains that system and the reference, with the fresh seeds that confirm the choice. None
    where nothing is recommended, or where no run keeps its experiment.
    """
    sweep, result = summary.sweep, recommended(summary)
    if result is None:
        return None
    seeds = sweep.confirmation.seeds if sweep.confirmation else fresh_seeds(sweep.seeds)
    if result is summary.reference and sweep.confirmation is None:
        seeds = sweep.seeds
    content = recommended_yaml(sweep.name, result, summary.reference, seeds)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return sweep.folder.location(RECOMMENDED)


def recommended_yaml(
    sweep: str, chosen: ConfigurationResult, reference: ConfigurationResult, seeds: Iterable[int]
) -> str | None:
    """Return the experiment file that trains a configuration and, where it is another one, the
    reference, with these seeds; None where no run keeps its experiment."""
    seeds = list(seeds)
    content = _settings(chosen, seeds)
    if content is None:
        return None
    systems: dict[str, Any] = {chosen.name: {}}
    baseline = None if chosen.address == reference.address else _settings(reference, seeds)
    if baseline is not None:
        differing = {
            section: settings
            for section, settings in baseline.items()
            if section not in SHARED and settings != content[section]
        }
        systems = {reference.name: differing, **systems}
    text = yaml.safe_dump(
        {**content, "baseline": False, "systems": systems},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,  # lists of numbers in one line
        width=120,
    )
    against = f"; {reference.name} is what it is compared with" if baseline is not None else ""
    return HEAD.format(name=chosen.name, sweep=sweep, reference=against) + text


def _settings(result: ConfigurationResult, seeds: list[int]) -> dict[str, Any] | None:
    """Return the settings of a configuration as its first run keeps them."""
    runs: list[Folder] = [trial.folder for trial in result.configuration.trials]
    kept = next((run for run in runs if run.exists(EXPERIMENT)), None)
    return {**experiment(kept, seeds), "systems": {}} if kept else None

"""The experiment file of the system that a sweep recommends, beside its reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from augury.core import yaml_file
from augury.core.store import Folder
from augury.experiments.record import EXPERIMENT
from augury.reporting.run_files import experiment, system_name
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, recommended
from augury.sweeping.schedulers import fresh_seeds

RECOMMENDED = "recommended.yaml"
SHARED = ("name", "task", "seeds", "baseline", "systems", "execution", "health", "tracking")
"""Sections that the systems of an experiment do not change."""
HEAD = """\
# Sweep {sweep} recommends {name}{reference}.
# Runs that are there are found, not trained again.
"""


def recommend(summary: Summary) -> str | None:
    """Write the experiment file of the recommended system into the sweep's folder; return where it
    is.

    It trains that system and, where it is another one, the reference, with the fresh seeds that
    confirm the choice. None where nothing is recommended, or where no run keeps its experiment.
    """
    sweep, chosen, reference = summary.sweep, recommended(summary), summary.reference
    if chosen is None:
        return None
    seeds = sweep.confirmation.seeds if sweep.confirmation else fresh_seeds(sweep.seeds)
    if chosen is reference and sweep.confirmation is None:
        seeds = sweep.seeds
    content, baseline = _settings(chosen, seeds), _settings(reference, seeds)
    if content is None:
        return None
    systems, against = dict[str, Any](), ""
    if baseline is not None and chosen is not reference:
        systems[system_name(reference.name)] = {
            section: settings
            for section, settings in baseline.items()
            if section not in SHARED and settings != content[section]
        }
        against = f"; {system_name(reference.name)} is what it is compared with"
    name = system_name(chosen.name, systems)
    text = yaml.safe_dump(
        {**content, "baseline": False, "systems": {**systems, name: {}}},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,  # lists of numbers in one line
        width=120,
    )
    head = HEAD.format(name=name, sweep=sweep.name, reference=against)
    sweep.folder.write(RECOMMENDED, head + text)
    return sweep.folder.location(RECOMMENDED)


def _settings(result: ConfigurationResult, seeds: Sequence[int]) -> dict[str, Any] | None:
    """Return the settings of a configuration as its first run keeps them."""
    runs: list[Folder] = [trial.folder for trial in result.configuration.trials]
    kept = next((run for run in runs if run.exists(EXPERIMENT)), None)
    if kept is None:
        return None
    content = {**experiment(kept, seeds), "systems": {}}
    if not (yaml_file.parse(kept.read(EXPERIMENT)).get("tracking") or {}).get("enabled", True):
        content["tracking"] = {"enabled": False}  # it is trained in the same storage
    return content

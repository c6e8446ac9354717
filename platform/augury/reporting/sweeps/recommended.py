"""The experiment file of the system that a sweep recommends, beside its reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from augury import __version__
from augury.core.store import Folder
from augury.experiments.spec import Experiment, parse
from augury.reporting.run_files import EXPERIMENT, experiment
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, recommended
from augury.sweeping.schedulers import fresh_seeds

RECOMMENDED = "recommended.yaml"
SHARED = ("name", "task", "seeds", "baseline", "systems", "execution", "health")
"""Sections that the systems of an experiment do not change."""
HEAD = """\
# Sweep {sweep} recommends {name}{reference}.
# Its seeds took no part in the choice; runs that are there are found, not trained again. The rest
# has the defaults of Augury {version}: `augury config FILE --resolved` shows all.
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
    short = shortened(content)
    baseline = None if chosen.address == reference.address else _settings(reference, seeds)
    systems: dict[str, Any] = {chosen.name: {}}
    if baseline is not None:
        systems = {reference.name: _difference(short, baseline), **systems}
    text = yaml.safe_dump(
        {**short, "baseline": False, "systems": systems},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,  # lists of numbers in one line
        width=120,
    )
    against = f"; {reference.name} is what it is compared with" if baseline is not None else ""
    return HEAD.format(name=chosen.name, sweep=sweep, reference=against, version=__version__) + text


def _settings(result: ConfigurationResult, seeds: list[int]) -> dict[str, Any] | None:
    """Return the settings of a configuration as its first run keeps them."""
    runs: list[Folder] = [trial.folder for trial in result.configuration.trials]
    kept = next((run for run in runs if run.exists(EXPERIMENT)), None)
    return {**experiment(kept, seeds), "systems": {}} if kept else None


def _difference(short: Mapping[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the sections in which other settings differ from `short`, as those of a system."""
    less = shortened(other)
    return {
        section: less.get(section, other.get(section))
        for section in {**short, **less}
        if section not in SHARED and short.get(section) != less.get(section)
    }


def shortened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an experiment without those at their defaults; what they describe is
    the same.

    Names of operators and of the regime are kept. Where the shorter settings would be read as
    others, such as in a model that trains with defaults of its own, the section is kept as it is.
    """
    experiment = parse(dict(settings))
    full = experiment.to_dict()
    short = _without_defaults(experiment, full)
    read = parse(dict(short)).to_dict()
    for section, value in full.items():
        if read[section] != value:
            short[section] = value
    return short


def _without_defaults(experiment: Experiment, full: Mapping[str, Any]) -> dict[str, Any]:
    changed = experiment.model_dump(mode="json", exclude_defaults=True)
    required = [
        name for name, field in type(experiment).model_fields.items() if field.is_required()
    ]
    short = {
        section: changed.get(section, {})
        for section in full
        if section in changed or section in required
    }
    short |= {section: full[section] for section in ("name", "task", "seeds")}
    if "augment" in short:
        short["augment"] = [
            {"operator": operator["operator"], **kept}
            for operator, kept in zip(full["augment"], changed["augment"], strict=True)
        ]
    if "regime" in short:
        short["regime"] = {"name": full["regime"]["name"], **changed["regime"]}
    return short

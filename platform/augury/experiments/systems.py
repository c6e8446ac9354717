"""The systems of an experiment, each expanded once: stages, canonical form, inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from augury.core import config, yaml_file
from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.faults import Fault, InvalidSettings
from augury.core.naming import command
from augury.core.plugin_files import named_by_user
from augury.corpora.text_settings import EXTENSIONS
from augury.experiments.spec import SHARED, Experiment, parse

FIXED = (*SHARED, "task", "vocabulary", "baseline", "systems", "stages", "stage")
"""The sections that a stage cannot change."""


def load(path: str | Path, settings: Mapping[str, Any] | None = None) -> Experiment:
    """Return the experiment in a YAML file, with settings by dotted key in place of its own;
    UserError lists all faults by line, and by file where it extends another."""
    try:
        file = yaml_file.read(path)
    except UserError as error:
        if Path(path).suffix.lower() not in EXTENSIONS or not Path(path).is_file():
            raise
        draft = command("augury", "init", "my.yaml", "--train", str(path))
        raise UserError(f"{error}; an experiment for a table is written by {draft}") from error
    where = dict(file.places)
    for key in settings or {}:
        place = tuple(key.split("."))
        where = {other: line for other, line in where.items() if other[: len(place)] != place}
        where[place] = f"--set {key}"
        if place[-1] == "name":  # what is no such name is a fault of the section
            where[place[:-1]] = where[place]
    try:
        with named_by_user(*file.files):
            experiment = parse(config.merge(file.content, settings or {}), str(path))
            expand(experiment)  # raises for faults in any of them
    except InvalidSettings as error:
        raise error.in_file(str(path), where) from error
    return experiment


def metrics_of(experiments: Iterable[Experiment]) -> list[str]:
    """Return the metrics of experiments, each once, those of the first one first."""
    names = chain.from_iterable(experiment.scoring.metrics for experiment in experiments)
    return list(dict.fromkeys(names))


def expand(experiment: Experiment) -> dict[str, Experiment]:
    """Return the experiments, one per system, that an experiment consists of.

    The first is the baseline.
    """
    content = {
        **_written(experiment),
        "stages": experiment.stages,  # as written: its texts know the folder of their file
        "systems": {},
        "baseline": False,
    }
    if experiment.systems:
        return {
            name: _parse_system(name, dotted, content)
            for name, dotted in experiment.systems.items()
        }
    itself = last_stage(parse(content))
    if experiment.stages:
        plain = parse({**content, "stages": {}}, "the first stage")
    else:
        plain = parse(config.merge(content, experiment.plain_system()), "the baseline")
    if not experiment.baseline or plain == itself:
        return {experiment.name: itself}
    if experiment.name == "baseline":
        raise UserError(
            "name: 'baseline' is the name of the plain system: choose another, or set "
            "baseline=false"
        )
    return {"baseline": plain, experiment.name: itself}


def _written(experiment: Experiment) -> dict[str, Any]:
    """Return the settings that a user wrote, presets by their names: explicit defaults and values
    of a preset would override a preset that a system or a stage names."""
    content = experiment.model_dump(mode="json", exclude_unset=True)
    for name in ("training", "regime"):
        section = getattr(experiment, name)
        if section.preset is not None:
            preset = section.PRESETS[section.preset]
            own = {
                key: value
                for key, value in content[name].items()
                if key not in preset or getattr(section, key) != preset[key]
            }
            content[name] = {**own, "preset": section.preset}
    return content


def _parse_system(name: str, dotted: Mapping[str, Any], content: Mapping[str, Any]) -> Experiment:
    """Return the experiment of a system; its faults are reported at its own dotted keys."""
    try:
        return last_stage(parse(config.merge(content, dotted), f"system {name}"))
    except InvalidSettings as error:
        raise InvalidSettings(
            error.subject, [_locate_fault("systems", fault, name, dotted) for fault in error.faults]
        ) from error


def _locate_fault(section: str, fault: Fault, name: str, dotted: Mapping[str, Any]) -> Fault:
    """Return a fault of a system or a stage, placed at the dotted key that it comes from."""
    for key in dotted:
        parts = tuple(key.split("."))
        if fault.path and fault.path[: len(parts)] == parts[: len(fault.path)]:
            return fault._replace(path=(section, name, key, *fault.path[len(parts) :]))
    return fault if fault.path else fault._replace(path=(section, name))


def last_stage(experiment: Experiment) -> Experiment:
    """Return the last stage of an experiment, which holds those before it; UserError for a
    change of fixed settings."""
    content = {**_written(experiment), "stages": {}}
    for name, changes in experiment.stages.items():
        try:
            content = _next_stage(name, changes, content)
            experiment = parse(content, f"stage {name}")
        except InvalidSettings as error:
            faults = [
                fault._replace(path=fault.path[fault.path[:1] == ("stage",) :])
                for fault in error.faults
            ]
            raise InvalidSettings(
                error.subject, [_locate_fault("stages", fault, name, changes) for fault in faults]
            ) from error
    return experiment


def _next_stage(name: str, changes: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the stage after `before`, given the dotted keys that change."""
    carried = {"carry": changes["carry"]} if "carry" in changes else {}
    dotted = {key: value for key, value in changes.items() if key != "carry"}
    after = {
        key: value
        for key, value in before.items()
        if key not in (*SHARED, "baseline", "systems", "stages")
    }
    mutable = _changing_settings(getattr(parse(dict(before)), "model", None), "model.")
    for key in dotted:
        section = key.partition(".")[0]
        if section in FIXED or (section == "model" and key not in mutable):
            known = "corpus, augment, mixture, regime, training, validation, decoding, scoring"
            fault = (
                "a stage goes on with the model of the stage before: it can change "
                f"{', '.join([known, *mutable])}, and carry"
            )
            raise InvalidSettings(f"stage {name}", [Fault(tuple(key.split(".")), fault)])
    following = {key: value for key, value in before.items() if key != "stage"}
    return config.merge(following, dotted) | {"stage": {"name": name, **carried, "after": after}}


def _changing_settings(section: Any, prefix: str) -> list[str]:
    """Return the dotted keys of settings that a stage may change: classes of models list them."""
    keys = [f"{prefix}{name}" for name in getattr(section, "CHANGING", ())]
    if isinstance(section, Section):
        for name in type(section).model_fields:
            keys += _changing_settings(getattr(section, name), f"{prefix}{name}.")
    return keys


class Canonical(NamedTuple):
    """An experiment in which settings without effect have their defaults, and the reasons."""

    experiment: Experiment
    reasons: dict[str, str]
    """Dotted key -> the reason why the setting has no effect."""


def canonical(experiment: Experiment) -> Canonical:
    """Return the canonical form of an experiment, which is equal for all experiments that are the
    same.

    Sections say which of their settings have no effect (`Section.inactive`). Of several stages the
    last one is returned, with those before it in canonical form too.
    """
    experiment = last_stage(experiment)
    content = experiment.to_dict()
    if before := experiment.before:
        form = canonical(before).experiment
        content["stage"]["after"] = form.model_dump(mode="json", exclude={*SHARED})
    reasons = dict(_inactive_settings(experiment))
    for key in reasons:
        section: Any = content
        *above, name = key.split(".")
        for part in above:
            section = section[int(part)] if isinstance(section, list) else section[part]
        del section[name]
    return Canonical(parse(content), reasons)


def _inactive_settings(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted keys of settings without effect, with the reason, in all sections."""
    if isinstance(value, Section):
        inactive = value.inactive()
        yield from ((f"{prefix}{name}", reason) for name, reason in inactive.items())
        for name in type(value).model_fields:
            if name not in inactive:
                yield from _inactive_settings(getattr(value, name), f"{prefix}{name}.")
    elif isinstance(value, list | tuple | Mapping):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _inactive_settings(item, f"{prefix}{key}.")

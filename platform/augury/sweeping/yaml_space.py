"""Search spaces in YAML files: the fields of `SearchSpace`, with domains written as mappings.

`base` is an experiment, or the path of an experiment file relative to this one. A domain of Ray
Tune is its name with its arguments: `{loguniform: [0.1, 10]}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from augury.core import yaml_file
from augury.core.errors import UserError, unknown
from augury.core.faults import InvalidSettings
from augury.core.paths import absolute
from augury.core.plugin_files import is_stored
from augury.scoring.registry import lower_is_better
from augury.sweeping.declarations import SearchSpace

SUFFIXES = (".yaml", ".yml")
DOMAINS = ("uniform", "loguniform", "quniform", "qloguniform", "randint", "lograndint", "choice")
"""Domains of Ray Tune that a file can name."""


def is_yaml(name: str) -> bool:
    """Return whether a search space is given by the path of a YAML file."""
    return Path(name).suffix.lower() in SUFFIXES


def load(path: str) -> SearchSpace:
    """Return the search space in a YAML file; UserError lists all faults by line.

    Without `mode`, small values are the best of metrics such as loss, and large ones of others.
    """
    file = yaml_file.read(path)
    fields, files = dict(file.content), file.files
    if isinstance(base := fields.get("base"), str):
        experiment = yaml_file.read(absolute(base))
        fields["base"], files = experiment.content, (*files, *experiment.files)
    if not is_stored(path) and (stored := next(filter(is_stored, files), None)):
        raise UserError(f"{path} is based on '{stored}', which lies in a storage: copy it")
    if isinstance(metric := fields.get("metric"), str):
        lowest = lower_is_better(metric.rpartition("/")[2])
        fields.setdefault("mode", "min" if lowest else "max")
    for name in ("keys", "domains"):
        if isinstance(values := fields.get(name), Mapping):
            where = {key: f"{path}, {file.places.get((name, key), '')}" for key in values}
            fields[name] = _with_domains(values, where)
    try:
        return SearchSpace(**fields)
    except InvalidSettings as error:
        raise error.in_file(path, file.places) from error


def _with_domains(
    values: Mapping[str, Any], where: Mapping[str, str]
) -> Mapping[str, Any] | Callable[[str], Mapping[str, Any]]:
    """Return values by key, as a function if some are domains, whose library is imported late."""
    domains = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    for key, value in domains.items():
        if len(value) != 1 or not isinstance(next(iter(value.values())), list):
            raise UserError(
                f"{where[key]}: {key} is {value!r}: give a list of values, or one domain with its "
                "arguments, such as {loguniform: [0.1, 10]}"
            )
        for name in value:
            if name not in DOMAINS:
                raise UserError(f"{where[key]}: {key}: {unknown('domain', str(name), DOMAINS)}")
    if not domains:
        return values

    def at_scale(scale: str) -> Mapping[str, Any]:
        from ray import tune

        made = dict(values)
        for key, value in domains.items():
            ((name, arguments),) = value.items()
            domain = getattr(tune, name)
            try:
                made[key] = domain(arguments) if name == "choice" else domain(*arguments)
            except (TypeError, ValueError) as error:
                raise UserError(f"{where[key]}: {key}: {name} {arguments}: {error}") from error
        return made

    return at_scale

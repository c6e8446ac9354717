"""Search spaces in YAML files: the fields of `SearchSpace`; `base` is an experiment, or the path of
an experiment file relative to this one."""

from __future__ import annotations

from pathlib import Path

from augury.core import yaml_file
from augury.core.errors import UserError
from augury.core.faults import InvalidSettings
from augury.core.paths import absolute
from augury.core.plugin_files import is_stored
from augury.scoring.registry import lower_is_better
from augury.sweeping.declarations import SearchSpace

SUFFIXES = (".yaml", ".yml")


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
    try:
        return SearchSpace(**fields)
    except InvalidSettings as error:
        raise error.in_file(path, file.places) from error

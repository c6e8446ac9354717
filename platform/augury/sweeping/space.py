"""A search space at one of its scales: finding it by name or path, and the points of its grid."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augury.core import config, yaml_file
from augury.core.errors import UserError, unknown
from augury.core.faults import InvalidSettings
from augury.core.naming import command
from augury.core.paths import absolute
from augury.core.plugin_files import file_of, is_path, is_stored, named_by_user
from augury.experiments.spec import Direction
from augury.scoring.registry import lower_is_better
from augury.sweeping.declarations import (
    Point,
    SchedulerName,
    SearchSpace,
    at_scale,
    load_space,
)

UNTRAINED = {
    "decoding": "'augury train --set {key}=...' scores trained models again",
    "scoring": "'augury train --set {key}=...' scores trained models again",
    "execution": "it does not change results; '--set {key}=...' applies it to all trials",
    "tracking": "it does not change results; '--set {key}=...' applies it to all trials",
}
"""Sections that cannot be swept, and the alternative to suggest."""


@dataclass(frozen=True)
class Space:
    """A search space at a scale: a question, an experiment and the keys that are swept."""

    name: str
    """Used in file names."""
    question: str
    base: Mapping[str, Any]
    """The experiment at the scale."""
    scale: str
    keys: Mapping[str, Sequence[Any]]
    rows: Mapping[str, Point]
    """Named points."""
    metric: str
    mode: Direction
    seeds: tuple[int, ...]
    reference: Point | str | None
    """A point or the name of a row; None: the plain baseline."""
    scheduler: SchedulerName
    declared: str
    """What a command finds it by: its name, or the absolute path of its file."""
    families: Mapping[str, str] = field(default_factory=dict)
    """Row -> family of methods."""
    joins: bool = False
    """Whether the systems of an experiment that it is applied to are rows too."""
    experiment: str = ""
    """The experiment file whose settings `base` has (`sweeping.applied`), which leaves out what it
    does not allow; empty: `base` is the space's own."""


def find(name: str, scale: str | None = None) -> Space:
    """Return a search space at a scale, by default its first; `name` is a module of `search_spaces`
    or the path of a Python or YAML file.

    Raises UserError for an unknown name and for missing or invalid definitions.
    """
    with named_by_user(name):
        declared = _of_yaml(name) if _is_yaml(name) else load_space(name)
        return resolve(declared, name, scale)


def resolve(declared: SearchSpace, name: str, scale: str | None = None) -> Space:
    """Return a search space at a scale; error messages call it `name`."""
    if scale is not None and scale not in declared.scales:
        raise unknown(f"scale of search space '{name}'", scale, declared.scales)
    scale = scale or next(iter(declared.scales))
    keys = _keys(name, at_scale(declared.keys, scale))
    rows = _rows(name, at_scale(declared.rows, scale))
    if not keys and not rows:
        raise UserError(
            f"space '{name}' sweeps nothing: give 'keys' at least one dotted key, or 'rows' one row"
        )
    reference = declared.reference if declared.reference is not None else next(iter(rows), None)
    if isinstance(reference, str) and reference not in rows:
        raise unknown(f"reference of space '{name}'", reference, rows)
    file = file_of(name) if is_path(name) or _is_yaml(name) else None
    lowest = lower_is_better(declared.metric.rpartition("/")[2])
    as_declared = ("metric", "seeds", "joins", "scheduler")
    return Space(
        **{field: getattr(declared, field) for field in as_declared},
        mode=declared.mode or ("min" if lowest else "max"),
        name=file.stem if file else name.replace("/", "-"),
        question=" ".join(declared.question.split()),
        base=config.merge(declared.base, declared.scales[scale]),
        scale=scale,
        keys=keys,
        rows=rows,
        reference=reference,
        declared=str(file or name),
        families=declared.families() if declared.families else {},
    )


def points(space: Space) -> list[dict[str, Any]]:
    """Return the points of a grid, in a fixed order."""
    combinations = itertools.product(*space.keys.values()) if space.keys else []
    return [dict(zip(space.keys, values, strict=True)) for values in combinations]


def _is_yaml(name: str) -> bool:
    return Path(name).suffix.lower() in (".yaml", ".yml")


def _of_yaml(path: str) -> SearchSpace:
    """Return the search space in a YAML file, the fields of `SearchSpace`; UserError lists all
    faults by line.

    `base` is an experiment, or the path of an experiment file relative to this one.
    """
    file = yaml_file.read(path)
    fields, files = dict(file.content), file.files
    if "task" in fields and "question" not in fields:
        raise UserError(
            f"{path} is an experiment, not a search space: give the space before it, as in "
            f"{command('augury', 'sweep', 'augmentations', path)}"
        )
    if isinstance(base := fields.get("base"), str):
        experiment = yaml_file.read(absolute(base))
        fields["base"], files = experiment.content, (*files, *experiment.files)
    if not is_stored(path) and (stored := next(filter(is_stored, files), None)):
        raise UserError(f"{path} is based on '{stored}', which lies in a storage: copy it")
    try:
        return SearchSpace(**fields)
    except InvalidSettings as error:
        raise error.in_file(path, file.places) from error


def _keys(name: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    for key, values in keys.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UserError(f"space '{name}', key {key}: give a list of values, not {values!r}")
        if not values:
            raise UserError(
                f"space '{name}', key {key} has no values: list at least one, or leave the key out"
            )
        if remedy := UNTRAINED.get(key.partition(".")[0]):
            raise UserError(
                f"space '{name}', key {key} does not affect training: leave it out; "
                f"{remedy.format(key=key)}"
            )
    return dict(keys)


def _rows(name: str, rows: Any) -> dict[str, Point]:
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        raise UserError(
            f"space '{name}': rows must map names to dotted keys that override base, not be "
            f"{rows!r}"
        )
    return dict(rows)

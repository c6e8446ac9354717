"""The plan of a sweep: configurations with their addresses, and points that are the same experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.store import Store
from augury.experiments import preparation
from augury.experiments.canonical import canonical
from augury.experiments.experiment import Experiment, parse
from augury.sweeping.space import Space
from augury.sweeping.state import Merged

BASELINE = "baseline"


@dataclass(frozen=True)
class Planned:
    """A configuration to be trained."""

    name: str
    point: Mapping[str, Any]
    experiment: Experiment
    address: str

    def to_dict(self) -> dict[str, Any]:
        """Return what the sweep's folder keeps of it."""
        return {"name": self.name, "address": self.address, "point": dict(self.point)}


@dataclass
class Plan:
    """The configurations of a sweep, the reference first."""

    space: Space
    store: Store
    assignments: Mapping[str, Any]
    """Dotted keys that hold for all points."""
    configurations: dict[str, Planned] = field(default_factory=dict)
    """By address."""
    merged: list[Merged] = field(default_factory=list)

    def rename(self, renamed: Callable[[Planned], Planned]) -> None:
        """Give every configuration another address."""
        changed = [renamed(planned) for planned in self.configurations.values()]
        self.configurations = {planned.address: planned for planned in changed}

    def base(self) -> Experiment:
        """Return the experiment that the points change."""
        content = _one_system(config.merge(self.space.base, self.assignments), self.store)
        return parse(content, f"space {self.space.name}")

    def add(self, point: Mapping[str, Any], name: str | None = None) -> Planned:
        """Add the configuration of a point and return it, or return the one that is the same experiment."""
        name = name or title(point)
        content = config.merge(config.merge(self.space.base, self.assignments), point)
        return self._add(name, point, parse(_one_system(content, self.store), f"point {name}"))

    def add_reference(self) -> None:
        """Add what the others are compared with: a row, a point, or the plain system where that is another."""
        reference, content = self.space.reference, config.merge(self.space.base, self.assignments)
        if isinstance(reference, str):
            self.add(self.space.rows[reference], reference)
        elif reference is not None:
            self.add(reference)
        elif content.get("baseline", True) and (changes := self.base().plain_system()):
            plain = config.merge(_one_system(content, self.store), changes)
            self._add(BASELINE, {}, parse(plain, "the baseline"))

    def to_dict(self) -> dict[str, Any]:
        """Return the configurations, and which points are the same as another, as JSON-like values."""
        return {
            "configurations": [planned.to_dict() for planned in self.configurations.values()],
            "merged": [
                {"name": same.called, "point": same.point, "same_as": same.same_as, "reason": same.reason}
                for same in self.merged
            ],
        }

    def _add(self, name: str, point: Mapping[str, Any], experiment: Experiment) -> Planned:
        simplest = canonical(experiment, self.store)
        address = preparation.address(simplest.experiment, self.store)
        if (same := self.configurations.get(address)) is not None:
            if _scored(same.experiment) != _scored(simplest.experiment):
                raise UserError(
                    f"'{same.name}' and '{name}' of space '{self.space.name}' train one model and differ in how it is "
                    "scored: keep one of them; 'augury train --set decoding.beam=...' scores it again, without training"
                )
            if (same.name, dict(same.point)) != (name, dict(point)):
                self.merged.append(Merged(dict(point), same.name, _why(point, same.point, simplest.reasons), name))
            return same
        self.configurations[address] = planned = Planned(name, dict(point), simplest.experiment, address)
        return planned


def _scored(experiment: Experiment) -> list[Any]:
    """Return the settings of a run's scores, which are no part of its address."""
    return [experiment.plain().get(section) for section in ("decoding", "scoring")]


def _why(point: Mapping[str, Any], other: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    """Return why two points are one experiment, from the settings in which they differ."""
    differing = {key for key in point.keys() | other.keys() if point.get(key) != other.get(key)}
    dead = [
        f"{key} has no effect: {reason}"
        for key, reason in reasons.items()
        if any(other == key or other.startswith(f"{key}.") or key.startswith(f"{other}.") for other in differing)
    ]
    return "; ".join(dead) or "both come to the same run"


def make(
    space: Space,
    store: Store,
    assignments: Mapping[str, Any],
    listed: Sequence[Mapping[str, Any]],
    *,
    reference: bool = True,
) -> Plan:
    """Return the plan of the space's rows and the points listed, the reference in front unless that is not wanted."""
    plan = Plan(space, store, assignments)
    _check_sets(space, assignments)
    if reference:
        plan.add_reference()
    for name, row in space.rows.items():
        plan.add(row, name)
    for point in listed:
        plan.add(point)
    return plan


def _one_system(content: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Return an experiment of one system in this storage."""
    return {**content, "systems": {}, "baseline": False, "storage": store.root}


def _check_sets(space: Space, assignments: Iterable[str]) -> None:
    """Refuse a key that is swept, or changed by a row, and set for all points too."""
    changed = {*space.keys, *(key for row in space.rows.values() for key in row)}
    for key in assignments:
        if any(key == swept or key.startswith(f"{swept}.") for swept in changed):
            raise UserError(f"--set {key}: space '{space.name}' sweeps this key; leave it out, or sweep other keys")

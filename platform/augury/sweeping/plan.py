"""The options of a sweep and its plan: configurations by address, and points merged because they
are the same experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.plugin_files import named_by_user
from augury.core.store import Store
from augury.experiments import preflight
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment, parse
from augury.experiments.systems import canonical
from augury.sweeping.applied import LeftOut
from augury.sweeping.declarations import SchedulerName
from augury.sweeping.schedulers import fresh_seeds
from augury.sweeping.space import Space, points
from augury.sweeping.state import Merged


@dataclass(frozen=True)
class SweepOptions:
    """The options of one sweep command."""

    storage: str
    name: str
    seeds: tuple[int, ...]
    scheduler: SchedulerName = "all"
    at_once: int | None = None
    """Maximum number of concurrent trials; None: as many as fit."""
    budget: float | None = None
    """Seconds after which no trial is started."""
    confirm: int = 0
    """The number of fresh seeds with which the reference and the winner are trained once more."""
    rows: tuple[str, ...] = ()
    """The only rows that are trained, besides the reference; empty: all of the space, and of a race
    the combinations of the second round."""
    assignments: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys set for all trials (`--set`)."""
    command: str = ""
    """The command, as it was typed but without its storage; empty in Python."""

    @property
    def fresh_seeds(self) -> tuple[int, ...]:
        """The seeds of confirmation, which take no part in choosing."""
        return fresh_seeds(self.seeds, self.confirm)


@dataclass(frozen=True)
class Planned:
    """A configuration to train."""

    name: str
    point: Mapping[str, Any]
    experiment: Experiment
    address: str

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration's entry in the definition of the sweep."""
        return {"name": self.name, "address": self.address, "point": dict(self.point)}


@dataclass
class SweepPlan:
    """The configurations of a sweep, the reference first."""

    space: Space
    store: Store
    assignments: Mapping[str, Any]
    """Dotted keys set for all points."""
    configurations: dict[str, Planned] = field(default_factory=dict)
    """By address."""
    merged: list[Merged] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    """What the user's experiment does not allow of a space that is applied to it."""
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.graph = Graph(self.store)

    def base(self) -> Experiment:
        """Return the experiment that points override."""
        return parse(self._content({}), f"space {self.space.name}")

    def add(self, point: Mapping[str, Any], name: str | None = None) -> Planned:
        """Add the configuration of a point, or merge it with an equal one.

        Return the configuration.
        """
        name = name or title(point)
        return self._add(name, point, parse(self._content(point), f"point {name}"))

    def add_allowed(self, point: Mapping[str, Any], name: str | None = None) -> Planned | LeftOut:
        """Add the configuration of a point, unless its task or texts do not allow it."""
        known = set(self.configurations)
        try:
            planned = self.add(point, name)
            if planned.address not in known:
                preflight.check([planned.experiment], self.graph)
            return planned
        except UserError as error:
            for address in self.configurations.keys() - known:
                del self.configurations[address]  # in place: the driver reads the same mapping
            return LeftOut(name or title(point), " ".join(str(error).split()))

    def _content(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings at a point, of a single system in this storage."""
        content = config.merge(config.merge(self.space.base, self.assignments), point)
        return {**content, "systems": {}, "baseline": False, "storage": self.store.root}

    def add_reference(self) -> None:
        """Add the reference: the space's row or point, or else the plain baseline if the base
        differs from it."""
        reference, declared = self.space.reference, {**self.space.base, **self.assignments}
        if isinstance(reference, str):
            self.add(self.space.rows[reference], reference)
        elif reference is not None:
            self.add(reference)
        elif declared.get("baseline", True) and (changes := self.base().plain_system()):
            plain = parse(self._content(changes), "the baseline")
            self._add("baseline", {}, plain)

    def to_dict(self) -> dict[str, Any]:
        """Return the configurations and merged points as JSON-like values."""
        return {
            "configurations": [planned.to_dict() for planned in self.configurations.values()],
            "merged": [asdict(merged) for merged in self.merged],
            "left_out": [entry._asdict() for entry in self.left_out],
        }

    def _add(self, name: str, point: Mapping[str, Any], experiment: Experiment) -> Planned:
        plan = self.graph.plan(experiment)
        if (same := self.configurations.get(plan.address)) is not None:
            if _scoring_settings(same.experiment) != _scoring_settings(plan.experiment):
                raise UserError(
                    f"'{same.name}' and '{name}' of space '{self.space.name}' train the same "
                    "model and differ only in scoring: keep one of them; 'augury train --set "
                    "decoding.beam=...' scores a trained model again"
                )
            if (same.name, dict(same.point)) != (name, dict(point)):
                reason = _merge_reason(point, same.point, canonical(experiment).reasons)
                self.merged.append(Merged(dict(point), same.name, reason, name))
            return same
        planned = Planned(name, dict(point), plan.experiment, plan.address)
        self.configurations[plan.address] = planned
        return planned


def _scoring_settings(experiment: Experiment) -> list[Any]:
    """Return the settings that affect a run's scores but not its address."""
    return [experiment.to_dict().get(section) for section in ("decoding", "scoring")]


def _merge_reason(
    point: Mapping[str, Any], other: Mapping[str, Any], reasons: Mapping[str, str]
) -> str:
    """Return why two points are the same experiment, given why settings (`reasons`) have no
    effect."""
    differing = {key for key in point.keys() | other.keys() if point.get(key) != other.get(key)}
    ineffective = []
    for key, reason in reasons.items():
        # A reason may be of a section, and a difference of one of its settings, or the reverse.
        if any(_contains(key, other) or _contains(other, key) for other in differing):
            ineffective.append(f"{key} has no effect: {reason}")
    return "; ".join(ineffective) or "both resolve to the same run"


def make(space: Space, store: Store, assignments: Mapping[str, Any]) -> SweepPlan:
    """Return the plan of the reference, the space's rows and its points."""
    plan = SweepPlan(space, store, assignments)
    _check_assignments(space, assignments)
    with named_by_user(space.declared):
        plan.add_reference()
        for name, point in [*space.rows.items(), *((None, point) for point in points(space))]:
            if not space.experiment:
                plan.add(point, name)
            elif isinstance(added := plan.add_allowed(point, name), LeftOut):
                plan.left_out.append(added)
        for planned in plan.configurations.values():
            measured = planned.experiment.measured
            if measured and space.metric not in measured:
                raise UserError(
                    f"space '{space.name}' compares {space.metric}, which {planned.name} does not "
                    f"measure in validation: set metric to one of {', '.join(measured)}"
                )
    return plan


def _check_assignments(space: Space, assignments: Iterable[str]) -> None:
    """Raise UserError for a key that is set for all points and also swept or changed by a row."""
    swept = set(space.keys).union(*space.rows.values())
    for key in assignments:
        if any(key == other or key.startswith(f"{other}.") for other in swept):
            raise UserError(
                f"--set {key}: space '{space.name}' sweeps this key; leave it out, or sweep other "
                "keys"
            )


def _contains(section: str, key: str) -> bool:
    """Return whether a dotted key is that of a section or of a setting in it."""
    return f"{key}.".startswith(f"{section}.")

"""The options of a sweep and its plan: configurations by address, and points merged because they
are the same experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from augury.core import config
from augury.core.agreed_code import named_by_user
from augury.core.errors import UserError
from augury.core.naming import is_whole, title
from augury.core.store import Store
from augury.experiments import preflight
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment, parse
from augury.experiments.systems import missing_inputs
from augury.sweeping.applied import LeftOut
from augury.sweeping.declarations import SchedulerName, SearchName
from augury.sweeping.schedulers import AT_ONCE, fresh_seeds
from augury.sweeping.space import Space, sample
from augury.sweeping.state import Merged

BASELINE = "baseline"
RANDOM = 10
"""Points that are drawn at random before Optuna learns from scores (its default)."""


@dataclass(frozen=True)
class SweepOptions:
    """The options of one sweep command."""

    storage: str
    name: str
    seeds: tuple[int, ...]
    scheduler: SchedulerName = "all"
    search: SearchName = "grid"
    samples: int | None = None
    at_once: int | None = None
    """Maximum number of concurrent trials; None: as many as fit."""
    trials: int | None = None
    """Maximum number of trials to start."""
    budget: float | None = None
    """Seconds after which no trial is started."""
    fail_fast: bool = False
    confirm: int = 0
    """The number of fresh seeds with which the reference and the winner are trained once more."""
    rows: tuple[str, ...] = ()
    """The only rows that are trained, besides the reference; empty: all of the space, and of a race
    the combinations and tuned settings of later rounds."""
    worth: float = 0.0
    """Points of the metric that twice the training time has to bring."""
    assignments: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys set for all trials (`--set`)."""

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
class Plan:
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
    families: dict[str, str] = field(init=False)
    """Name of a configuration -> the family of methods that it belongs to."""
    suggested: list[Mapping[str, Any]] = field(default_factory=list)
    """The points that Optuna has suggested so far, those among them that are not valid too."""
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.families = dict(self.space.families)
        self.graph = Graph(self.store)

    def base(self) -> Experiment:
        """Return the experiment that points override."""
        return parse(self._content({}), f"space {self.space.name}")

    def add(self, point: Mapping[str, Any], name: str | None = None) -> Planned:
        """Add the configuration of a point, or merge it with an equal one.

        Return the configuration.
        """
        name = name or title(point)
        return self._add(name, point, self.parse_point(point, name))

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

    def parse_point(self, point: Mapping[str, Any], name: str = "") -> Experiment:
        """Return the experiment of a point."""
        return parse(self._content(point), f"point {name or title(point)}")

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
            self._add(*self._name_baseline(plain, changes), plain)

    def _name_baseline(
        self, plain: Experiment, changes: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Return the name and the point of the plain baseline, with its values of the swept keys
        that it has.

        It is a point of the space where it is the experiment that points override, else none.
        """
        settings, idle = plain.to_dict(), self.graph.canonical(plain).reasons
        values = {
            key: value_at(settings, key)
            for key in self.space.keys
            if not any(_contains(other, key) for other in (*changes, *idle))
        }
        if plain == self.base() and values:
            grid = self.space.grid
            if all(value in grid.get(key, ()) for key, value in values.items()):
                return title(values), values
            return f"default, {title(values)}", values
        return ", ".join([BASELINE, *([title(values)] if values else [])]), {}

    def to_dict(self) -> dict[str, Any]:
        """Return the configurations and merged points as JSON-like values."""
        return {
            "configurations": [planned.to_dict() for planned in self.configurations.values()],
            "merged": [asdict(merged) for merged in self.merged],
            "left_out": [entry._asdict() for entry in self.left_out],
        }

    def _add(self, name: str, point: Mapping[str, Any], experiment: Experiment) -> Planned:
        canonical_form = self.graph.canonical(experiment)
        address = self.graph.plan(canonical_form.experiment).address
        if (same := self.configurations.get(address)) is not None:
            if _scoring_settings(same.experiment) != _scoring_settings(canonical_form.experiment):
                raise UserError(
                    f"'{same.name}' and '{name}' of space '{self.space.name}' train the same "
                    "model and differ only in scoring: keep one of them; 'augury train --set "
                    "decoding.beam=...' scores a trained model again"
                )
            if (same.name, dict(same.point)) != (name, dict(point)):
                reason = _merge_reason(point, same.point, canonical_form.reasons)
                self.merged.append(Merged(dict(point), same.name, reason, name))
            return same
        self.configurations[address] = planned = Planned(
            name, dict(point), canonical_form.experiment, address
        )
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


def make(
    space: Space,
    store: Store,
    assignments: Mapping[str, Any],
    listed: Sequence[Mapping[str, Any]],
) -> Plan:
    """Return the plan of the reference, the space's rows and the listed points."""
    plan = Plan(space, store, assignments)
    _check_assignments(space, assignments)
    try:
        plan.add_reference()
        points = [
            *((point, name) for name, point in space.rows.items()),
            *((point, None) for point in listed),
        ]
        for point, name in points:
            if not space.experiment:
                plan.add(point, name)
            elif isinstance(added := plan.add_allowed(point, name), LeftOut):
                plan.left_out.append(added)
    except UserError as error:
        missing = missing_inputs(
            plan.parse_point(point) for point in (*space.rows.values(), *listed)
        )
        raise (UserError("\n".join(missing.values())) if len(missing) > 1 else error) from error
    return plan


def of_options(space: Space, options: SweepOptions, store: Store) -> Plan:
    """Return the plan that a sweep begins with: of points that Optuna suggests, the first ones."""
    if options.search != "optuna":
        listed = sample(space, options.samples)
    elif options.samples is None:
        raise UserError(
            "search optuna has no end of its own: give the number of points with --samples N"
        )
    else:
        listed = suggestions(space, [], [], min(AT_ONCE, options.samples))
    with named_by_user(space.declared):
        plan = make(space, store, options.assignments, listed)
    plan.suggested += listed
    return plan


def suggestions(
    space: Space,
    scored: Sequence[tuple[Mapping[str, Any], float]],
    known: Sequence[Mapping[str, Any]],
    count: int,
) -> list[dict[str, Any]]:
    """Return points of a space that Optuna suggests after those with scores."""
    from augury.sweeping.suggestions import suggest  # imports Optuna, which is slow

    return suggest(space.keys, scored, known, count, mode=space.mode, startup=RANDOM)


def _check_assignments(space: Space, assignments: Iterable[str]) -> None:
    """Raise UserError for a key that is set for all points and also swept or changed by a row."""
    swept = set(space.keys).union(*space.rows.values())
    for key in assignments:
        if any(key == other or key.startswith(f"{other}.") for other in swept):
            raise UserError(
                f"--set {key}: space '{space.name}' sweeps this key; leave it out, or sweep other "
                "keys"
            )


def value_at(settings: Any, key: str) -> Any:
    """Return the value of a dotted key; None where it is not set."""
    for part in key.split("."):
        if isinstance(settings, list):
            settings = settings[int(part)] if is_whole(part) and int(part) < len(settings) else None
        else:
            settings = settings.get(part) if isinstance(settings, Mapping) else None
    return settings


def _contains(section: str, key: str) -> bool:
    """Return whether a dotted key is that of a section or of a setting in it."""
    return f"{key}.".startswith(f"{section}.")

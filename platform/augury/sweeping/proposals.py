"""What the rounds after the first add to a sweep: points that Optuna suggests, or, in a race of
methods, combinations of the best and other values of the winner's main settings (weight, rate,
keys)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from augury.core import config
from augury.core.naming import title
from augury.core.progress import say
from augury.experiments.spec import Experiment
from augury.sweeping.applied import LeftOut
from augury.sweeping.declarations import MainSettings, Point
from augury.sweeping.plan import Plan, suggestions, value_at
from augury.sweeping.schedulers import AT_ONCE, Propose, Standings

COMBINED, TUNED = "combinations", "tuned settings"
"""The families of what later rounds of a race add."""
COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""
TUNING_ROUNDS = 2
"""How many rounds try other values of the main settings of what leads."""
TUNED_AT_ONCE = 3
"""Configurations of such a round; the next one learns from them."""
STARTUP = 4
"""Values of main settings, the winner's among them, that are drawn at random before Optuna learns
from scores."""


class Tuned(NamedTuple):
    """A configuration with other values of its main settings."""

    base: str
    """The address of the configuration with the default values."""
    values: Mapping[str, Any]


@dataclass
class Proposals:
    """Plans the configurations of the rounds after the first; `know` tells the graph and the
    definition of the sweep of them."""

    plan: Plan
    know: Callable[[], None]
    _tuned: dict[str, Tuned] = field(default_factory=dict)
    """By address."""

    def of_methods(self) -> list[Propose]:
        """Return the rounds of a race of methods after the first."""
        return [self._add_combinations, *[self._add_tuned] * TUNING_ROUNDS]

    def of_points(self, samples: int) -> list[Propose]:
        """Return the rounds that bring the number of suggested points to `samples`."""
        counts = [min(AT_ONCE, samples - begun) for begun in range(AT_ONCE, samples, AT_ONCE)]

        def add(count: int) -> Propose:
            return lambda standings: self._add_suggested(standings, count)

        return [add(count) for count in counts]

    def _add_suggested(self, standings: Standings, count: int) -> dict[str, list[str]]:
        scored = [
            (planned.point, standings[address])
            for address, planned in self.plan.configurations.items()
            if address in standings
        ]
        points = suggestions(self.plan.space, scored, self.plan.suggested, count)
        self.plan.suggested += points
        added = self._add({title(point): point for point in points}, "", "suggested")
        return {address: [] for address in added.values()}

    def _add_combinations(self, standings: Standings) -> dict[str, list[str]]:
        """Add combinations of the best rows of different families to the sweep; return the
        addresses of their configurations, with those of the rows."""
        space, addresses = self.plan.space, {}
        for address in standings:
            addresses[self.plan.configurations[address].name] = address
        combined = combined_rows(list(addresses), space.rows, space.families)
        points = {" + ".join(names): point for names, point in combined.items()}
        added = self._add(points, COMBINED, "second round")
        return {
            added[name]: [addresses[row] for row in names]
            for name, names in zip(points, combined, strict=True)
            if name in added
        }

    def _add_tuned(self, standings: Standings) -> dict[str, list[str]]:
        """Add the winner so far with other values of its main settings, as Optuna suggests them;
        return the addresses of their configurations, with that of the winner."""
        from augury.sweeping.suggestions import suggest  # imports Optuna, which is slow

        space = self.plan.space
        leader = next(iter(standings))
        base = self._tuned[leader].base if leader in self._tuned else leader
        winner = self.plan.configurations[base]
        sections = method_of(winner.experiment)
        domains = main_settings(sections, space.main_settings())
        if not domains:
            return {}
        default = {key: value_at(sections, key) for key in domains}
        rest = {
            key: value
            for key, value in winner.point.items()
            if key.partition(".")[0] not in sections
        }
        scored: list[tuple[Mapping[str, Any], float]] = [(default, standings[base])]
        scored += [
            (tuned.values, standings[address])
            for address, tuned in self._tuned.items()
            if address in standings and tuned.base == base
        ]
        points: dict[str, Mapping[str, Any]] = {}
        values_by_name: dict[str, Mapping[str, Any]] = {}
        known = [values for values, _ in scored]
        for values in suggest(
            domains, scored, known, TUNED_AT_ONCE, mode=space.mode, startup=STARTUP
        ):
            name = f"{winner.name}, {title(values)}"
            points[name] = {**rest, **config.merge(sections, values)}
            values_by_name[name] = {**default, **values}
        added = self._add(points, TUNED, "third round")
        self._tuned |= {added[name]: Tuned(base, values_by_name[name]) for name in added}
        return {address: [base] for address in added.values()}

    def _add(
        self, points: Mapping[str, Mapping[str, Any]], family: str, what: str
    ) -> dict[str, str]:
        """Add points by name to the sweep; return the addresses of those that are new, by name."""
        plan = self.plan
        added: dict[str, str] = {}
        for name, point in points.items():
            known = set(plan.configurations)
            planned = plan.add_allowed(point, name)
            if isinstance(planned, LeftOut):
                say(f"left out: {name}: {planned.reason}")
            elif planned.address not in known:
                added[name] = planned.address
                if family:
                    plan.families.setdefault(planned.name, family)
                say(f"{what}: {name}")
        self.know()
        return added


# ----- combinations


def combined_rows(
    ranking: Sequence[str], rows: Mapping[str, Point], families: Mapping[str, str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the best row with each of the next best of other families, by both names; best first.

    Rows are combined that have no more than one regime of their own: operators of both, in the
    order of the rows, under that regime.
    """
    combined: dict[tuple[str, str], dict[str, Any]] = {}
    known = [name for name in ranking if name in families]
    for position, name in enumerate(known):
        for other in known[position + 1 :]:
            point = _combination(rows[name], rows[other])
            if point and families[name] != families[other]:
                combined[name, other] = point
        if combined:  # those of worse rows would come with further ones only
            break
    return dict(list(combined.items())[:COMBINATIONS])


def _combination(point: Point, other: Point) -> dict[str, Any] | None:
    """Return the operators of two points under the regime of one; None where both have one."""
    regimes = [settings["regime"] for settings in (point, other)]
    trained = [regime for regime in regimes if regime.get("name", "plain") != "plain"]
    if len(trained) > 1:
        return None
    operators = [*point.get("augment", ()), *other.get("augment", ())]
    return {
        **point,
        **other,
        "augment": operators,
        "regime": trained[0] if trained else regimes[0],
    }


# ----- main settings


def main_settings(point: Point, declared: MainSettings) -> dict[str, Any]:
    """Return the dotted keys of a point's main settings, those of its regime and operators, with
    their domains or lists of values."""
    domains: dict[str, Any] = {}
    sections = {"regime": point.get("regime", {})}
    sections |= {f"augment.{place}": part for place, part in enumerate(point.get("augment", ()))}
    for section, settings in sections.items():
        name = settings.get("operator", settings.get("name"))
        if name in declared:
            setting, domain = declared[name]
            domains[f"{section}.{setting}"] = domain
    return domains


def method_of(experiment: Experiment) -> dict[str, Any]:
    """Return the regime and the operators of a system as JSON-like values."""
    return {
        "regime": experiment.regime.to_dict(),
        "augment": [operator.to_dict() for operator in experiment.augment],
    }

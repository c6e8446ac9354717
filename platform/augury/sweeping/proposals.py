"""What the later rounds of a race add to a sweep: combinations of the best, and tuned settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.progress import say
from augury.experiments import preflight
from augury.sweeping import main_settings
from augury.sweeping.plan import Plan
from augury.sweeping.rounds import TUNING_ROUNDS, combinations
from augury.sweeping.schedulers import Propose, Standings
from augury.sweeping.space import Space

COMBINED, TUNED = "combinations", "tuned settings"
"""The families of what later rounds add."""


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
    space: Space
    know: Callable[[], None]
    _tuned: dict[str, Tuned] = field(default_factory=dict)
    """By address."""

    @property
    def rounds(self) -> list[Propose]:
        """The rounds after the first, in order."""
        return [self._add_combinations, *[self._add_tuned] * TUNING_ROUNDS]

    def _add_combinations(self, standings: Standings) -> dict[str, list[str]]:
        """Add combinations of the best rows of different families to the sweep; return the
        addresses of their configurations, with those of the rows."""
        addresses = {self.plan.configurations[address].name: address for address in standings}
        combined = combinations(list(addresses), self.space.rows, self.space.families)
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
        leader = next(iter(standings))
        base = self._tuned[leader].base if leader in self._tuned else leader
        winner = self.plan.configurations[base]
        sections = main_settings.sections(winner.experiment)
        domains = main_settings.main_settings(sections, self.space.main_settings())
        if not domains:
            return {}
        default = main_settings.values_of(sections, domains)
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
        values_of: dict[str, Mapping[str, Any]] = {}
        for values in main_settings.suggest(domains, scored, mode=self.space.mode):
            name = f"{winner.name}, {title(values)}"
            points[name] = {**rest, **main_settings.with_values(sections, values)}
            values_of[name] = {**default, **values}
        added = self._add(points, TUNED, "third round")
        self._tuned |= {added[name]: Tuned(base, values_of[name]) for name in added}
        return {address: [base] for address in added.values()}

    def _add(
        self, points: Mapping[str, Mapping[str, Any]], family: str, what: str
    ) -> dict[str, str]:
        """Add points by name to the sweep; return the addresses of those that are new, by name."""
        plan = self.plan
        added: dict[str, str] = {}
        for name, point in points.items():
            before = set(plan.configurations)
            try:
                planned = plan.add(point, name)
                preflight.check([planned.experiment], plan.graph)
            except UserError as error:
                for address in set(plan.configurations) - before:
                    del plan.configurations[address]  # in place: the driver reads the same mapping
                say(f"left out: {name}: {error}")
                continue
            if planned.address not in before:
                added[name] = planned.address
                plan.families.setdefault(planned.name, family)
                say(f"{what}: {name}")
        self.know()
        return added

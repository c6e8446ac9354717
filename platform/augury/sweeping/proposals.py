"""What the later rounds of a race add to a sweep: combinations of the best, and tuned settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.progress import say
from augury.execution import preflight
from augury.sweeping import main_settings
from augury.sweeping.plan import Plan
from augury.sweeping.rounds import Propose, Standings, combinations
from augury.sweeping.space import Space

COMBINATIONS, TUNED = "combinations", "tuned settings"
"""The families of what later rounds add."""


@dataclass
class Proposals:
    """Plans the configurations of the rounds after the first; `write` keeps the definition of the
    sweep up to date."""

    plan: Plan
    space: Space
    seeds: Sequence[int]
    write: Callable[[], None]
    _tuned: str = ""
    """The configuration whose main settings the third round tunes."""
    _values: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The main settings of tuned configurations, by address."""

    @property
    def rounds(self) -> list[Propose]:
        """The rounds after the first, in order."""
        return [self._add_combinations, *[self._add_tuned] * main_settings.ROUNDS]

    def _add_combinations(self, standings: Standings) -> list[str]:
        """Add combinations of the best rows of different families to the sweep; return the
        addresses of their configurations."""
        names = [self.plan.configurations[address].name for address in standings]
        points = combinations(names, self.space.rows, self.space.families)
        return self._add(points, COMBINATIONS, "second round")

    def _add_tuned(self, standings: Standings) -> list[str]:
        """Add the winner of the first rounds with other values of its main settings, as Optuna
        suggests them; return the addresses of their configurations."""
        self._tuned = self._tuned or next(iter(standings))
        winner = self.plan.configurations[self._tuned]
        sections = main_settings.sections(winner.experiment)
        domains = main_settings.main_settings(sections, self.space.main_settings())
        if not domains:
            return []
        default = main_settings.values_of(sections, domains)
        rest = {
            key: value
            for key, value in winner.point.items()
            if key.partition(".")[0] not in sections
        }
        scored: list[tuple[Mapping[str, Any], float]] = [(default, standings[self._tuned])]
        scored += [
            (values, standings[address])
            for address, values in self._values.items()
            if address in standings
        ]
        points: dict[str, Mapping[str, Any]] = {}
        values_of: dict[str, Mapping[str, Any]] = {}
        for values in main_settings.suggest(domains, scored, mode=self.space.mode):
            name = f"{winner.name}, {title(values)}"
            points[name] = {**rest, **main_settings.with_values(sections, values)}
            values_of[name] = {**default, **values}
        added = self._add(points, TUNED, "third round")
        for address in added:
            self._values[address] = values_of[self.plan.configurations[address].name]
        return added

    def _add(self, points: Mapping[str, Mapping[str, Any]], family: str, what: str) -> list[str]:
        """Add points by name to the sweep; return the addresses of those that are new."""
        plan = self.plan
        before = set(plan.configurations)
        for name, point in points.items():
            try:
                planned = plan.add(point, name)
                preflight.check([planned.experiment], plan.graph)
            except UserError as error:
                say(f"left out: {name}: {error}")
                continue
            plan.families.setdefault(planned.name, family)
            plan.graph.add({planned.name: planned.experiment}, self.seeds)
            say(f"{what}: {name}")
        self.write()
        return [address for address in plan.configurations if address not in before]

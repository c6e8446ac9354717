"""Points suggested by an Optuna study; the value of a point is the mean over its seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, distribution_to_json
from optuna.trial import TrialState

from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import title
from augury.core.progress import say
from augury.core.rng import seed_of
from augury.core.store import Folder
from augury.sweeping.schedulers import Decision, Trial
from augury.sweeping.space import Space, rounded

DATABASE = "optuna.db"

AddPoint = Callable[[Mapping[str, Any]], str]
"""Adds a point to the sweep and returns the address of its configuration."""
POINTS_AT_ONCE = 2
"""Points that are trained side by side: the study learns from those before."""


class Suggested:
    """A scheduler that asks a study for points, and tells it the mean over a point's seeds.

    The study is in the sweep's folder, where optuna-dashboard can read it and a later command
    continues it; a space with other values has a study of its own.
    """

    def __init__(
        self,
        space: Space,
        sweep: Folder,
        fixed: Sequence[str],
        seeds: Sequence[int],
        samples: int,
        add: AddPoint,
    ):
        """Open the study and add the points it suggested before, at most `samples`; `fixed` are
        configurations that are trained anyway."""
        self.mode: Literal["max", "min"] = space.mode
        self.seeds, self.samples, self.add = list(seeds), samples, add
        self.decisions: list[Decision] = []
        self.distributions = distributions(space.domains, space.grid)
        self.study = _open_study(space, sweep, self.distributions)
        self._choices = {key: values for key, values in space.grid.items() if not storable(values)}
        self._values: dict[str, dict[int, float]] = {address: {} for address in fixed}
        """The values of configurations by seed; of the reference first."""
        self._failed: set[str] = set()
        self._closed = False
        self._points: dict[int, str] = {}
        """Number of a trial of the study -> address of its configuration."""
        known = self.study.get_trials(states=[TrialState.RUNNING, TrialState.COMPLETE])
        for trial in known[:samples]:
            self._add(trial.number, trial.params)

    def work(self) -> list[Trial]:
        """Return the missing seeds of the suggested points; ask for more points while there is
        room."""
        while (
            sum(not self._is_finished(address) for address in self._points.values())
            < POINTS_AT_ONCE
            and len(self._points) < self.samples
        ):
            suggestion = self.study.ask(self.distributions)
            self._add(suggestion.number, suggestion.params)
        return [
            Trial(address, seed)
            for address, values in self._values.items()
            for seed in self.seeds
            if address not in self._failed and seed not in values
        ]

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record the value of a seed, and tell the study of points that are finished."""
        self._values[configuration][seed] = value
        self._tell_study()

    def fail(self, configuration: str, seed: int) -> None:
        """Drop a configuration with a failed seed."""
        self._failed.add(configuration)
        self._tell_study()

    def choose(self) -> None:
        """Ask for no further points, and wait for none."""
        self._closed = True

    @property
    def finished(self) -> bool:
        """Whether all points that may be suggested are finished."""
        asked = len(self._points) >= self.samples
        return self._closed or (asked and all(map(self._is_finished, self._values)))

    @property
    def best(self) -> str | None:
        """The configuration with the best mean over all seeds; None before there is one."""
        means = {
            address: statistics.fmean(values.values())
            for address, values in self._values.items()
            if len(values) == len(self.seeds) and address not in self._failed
        }
        return (max if self.mode == "max" else min)(means, key=means.__getitem__, default=None)

    def _add(self, number: int, params: Mapping[str, Any]) -> None:
        """Add a point; an invalid one only fails its trial in the study."""
        point = {
            key: self._choices[key][value] if key in self._choices else rounded(value)
            for key, value in params.items()
        }
        try:
            self._points[number] = self.add(point)
            self._values.setdefault(self._points[number], {})
            self._tell_study()  # an equal point may have been trained before
        except UserError as error:
            say(f"{title(point)} is skipped: {error}")
            self.study.tell(number, None, state=TrialState.FAIL, skip_if_finished=True)
            self._points[number] = f"point {number}"
            self._failed.add(f"point {number}")

    def _is_finished(self, address: str) -> bool:
        values = self._values.get(address, {})
        return address in self._failed or len(values) == len(self.seeds)

    def _tell_study(self) -> None:
        for number, address in self._points.items():
            if self._is_finished(address):
                failed = address in self._failed
                value = None if failed else statistics.fmean(self._values[address].values())
                state = TrialState.FAIL if failed else None
                self.study.tell(number, value, state=state, skip_if_finished=True)


def distributions(
    domains: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]
) -> dict[str, BaseDistribution]:
    """Return Optuna's distributions of keys with domains of Ray Tune and with lists of values.

    Values its database cannot store are drawn by index.
    """
    from ray.tune.search.optuna import OptunaSearch

    by_key: dict[str, BaseDistribution] = OptunaSearch.convert_search_space(dict(domains))
    for key, values in grid.items():
        by_key[key] = CategoricalDistribution(
            list(values) if storable(values) else list(range(len(values)))
        )
    return by_key


def storable(values: Sequence[Any]) -> bool:
    """Return whether Optuna can keep values as they are."""
    return all(value is None or isinstance(value, bool | int | float | str) for value in values)


def _open_study(
    space: Space, sweep: Folder, by_key: Mapping[str, BaseDistribution]
) -> optuna.Study:
    """Return the study of exactly these distributions: Optuna cannot continue a study with other
    choices."""
    if not sweep.is_local:
        raise UserError(
            f"search optuna keeps its study in a SQLite file, which {sweep.uri} cannot hold: use "
            "--storage with a directory, or --search random"
        )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    database = f"sqlite:///{sweep.path(DATABASE)}"
    identity = {
        "keys": {
            key: space.grid.get(key) or distribution_to_json(values)
            for key, values in by_key.items()
        },
        "metric": space.metric,
        "mode": space.mode,
    }
    name = f"{sweep.name.rpartition('/')[2]}-{config.address(identity)}"
    others = [other for other in optuna.get_all_study_names(database) if other != name]
    study = optuna.create_study(
        storage=database,
        study_name=name,
        load_if_exists=True,
        direction={"max": "maximize", "min": "minimize"}[space.mode],
    )
    if others and not study.trials:
        say(
            f"search optuna starts a new study: those in {database} have other values or another "
            "metric"
        )
    # A continued study must not repeat its first draws.
    seed = seed_of("optuna", space.name, len(study.trials)) % 2**32
    study.sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    return study

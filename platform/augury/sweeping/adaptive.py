"""Points suggested by an Optuna study; the value of a point is the mean over its seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
from augury.sweeping.race import RungDecision, Work
from augury.sweeping.space import Space, rounded

DATABASE = "optuna.db"

PreparePoint = Callable[[Mapping[str, Any]], str]
"""Plans and prepares a point and returns the address of its configuration."""


class OptunaScheduler:
    """Asks a study for a point whenever there is room, and tells it the mean over the point's
    seeds.

    The study is in the sweep's folder, where optuna-dashboard can read it and a later command
    continues it; a space with other values has a study of its own. Points are prepared one at a
    time while other trials run.
    """

    def __init__(
        self,
        space: Space,
        sweep: Folder,
        fixed: Sequence[str],
        seeds: Sequence[int],
        samples: int,
        at_once: int,
        prepare: PreparePoint,
    ):
        """Open the study and prepare the points it suggested before, at most `samples`; `fixed`
        are trained anyway."""
        self.mode: Literal["max", "min"] = space.mode
        self.fixed = list(fixed)
        self.seeds = list(seeds)
        self.samples = samples
        self.at_once = at_once
        self.prepare = prepare
        self.distributions = distributions(space.domains, space.grid)
        self.study = _open_study(space, sweep, self.distributions)
        self.decisions: list[RungDecision] = []
        self.eliminated: set[str] = set()
        self._choices = {key: values for key, values in space.grid.items() if not storable(values)}
        self._values: dict[str, dict[int, float]] = {}
        self._executor = ThreadPoolExecutor(1, "prepare")
        self._points: dict[int, Future[str]] = {}
        """Number of a trial in the study -> address of its configuration."""
        self._told: set[int] = set()
        for trial in self.study.get_trials(states=[TrialState.RUNNING, TrialState.COMPLETE])[
            :samples
        ]:
            self._submit(trial.number, trial.params)
        wait(self._points.values())

    def work(self) -> list[Work]:
        """Return the missing seeds of the suggested points.

        Ask for more points while there is room.
        """
        self._tell_study()
        unfinished = [
            future for future in self._points.values() if not self._point_finished(future)
        ]
        while len(unfinished) * len(self.seeds) < self.at_once and len(self._points) < self.samples:
            suggestion = self.study.ask(self.distributions)
            self._submit(suggestion.number, suggestion.params)
            unfinished.append(self._points[suggestion.number])
        ready = [future.result() for future in unfinished if future.done()]
        work = []
        for address in dict.fromkeys([*self.fixed, *ready]):
            if address not in self.eliminated:
                missing = [seed for seed in self.seeds if seed not in self._values.get(address, {})]
                work += [Work(address, seed, 0) for seed in missing]
        return work

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the final value of a seed."""
        self._values.setdefault(configuration, {})[seed] = value
        self._tell_study()

    def fail(self, configuration: str, seed: int) -> None:
        """Drop a configuration with a failed seed."""
        self.eliminated.add(configuration)
        self._tell_study()

    @property
    def finished(self) -> bool:
        """Return whether all points that may be suggested are finished."""
        self._tell_study()
        if len(self._points) < self.samples:
            return False
        return all(map(self._point_finished, self._points.values())) and all(
            map(self._finished, self.fixed)
        )

    def _submit(self, number: int, params: Mapping[str, Any]) -> None:
        point = {
            key: self._choices[key][value] if key in self._choices else rounded(value)
            for key, value in params.items()
        }
        self._points[number] = self._executor.submit(self._prepare, number, point)

    def _prepare(self, number: int, point: Mapping[str, Any]) -> str:
        """Return the address of a point; an invalid point only fails its trial in the study."""
        try:
            return self.prepare(point)
        except UserError as error:
            say(f"{title(point)} is skipped: {error}")
            self.study.tell(number, None, state=TrialState.FAIL, skip_if_finished=True)
            self.eliminated.add(f"point {number}")
            return f"point {number}"

    def _point_finished(self, future: Future[str]) -> bool:
        return future.done() and self._finished(future.result())

    def _finished(self, address: str) -> bool:
        return address in self.eliminated or len(self._values.get(address, {})) == len(self.seeds)

    def _tell_study(self) -> None:
        """Tell the study of points that are finished, also of those that others had trained
        before."""
        for number in [number for number in self._points if number not in self._told]:
            if self._point_finished(self._points[number]):
                address = self._points[number].result()
                failed = address in self.eliminated
                value = None if failed else statistics.fmean(self._values[address].values())
                self.study.tell(
                    number, value, state=TrialState.FAIL if failed else None, skip_if_finished=True
                )
                self._told.add(number)


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

"""Points that an Optuna study suggests: a point is judged by the mean over its seeds."""

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
from augury.sweeping.points import rounded
from augury.sweeping.race import Verdict, Work
from augury.sweeping.space import Space

DATABASE = "optuna.db"

Admit = Callable[[Mapping[str, Any]], str]
"""Plans and prepares a point; the address of its configuration."""


class Suggestions:
    """A scheduler that asks the study for a point when there is room, and tells it the mean.

    The study lies in the sweep's folder, where optuna-dashboard reads it and a later command continues it; a space with
    other values has a study of its own. Points are prepared beside the trials that run, one at a time.
    """

    def __init__(
        self,
        space: Space,
        sweep: Folder,
        fixed: Sequence[str],
        seeds: Sequence[int],
        samples: int,
        at_once: int,
        admit: Admit,
    ):
        """`fixed` are configurations that are trained whatever the study suggests.

        The first `samples` points of the study are admitted at once.
        """
        self.mode: Literal["max", "min"] = space.mode
        self.fixed, self.seeds, self.samples, self.at_once, self.admit = (
            list(fixed),
            list(seeds),
            samples,
            at_once,
            admit,
        )
        self.distributions = distributions(space)
        self.study = _study(space, sweep, self.distributions)
        self.decisions: list[Verdict] = []
        self.out: set[str] = set()
        self._choices = {key: values for key, values in space.grid.items() if not _storable(values)}
        self._values: dict[str, dict[int, float]] = {}
        self._preparing = ThreadPoolExecutor(1, "prepare")
        self._open: dict[int, Future[str]] = {}
        for earlier in self.study.get_trials(states=[TrialState.RUNNING, TrialState.COMPLETE])[:samples]:
            self._admit(earlier.number, earlier.params)
        wait(self._open.values())

    def _admit(self, number: int, params: Mapping[str, Any]) -> None:
        point = {
            key: self._choices[key][value] if key in self._choices else rounded(value) for key, value in params.items()
        }
        self._open[number] = self._preparing.submit(self._try, number, point)

    def _try(self, number: int, point: Mapping[str, Any]) -> str:
        """Return the address of a point; one that is no experiment, or cannot be prepared, fails in the study alone."""
        try:
            return self.admit(point)
        except UserError as error:
            say(f"{title(point)} cannot be tried: {error}")
            self.study.tell(number, None, state=TrialState.FAIL, skip_if_finished=True)
            self.out.add(f"point {number}")
            return f"point {number}"

    def work(self) -> list[Work]:
        """Return the seeds that are missing of the points asked for; ask for more while there is room."""
        unfinished = [future for future in self._open.values() if not self._ended(future)]
        while len(unfinished) * len(self.seeds) < self.at_once and len(self._open) < self.samples:
            suggestion = self.study.ask(self.distributions)
            self._admit(suggestion.number, suggestion.params)
            unfinished.append(self._open[suggestion.number])
        ready = [future.result() for future in unfinished if future.done()]
        return [
            Work(address, seed, 0)
            for address in dict.fromkeys([*self.fixed, *ready])
            if address not in self.out
            for seed in self.seeds
            if seed not in self._values.get(address, {})
        ]

    def _ended(self, future: Future[str]) -> bool:
        if not future.done():
            return False
        return self._known(future.result())

    def _known(self, address: str) -> bool:
        return address in self.out or len(self._values.get(address, {})) == len(self.seeds)

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Take the value of a seed that has ended."""
        self._values.setdefault(configuration, {})[seed] = value
        if len(self._values[configuration]) == len(self.seeds):
            self._conclude(configuration, statistics.fmean(self._values[configuration].values()))

    def fail(self, configuration: str, seed: int) -> None:
        """Give up a configuration of which a seed has failed."""
        self.out.add(configuration)
        self._conclude(configuration, None)

    def _conclude(self, configuration: str, value: float | None) -> None:
        for number, future in self._open.items():
            if future.done() and future.result() == configuration:
                state = TrialState.FAIL if value is None else None
                self.study.tell(number, value, state=state, skip_if_finished=True)

    @property
    def over(self) -> bool:
        """Return whether all points that may be asked for have ended."""
        ended = all(map(self._ended, self._open.values())) and all(map(self._known, self.fixed))
        return ended and len(self._open) >= self.samples


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return the keys of a space as Optuna draws them; values that its database cannot hold by their position."""
    from ray.tune.search.optuna import OptunaSearch

    drawn: dict[str, BaseDistribution] = OptunaSearch.convert_search_space(dict(space.domains))
    for key, values in space.grid.items():
        drawn[key] = CategoricalDistribution(list(values) if _storable(values) else list(range(len(values))))
    return drawn


def _storable(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, bool | int | float | str) for value in values)


def _study(space: Space, sweep: Folder, drawn: Mapping[str, BaseDistribution]) -> optuna.Study:
    """Return the study of exactly these values: Optuna cannot go on in one whose choices are others."""
    if not sweep.is_local:
        raise UserError(
            f"search optuna keeps its study in a SQLite file, which {sweep.uri} cannot hold: give --storage a "
            "directory, or draw points with --search random"
        )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    database = f"sqlite:///{sweep.path(DATABASE)}"
    name = (
        sweep.name.rpartition("/")[2]
        + "-"
        + config.address(
            {
                "keys": {key: space.grid.get(key) or distribution_to_json(values) for key, values in drawn.items()},
                "metric": space.metric,
                "mode": space.mode,
            }
        )
    )
    others = [other for other in optuna.get_all_study_names(database) if other != name]
    study = optuna.create_study(
        storage=database,
        study_name=name,
        load_if_exists=True,
        direction={"max": "maximize", "min": "minimize"}[space.mode],
    )
    if others and not study.trials:
        say(f"search optuna begins anew: {database} knows points of other values or another metric alone")
    # A study that is continued must not draw its first points again.
    seed = seed_of("optuna", space.name, len(study.trials)) % 2**32
    study.sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    return study

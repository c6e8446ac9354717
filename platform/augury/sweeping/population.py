"""Population-based training: trials that fall behind continue from a better trial's weights with
perturbed values.

A member's values change while it trains, so its run is addressed by its population and initial
point instead of its settings, and its values are metrics of its history (`value/regime.beta`).
Members depend on each other: a population with other members or seeds trains all of them anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import torch
from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import PopulationBasedTraining
from ray.tune.search import BasicVariantGenerator
from ray.tune.search.sample import Categorical

from augury.core import config
from augury.core.errors import UserError
from augury.core.locks import locked
from augury.core.mutability import fixed_reason, mutable_keys
from augury.core.naming import title
from augury.core.rng import generator
from augury.core.store import Folder
from augury.core.temporary import scratch
from augury.core.working_directory import in_this_directory
from augury.experiments.spec import Experiment, parse
from augury.sweeping import ray_executor
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.plan import Planned
from augury.sweeping.ray_executor import CONFIGURATION, SEED, RayExecutor
from augury.sweeping.space import Space, rounded
from augury.sweeping.trial import TrialSettings
from augury.training.checkpoint import STATE
from augury.training.history import History
from augury.training.trained import FAILURE

EXCHANGES = 5
"""Number of exchanges between the members of a population during training."""
VALUE = "value/"
"""Prefix of the metrics that record a member's values."""


def check(space: Space, launcher: str, members: Sequence[Experiment]) -> None:
    """Raise UserError unless population-based training is possible with this space and launcher."""
    if launcher != "direct":
        raise UserError(
            "scheduler pbt copies checkpoints through Tune, which does not see those of Ray Train "
            "workers: it would be plain random search; set training.workers=1 and "
            "execution.launcher=auto, or use --scheduler halving"
        )
    if not space.mutations:
        raise UserError(
            "scheduler pbt needs values that may change: define 'mutations' in space "
            f"'{space.name}'"
        )
    allowed = dict.fromkeys(chain.from_iterable(map(mutable_keys, members)))

    def refuse(key: str, reason: str) -> None:
        raise UserError(
            f"'{key}' cannot change during training: {reason}. A population of space "
            f"'{space.name}' may change and sweep {', '.join(allowed)}; sweep other keys with "
            "--scheduler halving or all"
        )

    for key in space.mutations:
        if reason := fixed_reason(members[0], key):
            refuse(key, reason)
    samples = {key: _sample(key, values) for key, values in _mutations(space).items()}
    for number in range(max(map(len, samples.values()))):
        drawn = {key: values[number % len(values)] for key, values in samples.items()}
        for experiment in members:
            parse(
                config.merge(experiment.to_dict(), drawn),
                f"space '{space.name}' with the mutations {title(drawn)}",
            )
    for key in dict.fromkeys([*space.mutations, *space.keys]):
        if key not in allowed:
            refuse(key, "all members share the data, the model sizes and the test sets")


def address(sweep: str, space: Space, configurations: Iterable[str], seeds: Iterable[int]) -> str:
    """Return the address of a population, a hash of everything that determines how its members
    train."""
    mutations = {
        key: values if isinstance(values, list) else _sample(key, values)
        for key, values in _mutations(space).items()
    }
    return config.address(
        {
            "sweep": sweep,
            "configurations": sorted(configurations),
            "seeds": sorted(seeds),
            "mutations": mutations,
            "metric": space.metric,
            "mode": space.mode,
        }
    )


def member(planned: Planned, population: str) -> Planned:
    """Return a configuration as the initial point of members of a population."""
    return replace(
        planned, address=config.address({"population": population, "begins": planned.address})
    )


def _mutations(space: Space) -> dict[str, Any]:
    """Return the mutations, choices as lists: Ray moves to a neighbour in a list and multiplies
    other values."""
    return {
        key: list(values.categories if isinstance(values, Categorical) else values)
        if isinstance(values, Categorical | Sequence)
        else values
        for key, values in space.mutations.items()
    }


def _sample(key: str, values: Any) -> list[Any]:
    """Return the values of a list, or a fixed sample of a domain."""
    random = generator("mutations", key)
    drawn = (
        values
        if isinstance(values, list)
        else [values.sample(random_state=random) for _ in range(8)]
    )
    return [rounded(value) for value in drawn]


class PopulationExecutor(RayExecutor):
    """Trains a population with exchanges between its members."""

    address: str
    """The address of the population, once its members are known."""

    def __init__(self, space: Space, experiments: Sequence[Experiment], directory: str):
        """Place the members; Tune keeps its files in `directory`."""
        super().__init__(experiments, None, directory)
        self.space = space

    def run(self, dispatcher: Dispatcher, settings: TrialSettings) -> None:
        """Train the population to the end; an interrupted one is restored."""
        _ProgressCallback.dispatcher = dispatcher
        function = tune.with_resources(
            tune.with_parameters(in_this_directory(train), settings=settings),
            dict(self.placed.resources),
        )
        name = f"population-{self.address}"
        path, log = f"{self.directory}/{name}", ray_executor.log_of(self.directory)
        if tune.Tuner.can_restore(path):
            with ray_executor.quiet_tune(log):
                restored = tune.Tuner.restore(
                    path, function, resume_unfinished=True, restart_errored=True
                )
                restored.fit()
            return
        members = [
            {
                CONFIGURATION: key.configuration,
                SEED: key.seed,
                **_values(dispatcher.start(key), self.space),
            }
            for key in dispatcher.wanted()
        ]
        mutations = _mutations(self.space)
        domains = {
            key: tune.choice(values) if isinstance(values, list) else values
            for key, values in mutations.items()
        }
        validations = self.experiments[0].training.validations or 1
        tuner = tune.Tuner(
            function,
            param_space={
                CONFIGURATION: tune.choice([member[CONFIGURATION] for member in members]),
                SEED: tune.choice([member[SEED] for member in members]),
                **domains,
            },
            tune_config=tune.TuneConfig(
                num_samples=len(members),
                search_alg=BasicVariantGenerator(points_to_evaluate=members),
                reuse_actors=True,
                trial_name_creator=ray_executor.name_of,
                trial_dirname_creator=ray_executor.name_of,
                scheduler=PopulationBasedTraining(
                    time_attr="validation",
                    metric=self.space.metric,
                    mode=self.space.mode,
                    perturbation_interval=max(1, validations // EXCHANGES),
                    hyperparam_mutations=mutations,
                    custom_explore_fn=partial(_bounded, mutations=mutations),
                ),
            ),
            run_config=tune.RunConfig(
                name=name,
                storage_path=self.directory,
                verbose=0,
                callbacks=[_ProgressCallback()],
                failure_config=tune.FailureConfig(max_failures=self.execution.max_failures),
            ),
        )
        with ray_executor.quiet_tune(log):
            tuner.fit()


def _values(point: Mapping[str, Any], space: Space) -> dict[str, Any]:
    return {key: point[key] for key in space.mutations if key in point}


def _bounded(values: Mapping[str, Any], mutations: Mapping[str, Any]) -> dict[str, Any]:
    """Return perturbed values, rounded and clipped to their domains, which Ray's multiplication
    may leave."""
    bounded = {key: rounded(value) for key, value in values.items()}
    for key, domain in mutations.items():
        if hasattr(domain, "lower"):
            bounded[key] = min(max(bounded[key], domain.lower), domain.upper)
    return bounded


def train(config: Mapping[str, Any], settings: TrialSettings) -> None:
    """Train a member with its current values from the checkpoint that Tune passes, until Tune
    pauses it."""
    # Tune may have copied another member's settings into `config`; only the trial's name identifies
    # the member.
    key = ray_executor.key_of(tune.get_context().get_trial_name())
    runs, seed = ConfigurationRuns.read(settings.folder, key.configuration), key.seed
    values = {name: value for name, value in config.items() if name not in (CONFIGURATION, SEED)}
    folder = runs.folder(seed)

    def report(metrics: dict[str, Any]) -> None:
        value_metrics = {f"{VALUE}{name}": value for name, value in values.items()}
        history = History(folder)
        history.add(metrics["update"], metrics["epochs"], value_metrics)
        history.flush()
        latest = folder.sub("checkpoints").path(f"{metrics['update']:08d}")
        tune.report({**metrics, **value_metrics}, checkpoint=tune.Checkpoint.from_directory(latest))

    with locked(folder):
        if folder.complete:
            return
        folder.remove(FAILURE)
        _adopt(folder, tune.get_checkpoint(), key.configuration, seed)
        try:
            runs.train(seed, settings.execution | {"launcher": "direct"}, report, values=values)
            runs.finish(seed)
        except Exception as error:  # a retry would only repeat it
            runs.fail(seed, error)


def _adopt(folder: Folder, checkpoint: tune.Checkpoint | None, address: str, seed: int) -> None:
    """Replace a run's checkpoints by another member's.

    Its own, which Tune passes after a pause, are left alone.
    """
    if checkpoint is None:
        return
    with scratch("member") as directory:
        checkpoint.to_directory(str(directory))
        state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
        position = state["position"]
        if (position["address"], position["seed"]) == (address, seed):
            return
        # This one alone of the other member's checkpoints is here: no other can be its best.
        scores = {position["update"]: position["scores"][position["update"]]}
        position |= {"address": address, "seed": seed, "scores": scores}
        torch.save(state, directory / STATE)
        folder.remove("checkpoints")
        folder.sub("checkpoints").put(directory, f"{position['update']:08d}")


class _ProgressCallback(ray_executor.Interruptible):
    """Tracks the progress of members. Tune pickles callbacks, so the dispatcher of the command
    is a class attribute."""

    dispatcher: ClassVar[Dispatcher]

    def on_trial_start(
        self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any
    ) -> None:
        self.dispatcher.progress[ray_executor.key_of(trial)] = "running"

    def on_trial_complete(
        self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any
    ) -> None:
        key = ray_executor.key_of(trial)
        if self.dispatcher.folder(key).exists(FAILURE):
            failure = self.dispatcher.folder(key).read_json(FAILURE)
            self.dispatcher.on_error(key, f"{failure['kind']}: {failure['error']}")
        else:
            self.dispatcher.on_complete(key)

    def on_trial_error(
        self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any
    ) -> None:
        self.dispatcher.on_error(ray_executor.key_of(trial), ray_executor.failure_of(trial))

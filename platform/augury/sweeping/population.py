"""Population-based training: trials that fall behind continue from the weights of a better one, with changed values.

A member's values change while it trains, so that it is no configuration with an address of its own settings: its run is
addressed by its population and the point it began with, and its values are metrics of its history
(`value/regime.beta`). What one member becomes depends on all the others: another population trains all of them anew.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
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
from augury.experiments.experiment import Experiment, parse
from augury.sweeping import tuning
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.plan import Planned
from augury.sweeping.points import rounded
from augury.sweeping.space import Space
from augury.sweeping.trial import CONFIGURATION, SEED, TrialSettings
from augury.training.checkpoint import STATE
from augury.training.history import History
from augury.training.launch import FAILURE

VALUE = "value/"


def check(space: Space, launcher: str, members: Sequence[Experiment]) -> None:
    """Refuse population-based training where it cannot be what is wanted."""
    if launcher != "direct":
        raise UserError(
            "scheduler pbt copies checkpoints that Tune holds, and Ray Train workers keep theirs elsewhere: it would "
            "be random search without saying so; set training.workers=1 and execution.launcher=auto, or take halving"
        )
    if not space.mutations:
        raise UserError(f"scheduler pbt needs values that may change: define 'mutations' in space '{space.name}'")
    allowed = dict.fromkeys(key for experiment in members for key in mutable_keys(experiment))

    def refuse(key: str, reason: str) -> None:
        raise UserError(
            f"'{key}' cannot change while a model trains: {reason}. Mutations of space '{space.name}' may name "
            f"{', '.join(allowed)}; every value of another key can be a point"
        )

    for key in space.mutations:
        if reason := fixed_reason(members[0], key):
            refuse(key, reason)
    samples = {key: _sample(key, values) for key, values in _mutations(space).items()}
    for number in range(max(map(len, samples.values()))):
        drawn = {key: values[number % len(values)] for key, values in samples.items()}
        for experiment in members:
            parse(config.merge(experiment.to_dict(), drawn), f"space '{space.name}' with the mutations {title(drawn)}")
    for key in space.mutations:
        if key not in allowed:
            refuse(key, "all members have the same text, the same sizes of the model and the same tests")


def identity(sweep: str, space: Space, configurations: Iterable[str], seeds: Iterable[int]) -> str:
    """Return the address of a population, from everything that decides what becomes of its members."""
    mutations = {
        key: values if isinstance(values, list) else _sample(key, values) for key, values in _mutations(space).items()
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
    """Return a configuration as the beginning of members."""
    return replace(planned, address=config.address({"population": population, "begins": planned.address}))


def _mutations(space: Space) -> dict[str, Any]:
    """Return lists and domains; choices as lists, in which Ray goes to a neighbour instead of multiplying."""
    return {
        key: list(values.categories if isinstance(values, Categorical) else values)
        if isinstance(values, Categorical | Sequence)
        else values
        for key, values in space.mutations.items()
    }


def _sample(key: str, values: Any) -> list[Any]:
    """Return values of a list or a domain, always the same ones."""
    random = generator("mutations", key)
    drawn = values if isinstance(values, list) else [values.sample(random_state=random) for _ in range(8)]
    return [rounded(value) for value in drawn]


def run(
    dispatcher: Dispatcher,
    space: Space,
    settings: TrialSettings,
    resources: Mapping[str, float],
    *,
    every: int,
    name: str,
    directory: str,
    deaths: int,
) -> None:
    """Train the population, exchanging every so many validations; one that was cut short is taken up again."""
    _ProgressCallback.dispatcher = dispatcher
    function = tune.with_resources(tune.with_parameters(train, settings=settings), dict(resources))
    path = f"{directory}/{name}"
    if tune.Tuner.can_restore(path):
        with tuning.quiet_tune(tuning.log_of(directory)):
            tune.Tuner.restore(path, function, resume_unfinished=True, restart_errored=True).fit()
        return
    members = [
        {CONFIGURATION: key.configuration, SEED: key.seed, **_values(dispatcher.start(key), space)}
        for key in dispatcher.wanted()
    ]
    mutations = _mutations(space)
    domains = {key: tune.choice(values) if isinstance(values, list) else values for key, values in mutations.items()}
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
            trial_name_creator=tuning.name_of,
            trial_dirname_creator=tuning.name_of,
            scheduler=PopulationBasedTraining(
                time_attr="validation",
                metric=space.metric,
                mode=space.mode,
                perturbation_interval=every,
                hyperparam_mutations=mutations,
                custom_explore_fn=partial(_bounded, mutations=mutations),
            ),
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=directory,
            verbose=0,
            callbacks=[_ProgressCallback()],
            failure_config=tune.FailureConfig(max_failures=deaths),
        ),
    )
    with tuning.quiet_tune(tuning.log_of(directory)):
        tuner.fit()


def _values(point: Mapping[str, Any], space: Space) -> dict[str, Any]:
    return {key: point[key] for key in space.mutations if key in point}


def _bounded(values: Mapping[str, Any], mutations: Mapping[str, Any]) -> dict[str, Any]:
    """Return explored values, rounded and back in their domains, which Ray leaves where it multiplies."""
    bounded = {key: rounded(value) for key, value in values.items()}
    for key, domain in mutations.items():
        if hasattr(domain, "lower"):
            bounded[key] = min(max(bounded[key], domain.lower), domain.upper)
    return bounded


def train(config: Mapping[str, Any], settings: TrialSettings) -> None:
    """Train a member with its present values, from the checkpoint that Tune hands it, until it is to exchange."""
    # The configuration in `config` may be another member's, whose settings Tune has copied; the name is its own.
    key = tuning.key_of(tune.get_context().get_trial_name())
    runs, seed = ConfigurationRuns.read(settings.folder, key.configuration), key.seed
    values = {name: value for name, value in config.items() if name not in (CONFIGURATION, SEED)}
    folder = runs.folder(seed)

    def report(metrics: dict[str, Any]) -> None:
        numbers = {f"{VALUE}{name}": value for name, value in values.items()}
        history = History(folder)
        history.add(metrics["update"], metrics["passes"], numbers)
        history.flush()
        latest = folder.sub("checkpoints").path(f"{metrics['update']:08d}")
        tune.report({**metrics, **numbers}, checkpoint=tune.Checkpoint.from_directory(latest))

    with locked(folder):
        if folder.complete:
            return
        folder.remove(FAILURE)
        _adopt(folder, tune.get_checkpoint(), key.configuration, seed)
        try:
            runs.train(seed, settings.execution | {"launcher": "direct"}, report, values=values)
            runs.finish(seed)
        except Exception as error:  # trying again would only repeat it
            runs.fail(seed, error)


def _adopt(folder: Folder, checkpoint: tune.Checkpoint | None, address: str, seed: int) -> None:
    """Continue from another member's weights; its own, which Tune hands back after a pause, are there already."""
    if checkpoint is None:
        return
    directory = Path(tempfile.mkdtemp(prefix="augury-member-"))
    checkpoint.to_directory(str(directory))
    state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
    position = state["position"]
    if (position["address"], position["seed"]) == (address, seed):
        shutil.rmtree(directory)
        return
    position |= {"address": address, "seed": seed}
    torch.save(state, directory / STATE)
    folder.remove("checkpoints")
    folder.sub("checkpoints").put(directory, f"{position['update']:08d}")


class _ProgressCallback(tuning.Interruptible):
    """Notes how members fare. Tune keeps callbacks with its state, and a later command has another dispatcher."""

    dispatcher: ClassVar[Dispatcher]

    def on_trial_start(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.dispatcher.progress[tuning.key_of(str(trial))] = "running"

    def on_trial_complete(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        key = tuning.key_of(str(trial))
        if self.dispatcher.folder(key).exists(FAILURE):
            failure = self.dispatcher.folder(key).read_json(FAILURE)
            self.dispatcher.failed(key, f"{failure['kind']}: {failure['error']}")
        else:
            self.dispatcher.returned(key)

    def on_trial_error(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.dispatcher.failed(tuning.key_of(str(trial)), tuning.failure_of(trial))

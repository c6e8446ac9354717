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
from augury.core.locks import alone
from augury.core.naming import title
from augury.core.rng import generator
from augury.core.store import Folder, Store
from augury.experiments.evaluation import evaluate
from augury.experiments.experiment import Experiment, parse
from augury.experiments.training import train as run_training
from augury.sweeping import tuning
from augury.sweeping.desk import Desk
from augury.sweeping.plan import Planned
from augury.sweeping.points import plain_value
from augury.sweeping.space import Space
from augury.sweeping.state import KIND
from augury.sweeping.trial import CONFIGURATION, SEED, Setting, kept
from augury.training.checkpoint import STATE
from augury.training.history import History
from augury.training.launch import FAILURE

CHANGEABLE = (
    "training.learning_rate",
    "training.schedule",
    "training.warmup_updates",
    "training.warmup_share",
    "training.clip_norm",
    "training.precision",
    "model.dropout",
    "model.attention_dropout",
    "regime.label_smoothing",
    # coregularised
    "regime.alpha1",
    "regime.alpha2",
    "regime.beta",
    "regime.tau",
    "regime.divergence",
    "regime.detach",
    "regime.norm",
    "regime.warmup_steps",
    "regime.warmup_passes",
    "regime.ramp_passes",
    "regime.warmup_views",
    "regime.smoothing",
    # adversarial
    "regime.attack",
    "regime.epsilon",
    "regime.relative",
    "regime.alpha",
    "regime.alpha_share",
    "regime.steps",
    "regime.norm_scope",
    "regime.init_magnitude",
    "regime.clean_weight",
    "regime.attack_dropout",
)
"""Settings that act from the next update on, wherever a training stands."""
FIXED = {
    "the state of the optimiser, which a checkpoint restores, has it": (
        "training.adam_betas",
        "training.adam_eps",
        "training.weight_decay",
    ),
    "a pass's batches are planned by it, and a member goes on in the middle of a pass": (
        "training.max_tokens",
        "training.max_examples",
        "training.order",
        "training.accumulation",
        "training.workers",
    ),
    "members are compared after as many validations, and end alike": (
        "training.max_passes",
        "training.max_updates",
        "training.validate_every",
        "training.validate_every_passes",
        "training.patience",
        "training.stop_on",
        "training.average_last",
        "training.weights",
    ),
    "it decides which views are read together": ("regime.name", "regime.over", "regime.equation"),
}
"""Why others are not."""
VALUE = "value/"


def check(space: Space, launcher: str, members: Sequence[Experiment]) -> None:
    """UserError where population-based training cannot be what is wanted."""
    if launcher != "direct":
        raise UserError(
            "scheduler pbt copies checkpoints that Tune holds, and Ray Train workers keep theirs elsewhere: it would "
            "be random search without saying so; set training.workers=1 and execution.launcher=auto, or take halving"
        )
    if not space.mutations:
        raise UserError(f"scheduler pbt needs values that may change: define 'mutations' in space '{space.name}'")
    for key in space.mutations:
        if key not in CHANGEABLE:
            shared = "all members have the same text, the same sizes of the model and the same tests"
            reason = next((reason for reason, keys in FIXED.items() if key in keys), shared)
            raise UserError(
                f"'{key}' cannot change while a model trains: {reason}. Mutations of space '{space.name}' may name "
                f"{', '.join(CHANGEABLE)}; every value of another key can be a point"
            )
    samples = {key: _sample(key, values) for key, values in _mutations(space).items()}
    for number in range(max(map(len, samples.values()))):
        drawn = {key: values[number % len(values)] for key, values in samples.items()}
        for experiment in members:
            parse(config.merge(experiment.plain(), drawn), f"space '{space.name}' with the mutations {title(drawn)}")


def identity(sweep: str, space: Space, configurations: Iterable[str], seeds: Iterable[int]) -> str:
    """The address of a population, from everything that decides what becomes of its members."""
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


def member(each: Planned, population: str) -> Planned:
    """A configuration as the beginning of members."""
    return replace(each, address=config.address({"population": population, "begins": each.address}))


def _mutations(space: Space) -> dict[str, Any]:
    """Lists and domains; choices as lists, in which Ray goes to a neighbour, where it would multiply what is drawn."""
    return {
        key: list(values.categories if isinstance(values, Categorical) else values)
        if isinstance(values, Categorical | Sequence)
        else values
        for key, values in space.mutations.items()
    }


def _sample(key: str, values: Any) -> list[Any]:
    """Values of a list or a domain, always the same ones."""
    random = generator("mutations", key)
    drawn = values if isinstance(values, list) else [values.sample(random_state=random) for _ in range(8)]
    return [plain_value(value) for value in drawn]


def run(
    desk: Desk,
    space: Space,
    setting: Setting,
    resources: Mapping[str, float],
    *,
    every: int,
    name: str,
    directory: str,
    deaths: int,
) -> None:
    """Train the population, exchanging every so many validations; one that was cut short is taken up again."""
    _Watch.desk = desk
    function = tune.with_resources(tune.with_parameters(train, setting=setting), dict(resources))
    path = f"{directory}/{name}"
    if tune.Tuner.can_restore(path):
        with tuning.ours():
            tune.Tuner.restore(path, function, resume_unfinished=True, restart_errored=True).fit()
        return
    members = [
        {CONFIGURATION: key.configuration, SEED: key.seed, **_values(desk.start(key), space)} for key in desk.wanted()
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
            callbacks=[_Watch()],
            failure_config=tune.FailureConfig(max_failures=deaths),
        ),
    )
    with tuning.ours():
        tuner.fit()


def _values(point: Mapping[str, Any], space: Space) -> dict[str, Any]:
    return {key: point[key] for key in space.mutations if key in point}


def _bounded(values: Mapping[str, Any], mutations: Mapping[str, Any]) -> dict[str, Any]:
    """Explored values, rounded and back in their domains, which Ray leaves where it multiplies."""
    bounded = {key: plain_value(value) for key, value in values.items()}
    for key, domain in mutations.items():
        if hasattr(domain, "lower"):
            bounded[key] = min(max(bounded[key], domain.lower), domain.upper)
    return bounded


def train(given: Mapping[str, Any], setting: Setting) -> None:
    """A member: trains with its present values from the checkpoint that Tune hands it, until it is to exchange."""
    store = Store(setting.storage)
    # The configuration in `given` may be another member's, whose settings Tune has copied; the name is its own.
    key = tuning.key_of(tune.get_context().get_trial_name())
    member = kept(store.folder(KIND, setting.sweep), key.configuration).at(key.seed)
    values = {key: value for key, value in given.items() if key in CHANGEABLE}
    member = replace(member, experiment=parse(config.merge(member.experiment.plain(), values)))
    folder = member.folder
    execution = member.experiment.execution.model_copy(
        update={"launcher": "direct", "device": setting.device, "threads": setting.threads}
    )

    def report(metrics: dict[str, Any]) -> None:
        numbers = {f"{VALUE}{key}": value for key, value in values.items()}
        history = History(folder)
        history.add(metrics["update"], metrics["passes"], numbers)
        history.flush()
        latest = folder.sub("checkpoints").path(f"{metrics['update']:08d}")
        tune.report({**metrics, **numbers}, checkpoint=tune.Checkpoint.from_directory(latest))

    with alone(folder):
        if folder.complete:
            return
        folder.remove(FAILURE)
        _adopt(folder, tune.get_checkpoint(), member.address, member.seed)
        try:
            run_training(member, execution=execution, report=report)
            evaluate(member)
            folder.finish({"address": member.address, "seed": member.seed})
        except Exception as error:  # trying again would only repeat it
            folder.write_json(FAILURE, {"kind": type(error).__name__, "error": str(error)})


def _adopt(folder: Folder, given: tune.Checkpoint | None, address: str, seed: int) -> None:
    """Continue from another member's weights; its own, which Tune hands back after a pause, are there already."""
    if given is None:
        return
    directory = Path(tempfile.mkdtemp(prefix="augury-member-"))
    given.to_directory(str(directory))
    state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
    position = state["position"]
    if (position["address"], position["seed"]) == (address, seed):
        shutil.rmtree(directory)
        return
    position |= {"address": address, "seed": seed}
    torch.save(state, directory / STATE)
    folder.remove("checkpoints")
    folder.sub("checkpoints").put(directory, f"{position['update']:08d}")


class _Watch(tuning.Interruptible):
    """Notes how members fare. Tune keeps callbacks with its state, and a later command has another desk."""

    desk: ClassVar[Desk]

    def on_trial_start(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.desk.progress[tuning.key_of(str(trial))] = "running"

    def on_trial_complete(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        key = tuning.key_of(str(trial))
        if self.desk.folder(key).exists(FAILURE):
            failure = self.desk.folder(key).read_json(FAILURE)
            self.desk.failed(key, f"{failure['kind']}: {failure['error']}")
        else:
            self.desk.returned(key)

    def on_trial_error(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.desk.failed(tuning.key_of(str(trial)), tuning.last_words(trial))

"""Make what is missing of a graph: texts, then the models that read them, side by side on free
slots; train, sweep, reproduce and the Python interface do it here."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from augury.augment.health import UnusableOutput
from augury.augment.planning import Models
from augury.core import config
from augury.core.cluster import check_storage
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.parallel import InputFailed, run_concurrently
from augury.core.progress import say
from augury.core.ray_connection import connect
from augury.core.store import Folder, Store
from augury.execution import preflight
from augury.execution.cautions import say_cautions
from augury.execution.graph import Graph, Step
from augury.execution.progress import show_progress
from augury.execution.texts import make_run
from augury.experiments.description import artifacts, commit, describe, differing_parameters
from augury.experiments.evaluate import evaluate, evaluated
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.systems import Canonical, expand
from augury.experiments.training import train
from augury.runs.recording import Recorder, Recording, unrecorded
from augury.training.trained import Crashed, Diverged


def run_experiment(
    experiment: Experiment, recording: Recording = unrecorded, graph: Graph | None = None
) -> tuple[dict[str, dict[int, Folder]], list[str]]:
    """Train and score every system of an experiment with every seed, except finished runs.

    Their graph is added to an empty `graph`, where one is given.

    Returns the run of every seed of every system, baseline first, and messages on failures: a run
    that diverges, or whose workers crash, does not stop the others and is left out, and so is a
    system whose operators make nothing that it could be trained on, or whose models fail. UserError
    where no system is left.
    """
    commit()
    refuse_lost_storage(experiment.storage)
    store = Store(experiment.storage)
    described = expand(experiment)
    graph = graph or Graph(store)
    reach_storage(experiment.execution, store.root)
    preflight.check(described.values(), graph)
    say_cautions([*described.values()], store)
    for name, system in described.items():
        _say_without_effect(name, system, graph.canonical(system))
    plans = graph.add(described)
    systems = [plan.experiment for plan in plans.values()]
    addresses = {name: plan.address for name, plan in plans.items()}
    _refuse_shared_runs(addresses)
    with recording(experiment.tracking, store) as recorder:
        executor = Executor(graph, recorder, differing_parameters(systems))
        executor.make(graph.scored, experiment.execution.at_once)
    if not any(address in executor.runs for address in addresses.values()):
        raise executor.errors[0]
    runs: dict[str, dict[int, Folder]] = {}
    for name, address in addresses.items():
        for seed in sorted(plans[name].experiment.seeds):
            if folder := executor.models.get(Step(address, seed)):
                runs.setdefault(name, {})[seed] = folder
    return runs, executor.failures


def prepare(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> Run:
    """Make everything that the training of an experiment reads, the models of its operators too;
    return its run with the first seed."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    _make_all(graph, [Step(plan.address)], experiment, recording)
    return make_run(plan)


def train_models(
    experiment: Experiment, store: Store, recording: Recording = unrecorded
) -> list[Models]:
    """Train the models of an experiment's operators that are missing; return those of each
    operator, by role."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    steps = [step for step in graph.inputs(Step(plan.address)) if step.seed is not None]
    _make_all(graph, steps, experiment, recording)
    return graph.models(experiment)


def _make_all(
    graph: Graph, steps: Sequence[Step], experiment: Experiment, recording: Recording
) -> None:
    """Make steps and their inputs; raise the first failure."""
    with recording(experiment.tracking, graph.store) as recorder:
        executor = Executor(graph, recorder)
        executor.make(steps, experiment.execution.at_once)
    if executor.errors:
        raise executor.errors[0]


class Executor:
    """Makes steps of a graph, and records their runs."""

    def __init__(self, graph: Graph, recorder: Recorder, differing: Sequence[str] = ()):
        """`differing` are the parameters in which the systems differ."""
        self.graph, self.recorder, self.differing = graph, recorder, differing
        self.runs: dict[str, Run] = {}
        """The runs whose texts are made, with the first seed, by address."""
        self.models: dict[Step, Folder] = {}
        """The runs whose models are made."""
        self.failures: list[str] = []
        self.errors: list[UserError] = []
        """The failures as errors, for those who need all steps."""

    def make(self, targets: Iterable[Step], at_once: int = 1) -> None:
        """Make steps with all their inputs, at most `at_once` side by side.

        What cannot be made is left out, with all that needs it.
        """
        steps = self.graph.missing(targets)
        order = {step: number for number, step in enumerate(steps)}
        inputs = []
        for step in steps:
            needed = [] if self.graph.is_made(step) else self.graph.inputs(step)
            inputs.append([order[other] for other in needed])
        trainings = [step for step in steps if step.seed is not None]
        labels = {
            step: f"run {number} of {len(trainings)} · {self.graph.names[step]} · seed {step.seed}"
            for number, step in enumerate(trainings, start=1)
        }
        calls = [functools.partial(self._make, step, labels.get(step, "")) for step in steps]
        with closing(run_concurrently(calls, at_once, inputs)) as results:
            for position, result in results:
                if isinstance(result, Exception):
                    self._fail(steps[position], result)

    def _make(self, step: Step, label: str) -> None:
        plan = self.graph.plans[step.address]
        if step.seed is None:
            self.runs[step.address] = make_run(plan)
            return
        folder = plan.run(step.seed)
        if self.graph.is_made(step):
            say(f"{label}: found, not trained again ({folder.uri})")
        else:
            run = self.runs[step.address].with_seed(step.seed)
            self._run(run, self.graph.names[step], label, step in self.graph.scored)
        self.models[step] = folder

    def _run(self, run: Run, name: str, label: str, scored: bool) -> None:
        folder = run.folder
        with locked(folder):
            if not folder.complete:
                describe(run, name, self.differing if scored else ())
                self.recorder.start(folder)
                status: Any = "FAILED"
                try:
                    with (
                        self.recorder.follow(folder),
                        show_progress(folder, label, run.experiment.training),
                    ):
                        train(run)
                    if scored:
                        evaluate(run)
                    status = "FINISHED"
                finally:
                    self.recorder.finish(folder, status, artifacts(run))
                folder.finish({"address": run.address, "seed": run.seed}, files=())
            elif scored and not evaluated(run):
                evaluate(run)
                self.recorder.finish(folder, "FINISHED", artifacts(run))
            else:
                say(f"{label}: found, not trained again ({folder.uri})")

    def _fail(self, step: Step, error: Exception) -> None:
        """Note why a step is not made; raise errors that concern more than its system."""
        name = self.graph.names[step]
        if step.seed is None:
            if isinstance(error, InputFailed):
                error = UserError("a model of its operators cannot be trained")
            elif not isinstance(error, UnusableOutput):
                raise error
            message = f"{name} is not trained: {error}"
            say(f"warning: {message}")
        elif isinstance(error, InputFailed):
            if step.address not in self.runs:  # its texts have failed, which is said
                return
            message = f"{name}, seed {step.seed} is left out: what it goes on from failed"
            say(message)
        elif isinstance(error, Diverged | Crashed):
            message = f"{name}, seed {step.seed} {type(error).__name__.lower()}: {error}"
            say(message)
        else:
            raise error
        self.failures.append(message)
        self.errors.append(error if isinstance(error, UnusableOutput) else UserError(message))


def _say_without_effect(name: str, system: Experiment, form: Canonical) -> None:
    """Say which settings of a system have no effect, of those that are not at their defaults."""
    before, after = (
        config.flatten(experiment.to_dict()) for experiment in (system, form.experiment)
    )
    for key, reason in form.reasons.items():
        if key == "augment":
            say(f"{name}: {key}: {reason}")
        elif before.get(key) != after.get(key):
            say(f"{name}: {key} has no effect: {reason}")


def _refuse_shared_runs(addresses: Mapping[str, str]) -> None:
    """Raise UserError for systems that train the same model, as they would overwrite each
    other's scores."""
    named: dict[str, str] = {}
    for name, run_address in addresses.items():
        other = named.setdefault(run_address, name)
        if other != name:
            raise UserError(
                f"systems '{other}' and '{name}' train the same model, run {run_address}: give "
                "them settings that differ in training; one system can be scored with another "
                "decoding.beam, without training"
            )


def reach_storage(execution: Execution, root: str) -> None:
    """Raise UserError where a worker of the cluster to join cannot write and read a storage."""
    if execution.joins_cluster:
        connect(execution.address)
        check_storage(root)


def refuse_lost_storage(storage: str) -> None:
    """Raise UserError for a relative storage in a Ray job, whose working directory is deleted
    with it."""
    if (
        "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ
        and "://" not in storage
        and not Path(storage).is_absolute()
    ):
        raise UserError(
            f"storage '{storage}' is relative, and a Ray job's working directory is thrown away: "
            "give storage=/a/shared/directory, or a URI such as s3://bucket/augury"
        )

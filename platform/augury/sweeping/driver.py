"""Run trials on Ray, or in this process one after the other; `train` those of an experiment's
systems, as `sweep` (`sweeping.sweep`) those of a search space, and `reproduce` of a table's rows.

Both plan a graph, make the missing texts, and train the missing trials. What differs is who says
which trial comes next. The same command continues what was stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from augury.core import config
from augury.core.errors import UserError, outage_of
from augury.core.machine import release_memory
from augury.core.messages import say
from augury.core.plugin_files import describe_error
from augury.core.store import Folder
from augury.experiments import preflight
from augury.experiments.cost import remaining, trials_at_once
from augury.experiments.graph import Graph, Step
from augury.experiments.make import open_storage, reach_storage
from augury.experiments.preflight import say_warnings
from augury.experiments.record import REPORTS
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.run import commit, differing_parameters
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical, expand
from augury.experiments.trial import run_trial
from augury.sweeping.schedulers import Scheduler, Trial
from augury.sweeping.state import ENDS
from augury.sweeping.trials import Trials


class TrainedSystems(NamedTuple):
    """What `run_experiment` leaves."""

    runs: dict[str, dict[int, Folder]]
    """The run of every seed of every system, baseline first."""
    failures: list[str]
    """What is said of systems and seeds that failed."""
    missing: int
    """The number of trials that a budget has left for the next command."""
    missing_seconds: float | None
    """What these take; None where that is not known."""


def run_experiment(
    experiment: Experiment, recording: Recording = unrecorded, *, budget: float | None = None
) -> TrainedSystems:
    """Train and score every system of an experiment with every seed, except finished runs.

    `budget` is in seconds: after it no trial begins, and those that run end at their next
    validation.

    A run that diverges, or whose workers crash, does not stop the others and is left out, and so is
    a system whose operators make nothing that it could be trained on, or whose models fail.
    UserError where no system is left.
    """
    commit()  # kept from now on: later the directory may be gone
    store = open_storage(experiment.storage)
    described = expand(experiment)
    graph = Graph(store)
    reach_storage(experiment.execution, store.root)
    preflight.check(described.values(), graph)
    say_warnings([*described.values()], store)
    _say_ineffective(described)
    seeds = sorted(experiment.seeds)
    systems = graph.add(described, seeds)
    addresses = {name: plan.address for name, plan in systems.items()}
    _refuse_shared_runs(addresses)
    scheduler = Scheduler(addresses.values(), seeds)
    wanted = scheduler.work()
    experiments = [experiment, *(plan.experiment for plan in graph.plans.values())]
    untrained = [trial for trial in wanted if not graph.is_trained(Step(*trial))]
    on_ray = runs_on_ray(experiments, untrained)
    with recording(experiment.tracking, store) as recorder:
        trials = Trials(
            graph,
            scheduler,
            store.folder(REPORTS, experiment.name),
            value=lambda trial: 0.0,  # nothing is chosen
            compared=lambda trial: trial in wanted,
            differing=differing_parameters(plan.experiment for plan in systems.values()),
            texts_beside=on_ray,
            recorder=recorder,
        )
        trials.make_texts()
        if not trials.runs:
            raise UserError(trials.failures[0])
        deadline = None if budget is None else time.time() + budget
        trials.deadline_of = lambda trial: deadline
        for trial in wanted:
            if trials.is_done(trial):
                say(f"{trials.name_of(trial)}: found, not trained again")
        trials.replay(wanted)
        run_trials(trials, experiments, {}, on_ray=on_ray)
    runs: dict[str, dict[int, Folder]] = {}
    for name, plan in systems.items():
        for seed in seeds:
            if trials.progress.get(Trial(plan.address, seed)) == "finished":
                runs.setdefault(name, {})[seed] = plan.run(seed)
    missing = sum(trials.progress.get(trial) not in ENDS for trial in wanted)
    left = remaining(graph) if missing else None
    takes = sum(left.values()) / trials_at_once(experiment) if left else None
    return TrainedSystems(runs, trials.failures, missing, takes)


def _say_ineffective(systems: Mapping[str, Experiment]) -> None:
    """Say which settings of systems have no effect, and why."""
    for name, system in systems.items():
        form = canonical(system)
        before = config.flatten(system.to_dict())
        after = config.flatten(form.experiment.to_dict())
        for key, reason in form.reasons.items():
            if before.get(key) != after.get(key):  # and not at its default
                say(f"{name}: {key} has no effect: {reason}")


def run_trials(
    trials: Trials,
    experiments: Sequence[Experiment],
    points: Mapping[str, Mapping[str, Any]],
    *,
    on_ray: bool,
    at_once: int | None = None,
) -> None:
    """Run trials until none can begin: on Ray, or in this process one after the other.

    `points` are the swept values of configurations, by address. Raises what concerns all of them:
    Outage, KeyboardInterrupt, and UserError where not a single trial fits.
    """
    execution = experiments[0].execution
    try:
        if on_ray and not trials.scheduler.finished:
            from augury.core.ray_connection import connect
            from augury.sweeping.tune import place, run_on_tune  # imports Ray, which takes seconds

            connect()
            placement = place(experiments, at_once)
            trials.at_once = placement.at_once
            while run_on_tune(trials, placement, points, max_failures=execution.max_failures):
                trials.finish_texts()
            return
        while (trial := trials.next()) is not None:
            error = ""
            if len(trials.begun) > 1:
                release_memory()  # of the trial before
            try:
                run_trial(
                    trials.run_of(trial),
                    scored=trials.is_scored(trial),
                    deadline=trials.deadline_of(trial),
                )
            except Exception as failure:
                if outage_of(failure):
                    raise
                error = describe_error(failure)
            trials.end(trial, error)
    finally:  # after Ctrl-C or an outage, nobody is to think that they run
        for trial in [key for key, state in trials.progress.items() if state == "running"]:
            trials.end(trial)


def runs_on_ray(experiments: Sequence[Experiment], missing: Collection[Trial]) -> bool:
    """Return whether trials run on Ray: with `execution.executor=auto`, where there is more than
    one training. Ray begins to start, as texts are made meanwhile."""
    execution = experiments[0].execution
    fewest = {"local": math.inf, "ray": 1, "auto": 2}[execution.executor]
    if len(missing) < fewest:
        return False
    from augury.core.ray_connection import start_in_background

    start_in_background()
    return True


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

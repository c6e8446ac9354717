"""Make what is missing of a graph in this process, one step after the other: for commands on texts
and on the models of operators. Trainings side by side are those of `sweeping.driver`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from augury.augment.planning import Models
from augury.core.cluster import check_storage
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.progress import say
from augury.core.ray_connection import connect
from augury.core.store import Store
from augury.execution.graph import Graph, Step
from augury.execution.progress import show_progress
from augury.execution.texts import make_run
from augury.execution.trial import run_trial
from augury.experiments.description import artifacts, describe
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.runs.recording import Recorder, Recording, Status, unrecorded


def prepare(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> Run:
    """Make everything that the training of an experiment reads, the models of its operators too;
    return its run with the first seed."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    with recording(experiment.tracking, store) as recorder:
        return make(graph, [Step(plan.address)], recorder)[plan.address]


def train_models(
    experiment: Experiment, store: Store, recording: Recording = unrecorded
) -> list[Models]:
    """Train the models of an experiment's operators that are missing; return those of each
    operator, by role."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    steps = [step for step in graph.inputs(Step(plan.address)) if step.seed is not None]
    with recording(experiment.tracking, store) as recorder:
        make(graph, steps, recorder)
    return graph.models(experiment)


def make(graph: Graph, targets: Sequence[Step], recorder: Recorder) -> dict[str, Run]:
    """Make steps with all their inputs, one after the other; return the runs whose texts are made,
    with the first seed, by address. Raises the first failure."""
    runs: dict[str, Run] = {}
    made: set[Step] = set()

    def visit(step: Step) -> None:
        if step in made:
            return
        made.add(step)
        name = graph.names[step]
        if graph.is_made(step):
            say(f"{name}, seed {step.seed}: found, not trained again")
            return
        for needed in graph.inputs(step):
            visit(needed)
        if step.seed is None:
            runs[step.address] = make_run(graph.plans[step.address])
            return
        run = runs[step.address].with_seed(step.seed)
        describe(run, name)
        recorder.start(run.folder)
        try:
            label = f"{name}, seed {step.seed}"
            with (
                recorder.follow(run.folder),
                show_progress(run.folder, label, run.experiment.training),
            ):
                run_trial(run, scored=step in graph.scored)
        finally:
            status: Status = "FINISHED" if run.folder.complete else "FAILED"
            recorder.finish(run.folder, status, artifacts(run))

    for target in targets:
        visit(target)
    return runs


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

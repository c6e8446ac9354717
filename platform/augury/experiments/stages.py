"""Stages of training: each is an experiment that begins with the model of the one before, and has
its own run.

A stage has the vocabulary and the fitted operators of the first. Its address contains that of the
stage before, so that systems with equal first stages share their runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.store import Folder, Store
from augury.experiments import preparation
from augury.experiments.description import describe
from augury.experiments.evaluate import evaluate
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.run import Run
from augury.experiments.training import train


class Job(NamedTuple):
    """A run to be trained, and the name of its system."""

    name: str
    run: Run


def jobs(
    prepared: Mapping[str, Run], store: Store, recording: Recording = unrecorded
) -> list[list[Job]]:
    """Return the runs of systems and of the stages before them, with all seeds: all first stages,
    all second ones, ...

    A stage that is a system too has that system's name. Missing inputs of the stages are made.
    """
    runs = {run.address: run for run in prepared.values()}
    names = {run.address: name for name, run in prepared.items()}
    levels: list[dict[Folder, Job]] = []
    for name, last in prepared.items():
        for depth, experiment in enumerate(last.experiment.chain):
            address = preparation.address(experiment, store)
            if address not in runs:
                runs[address] = preparation.prepare(experiment, store, recording)
            job_name = names.setdefault(address, f"{name}, {experiment.stage_name}")
            if depth == len(levels):
                levels.append({})
            for run in map(runs[address].with_seed, last.experiment.seeds):
                levels[depth].setdefault(run.folder, Job(job_name, run))
    return [list(level.values()) for level in levels]


def train_before(run: Run, execution: Execution) -> None:
    """Train and score the stages before a run, with the same seed, unless that is done."""
    before = run.experiment.before
    if before is None or run.init_from is None or run.init_from.run.complete:
        return
    stage = preparation.prepare(before, run.store).with_seed(run.seed)
    assert stage.folder == run.init_from.run
    with locked(stage.folder):
        if not stage.folder.complete:
            describe(stage, f"{before.name}, {before.stage_name}")
            train(stage, execution=execution)
            evaluate(stage)
            stage.folder.finish({"address": stage.address, "seed": stage.seed})

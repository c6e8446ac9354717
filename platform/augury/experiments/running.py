"""Run an experiment from text to scores: prepare, train, translate, score and record every
system and seed."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from augury.augment.health import UnusableOutput
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.parallel import run_concurrently
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments import preflight, stages
from augury.experiments.description import artifacts, describe, differing_parameters
from augury.experiments.evaluate import evaluate, evaluated
from augury.experiments.preparation import address, make_texts, prepare
from augury.experiments.progress import show_progress
from augury.experiments.recording import Recorder, Recording, unrecorded
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical, expand
from augury.experiments.training import train
from augury.training.launch import Crashed
from augury.training.loop import Diverged


def run_experiment(
    experiment: Experiment, recording: Recording = unrecorded, *, scored: bool = True
) -> tuple[dict[str, dict[int, Folder]], list[str]]:
    """Run every system of an experiment with every seed, except finished runs.

    Score them if `scored`.

    Returns the run of every seed of every system, baseline first, and messages on failures: a run
    that diverges, or whose workers crash, does not stop the others and is left out, and so is a
    system whose operators make nothing that it could be trained on. UserError where no system is
    left.
    """
    refuse_lost_storage(experiment.storage)
    store = Store(experiment.storage)
    described = expand(experiment)
    preflight.check(described.values(), store)
    for caution in preflight.cautions(described.values()) if scored else ():
        say(caution)
    canonical_systems = {
        name: _canonical(name, system, store) for name, system in described.items()
    }
    _refuse_shared_runs(
        {name: address(system, store) for name, system in canonical_systems.items()}
    )
    with recording(experiment.tracking, store) as recorder:
        prepared, left_out = _prepare(canonical_systems, store, recording)
        call = functools.partial(
            _run,
            differing=differing_parameters(canonical_systems.values()),
            recorder=recorder,
            scored=scored,
        )
        ended, failures = _run_levels(
            stages.jobs(prepared, store, recording), call, experiment.execution
        )
        failures = [*left_out, *failures]
    runs = {
        name: {seed: ended[name, seed] for seed in sorted(system.seeds) if (name, seed) in ended}
        for name, system in canonical_systems.items()
    }
    return {name: of_seeds for name, of_seeds in runs.items() if of_seeds}, failures


def _prepare(
    described: Mapping[str, Experiment], store: Store, recording: Recording
) -> tuple[dict[str, Run], list[str]]:
    """Return the prepared runs of systems, and messages on those left out for the output of an
    operator."""
    prepared: dict[str, Run] = {}
    refused: dict[str, UnusableOutput] = {}
    for name, system in described.items():
        try:
            for stage in system.chain[1:-1]:
                make_texts(stage, store, recording)
            prepared[name] = prepare(system, store, recording)
        except UnusableOutput as error:
            refused[name] = error
    if not prepared:
        raise next(iter(refused.values()))
    left_out = [f"{name} is not trained: {error}" for name, error in refused.items()]
    for message in left_out:
        say(f"warning: {message}")
    return prepared, left_out


def _run_levels(
    levels: Sequence[Sequence[stages.Job]], call: Callable[..., Folder], execution: Execution
) -> tuple[dict[tuple[str, int], Folder], list[str]]:
    """Return the finished runs by system and seed, and messages on failures.

    Stages after a failed one are skipped.
    """
    ended: dict[tuple[str, int], Folder] = {}
    failures: list[str] = []
    lost: set[Folder] = set()

    def fail(job: stages.Job, reason: str) -> None:
        lost.add(job.run.folder)
        failures.append(f"{job.name}, seed {job.run.seed} {reason}")
        say(failures[-1])

    count, begun = sum(map(len, levels)), 0
    for level in levels:
        possible = [
            job for job in level if job.run.init_from is None or job.run.init_from.run not in lost
        ]
        for job in level:
            if job not in possible:
                fail(job, "is left out: the stage before it failed")
        calls = []
        for name, run in possible:
            begun += 1
            calls.append(
                functools.partial(
                    call, run, name, f"run {begun} of {count} · {name} · seed {run.seed}"
                )
            )
        with closing(_results(calls, execution)) as results:
            for position, result in results:
                job = possible[position]
                if isinstance(result, Diverged | Crashed):
                    fail(job, f"{type(result).__name__.lower()}: {result}")
                elif isinstance(result, Exception):
                    raise result
                else:
                    ended[job.name, job.run.seed] = result
    return ended, failures


def _results(
    calls: Sequence[Callable[[], Folder]], execution: Execution
) -> Generator[tuple[int, Folder | Exception], None, None]:
    """Yield the results of runs in the order in which they end: one by one, or in parallel on
    Ray's workers."""
    if execution.at_once > 1:
        yield from run_concurrently(calls, execution.at_once)
        return
    for position, call in enumerate(calls):
        try:
            result: Folder | Exception = call()
        except (Diverged, Crashed) as error:
            result = error
        yield position, result


def _canonical(name: str, system: Experiment, store: Store) -> Experiment:
    """Return the canonical form of a system, which sweeps use too, so that both share runs."""
    result, reasons = canonical(system, store)
    before, after = (config.flatten(experiment.to_dict()) for experiment in (system, result))
    for key, reason in reasons.items():
        if key == "augment":
            say(f"{name}: {key}: {reason}")
        elif before.get(key) != after.get(key):
            say(f"{name}: {key} has no effect: {reason}")
    return result


def _refuse_shared_runs(addresses: Mapping[str, str]) -> None:
    """Raise UserError for systems that train the same model, as they would overwrite each
    other's scores."""
    named: dict[str, str] = {}
    for name, run_address in addresses.items():
        other = named.setdefault(run_address, name)
        if other != name:
            raise UserError(
                f"systems '{other}' and '{name}' train the same model, run {run_address}: give "
                "them settings that "
                "differ in training; one system can be scored with another decoding.beam, without "
                "training"
            )


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
            "give "
            "storage=/a/shared/directory, or a URI such as s3://bucket/augury"
        )


def _run(
    run: Run, name: str, label: str, *, differing: Sequence[str], recorder: Recorder, scored: bool
) -> Folder:
    folder = run.folder
    with locked(folder):
        if not folder.complete:
            describe(run, name, differing)
            recorder.start(folder)
            status: Any = "FAILED"
            try:
                with (
                    recorder.follow(folder),
                    show_progress(folder, label, run.experiment.training),
                ):
                    train(run)
                if scored:
                    evaluate(run)
                status = "FINISHED"
            finally:
                recorder.finish(folder, status, artifacts(run))
            folder.finish({"address": run.address, "seed": run.seed})
        elif scored and not evaluated(run):
            evaluate(run)
            recorder.finish(folder, "FINISHED", artifacts(run))
        else:
            say(f"{label}: found, not trained again ({folder.uri})")
    return folder

"""Trials on Ray Tune: a searcher starts those that can run, and every validation is reported.

Tune's files of a sweep (results, curves for TensorBoard) lie in one folder; the truth is in the run
folders, from which a sweep continues.
"""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from ray import tune
from ray.exceptions import OutOfMemoryError
from ray.tune.experiment import Trial as TuneTrial
from ray.tune.search import Searcher
from ray.tune.trainable import wrap_function

from augury.core.errors import Outage, UserError, outage_of
from augury.core.machine import in_this_directory, release_memory
from augury.core.messages import say
from augury.core.naming import counted
from augury.core.plugin_files import describe_error
from augury.core.store import Folder
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.trial import run_trial
from augury.sweeping.schedulers import Trial
from augury.sweeping.state import TUNE
from augury.sweeping.trials import Trials

Points = Mapping[str, Mapping[str, Any]]
"""Address of a configuration -> its values of the swept keys."""
RUN, NAME, SCORED, DEADLINE = "run", "name", "scored", "ends_by"
"""Keys of a trial's configuration in addition to its seed and the swept ones."""
ERROR, OUTAGE, WARNING = "error", "outage", "warning"
"""Keys of the reports of what ended a trial, of what ends the sweep, and of what is to be said."""
DRIVER_MEMORY = 100 * 2**20
"""Bytes that Ray reserves for a trial whose workers are Ray Train's, in place of a CPU: drivers
would occupy the CPUs that their workers wait for."""
LOG = "ray.log"


class Placement(NamedTuple):
    """How trials are placed on the connected cluster."""

    resources: Mapping[str, float]
    """What Tune reserves for the actor of a trial."""
    execution: Mapping[str, Any]
    """The settings of execution that override the experiment's own."""
    at_once: int
    """The number of trials that fit, or that were asked for."""


def place(experiments: Sequence[Experiment], at_once: int | None = None) -> Placement:
    """Say and return the placement of these experiments' trials on the connected Ray cluster.

    A trial with one worker trains in its own actor, one with more on workers of Ray Train. By
    default as many as fit run at once. Raises UserError if not a single trial fits, or fewer than
    `at_once`.
    """
    import ray

    cluster: Mapping[str, float] = ray.cluster_resources()
    execution = experiments[0].execution
    workers = max(experiment.training.workers for experiment in experiments)
    has_workers = workers > 1
    cuda = execution.device == "cuda" or (execution.device == "auto" and cluster.get("GPU", 0) > 0)
    worker = execution.worker_resources(cuda)
    # A worker must fit on one node, whatever the nodes add up to.
    slots = 0
    for node in ray.nodes():
        if node["Alive"]:
            fitting = [node["Resources"].get(kind, 0) / amount for kind, amount in worker.items()]
            slots += math.floor(min(fitting) + 1e-9)
    fit = slots // workers
    needed = ", ".join(f"{workers * amount:g} {kind}" for kind, amount in worker.items())
    has = ", ".join(f"{cluster.get(kind, 0):g} {kind}" for kind in worker)
    if fit < (at_once or 1):
        wanted = f"--at-once {at_once}: only {fit} trials fit" if fit else "not a single trial fits"
        raise UserError(
            f"{wanted}: each needs {needed}, and the cluster has {has}, with room for {slots} "
            "workers in all; lower --at-once, training.workers, execution.threads or "
            "execution.gpus_per_worker, or use a larger cluster"
        )
    say(f"{counted(at_once or fit, 'trial')} at once, each with {needed}")
    return Placement(
        resources={"memory": DRIVER_MEMORY} if has_workers else worker,
        execution={
            "executor": "ray" if has_workers else "local",
            "device": "cuda" if cuda else "cpu",
            "threads": execution.threads or 1,
        },
        at_once=at_once or fit,
    )


def run_on_tune(trials: Trials, placement: Placement, points: Points, *, max_failures: int) -> bool:
    """Run trials on Ray Tune until none can begin, and return whether others wait for texts; Tune
    keeps its files in the folder of the trials, or in the working directory where that is on an
    object store.

    A trial whose process dies goes on from its last checkpoint, up to `max_failures` times. Raises
    Outage where files cannot be read or written.
    """
    search = TrialSearch(trials, points)

    def folder_name(trial: TuneTrial) -> str:  # the trial's own, as a file system allows it
        name = re.sub(r"[^\w.=,+-]+", "_", str(trial.config[NAME]))[:80]
        _, address, _ = trial.config[RUN].split("/")
        return f"{name}-{address[:8]}"

    folder = trials.folder
    files = _tune_folder(folder)
    os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(placement.at_once)  # actors start side by side
    # Processes that train go on with the next trial, as a new one takes seconds to start.
    reused = placement.execution["executor"] == "local"

    def run(config: Mapping[str, Any]) -> None:
        _run(config, folder.root, placement.execution)

    class SweepTrial(wrap_function(in_this_directory(run))):  # type: ignore[misc]
        def __repr__(self) -> str:
            return folder.name if reused else str(self.config[NAME])

        @classmethod
        def default_resource_request(cls, config: Any) -> tune.PlacementGroupFactory:
            return tune.PlacementGroupFactory([dict(placement.resources)])

    SweepTrial.__qualname__ = "Trial"  # how Ray's dashboard calls it
    tuner = tune.Tuner(
        SweepTrial,
        tune_config=tune.TuneConfig(
            search_alg=search,
            num_samples=-1,
            reuse_actors=reused,
            trial_name_creator=lambda trial: str(trial.config[NAME]),
            trial_dirname_creator=folder_name,
        ),
        run_config=tune.RunConfig(
            name=files.name,
            storage_path=str(files.parent),
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=max_failures),
            callbacks=[_Callback()],
        ),
    )
    with _quiet(files / LOG), _Callback.answering_ctrl_c():
        tuner.fit()
    if search.outage:
        raise Outage(search.outage)
    return search.waits_for_texts


def _tune_folder(folder: Folder) -> Path:
    """Return where Tune keeps its files of a sweep or experiment, which is said where that is
    elsewhere."""
    # Tune writes a small file for every value, which on an object store are requests.
    if folder.is_local:
        return Path(folder.path(TUNE))
    files = Path.cwd() / TUNE / folder.name.rpartition("/")[2]
    say(f"Ray Tune keeps its files on this machine, in {files}")
    return files


def _run(config: Mapping[str, Any], root: str, execution: Mapping[str, Any]) -> None:
    """Run a trial in an actor of Tune.

    What is wrong with it is reported and not raised: Tune would try it again, as it does where a
    process dies.
    """
    run = Run.read(Folder(root, config[RUN]))
    print(config[NAME], flush=True)  # in the actor's log
    release_memory()  # of the trial before in this process
    try:
        run_trial(
            run,
            scored=config[SCORED],
            execution=run.experiment.execution.model_copy(update=dict(execution)),
            deadline=config[DEADLINE],
            on_validation=lambda metrics: tune.report(dict(metrics)),
            warn=lambda line: tune.report({WARNING: line}),
        )
    except Exception as error:
        outage = outage_of(error)
        tune.report({OUTAGE: str(outage)} if outage else {ERROR: describe_error(error)})


class TrialSearch(Searcher):
    """Tells Tune which trial to run next."""

    def __init__(self, trials: Trials, points: Points):
        super().__init__()
        self.trials, self.points = trials, points
        self.outage = ""
        """Why no trial can go on, whatever its configuration."""
        self.waits_for_texts = False
        self._by_id: dict[str, Trial] = {}
        self._errors: dict[str, str] = {}

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Return the configuration of the next trial; None where it waits for one that runs.

        Tune ends where it waits for texts alone: its idle actors hold what making them needs.
        """
        trials = self.trials
        trial = None if self.outage else trials.next()
        if trial is None:
            if trials.running and not self.outage:
                return None
            self.waits_for_texts = trials.waits_for_texts and not trials.scheduler.finished
            return Searcher.FINISHED
        self._by_id[trial_id] = trial
        return {
            **self.points.get(trial.configuration, {}),
            "seed": trial.seed,
            NAME: trials.name_of(trial),
            RUN: trials.run_of(trial).folder.name,
            SCORED: trials.is_scored(trial),
            DEADLINE: trials.deadline_of(trial),
        }

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Note what has ended a trial, or is about to end the sweep."""
        self.outage = self.outage or result.get(OUTAGE, "")
        if line := result.get(WARNING):
            say(line)
        if error := result.get(ERROR):
            self._errors[trial_id] = error

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Record what became of a trial."""
        died = "its process died more often than execution.max_failures allows" if error else ""
        self.trials.end(self._by_id[trial_id], self._errors.get(trial_id) or died)

    # Tune copies and pickles what it is given, and saves its state: a sweep continues from its run
    # folders instead.

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def save(self, checkpoint_path: str) -> None:
        """Do nothing."""

    def restore(self, checkpoint_path: str) -> None:
        """Do nothing."""


class _Callback(tune.Callback):
    """Says which trials go on after the death of their process, and answers Ctrl-C between two
    steps of Tune: raised inside a call of Ray, a KeyboardInterrupt may be swallowed."""

    interrupted: ClassVar[bool] = False

    def on_trial_recover(self, iteration: int, trials: Any, trial: TuneTrial, **info: Any) -> None:
        say(f"warning: the process of {trial} has died: it goes on from its last checkpoint")

    def on_step_begin(self, iteration: int, trials: Any, **info: Any) -> None:
        if _Callback.interrupted:
            raise KeyboardInterrupt

    @classmethod
    @contextmanager
    def answering_ctrl_c(cls) -> Iterator[None]:
        """Handle SIGINT while the block runs, where this thread receives signals."""
        cls.interrupted = False
        os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(number: int, frame: Any) -> None:
            cls.interrupted = True

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if cls.interrupted:
            raise KeyboardInterrupt


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Redirect Ray's messages to the file `log` and discard its standard output.

    Raises UserError where memory runs out.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"  # the new output prints tables at any verbosity
    os.environ.setdefault("TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S", "0")
    ray_logger, handler = logging.getLogger("ray"), logging.FileHandler(log, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    earlier, ray_logger.handlers = ray_logger.handlers, [handler]
    try:
        with open(os.devnull, "w") as devnull, redirect_stdout(devnull):
            yield
    except RuntimeError as error:
        if not isinstance(error.__cause__, OutOfMemoryError):
            raise
        raise UserError(
            "memory ran out, and Ray killed a trial. The same command continues; with --at-once 1 "
            "it needs less memory"
        ) from error
    finally:
        ray_logger.handlers = earlier
        handler.close()

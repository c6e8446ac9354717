"""Trials on Ray Tune: a searcher starts them, a scheduler pauses, resumes and stops them."""

from __future__ import annotations

import logging
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

from ray import tune
from ray.exceptions import OutOfMemoryError
from ray.tune.experiment import Trial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from augury.core.errors import UserError
from augury.core.outages import Outage
from augury.core.periodic import Throttle
from augury.core.progress import say
from augury.core.ray_connection import connect
from augury.core.working_directory import in_this_directory
from augury.experiments.spec import Experiment
from augury.sweeping import trial as trials
from augury.sweeping.dispatcher import Dispatcher
from augury.sweeping.executors import TrialExecutor, place
from augury.sweeping.state import TrialKey
from augury.sweeping.trial import TrialSettings

CONFIGURATION, SEED = "configuration", "seed"
"""Keys of a trial's Tune configuration in addition to the swept ones."""
FOLLOW_SECONDS = 10.0
LOG = "ray.log"


class RayExecutor(TrialExecutor):
    """Runs trials as actors of Ray Tune, on the cluster to join or a Ray of this machine."""

    def __init__(self, experiments: Sequence[Experiment], at_once: int | None, directory: str):
        """Place the trials of experiments; Tune keeps its files in `directory`."""
        self.experiments, self.at_once, self.directory = experiments, at_once, directory
        self.execution = experiments[0].execution
        connect(self.execution.address)
        self.placed = place(experiments, at_once)
        self.placement = self.placed.placement
        self._follow_throttle = Throttle(FOLLOW_SECONDS)

    def run(self, dispatcher: Dispatcher, settings: TrialSettings) -> None:
        """Run trials until everything is decided or a limit is reached."""
        # By default Tune keeps a single pending trial. Its actor takes seconds to start and would
        # be discarded whenever another actor becomes free in the meantime.
        os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(2 * dispatcher.limits.at_once)
        tuner = tune.Tuner(
            tune.with_resources(
                tune.with_parameters(in_this_directory(_run), settings=settings),
                dict(self.placed.resources),
            ),
            tune_config=tune.TuneConfig(
                search_alg=_TrialSearcher(dispatcher, self),
                scheduler=_TuneScheduler(dispatcher),
                num_samples=-1,
                reuse_actors=settings.launcher == "direct",
                trial_name_creator=name_of,
                trial_dirname_creator=name_of,
            ),
            run_config=tune.RunConfig(
                name=f"{time.time():.0f}",
                storage_path=self.directory,
                verbose=0,
                callbacks=[_ProgressCallback(dispatcher, partial(self._follow, dispatcher))],
                failure_config=tune.FailureConfig(max_failures=self.execution.max_failures),
            ),
        )
        with quiet_tune(log_of(self.directory)):
            tuner.fit()
        if dispatcher.outage is not None:
            raise Outage(dispatcher.outage)

    def _follow(self, dispatcher: Dispatcher) -> None:
        """Let more trials run at once where machines have joined, and fewer where they are lost."""
        if self.at_once is not None or not self.execution.joins_cluster:
            return

        def follow() -> None:
            # Where not a single trial fits any more, those that wait do so for a machine.
            with suppress(UserError):
                self.placed = place(self.experiments)
                at_once = self.placed.placement.at_once
                dispatcher.limits = dispatcher.limits._replace(at_once=at_once)

        self._follow_throttle.run(follow)


def _run(config: Mapping[str, Any], settings: TrialSettings) -> None:
    """Run a trial in an actor of Tune."""
    trials.run(TrialKey(config[CONFIGURATION], config[SEED]), settings, tune.report)


def log_of(directory: str) -> Path:
    """Return Ray's log file for trials in `directory`.

    A temporary file if the directory is remote.
    """
    if "://" in directory:
        return Path(tempfile.gettempdir(), f"augury-{os.getpid()}-{LOG}")
    return Path(directory, LOG)


@contextmanager
def quiet_tune(log: Path) -> Iterator[None]:
    """Redirect Ray's messages and tracebacks to the file `log`, discard its standard output and
    handle Ctrl-C.

    Raises UserError where memory runs out.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    ray_logger, handler = logging.getLogger("ray"), _LogFile(log, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    earlier, ray_logger.handlers = ray_logger.handlers, [handler]
    try:
        with _quiet_output(), _memory_as_user_error():
            yield
    finally:
        ray_logger.handlers = earlier
        handler.close()


class _LogFile(logging.FileHandler):
    """A log file that loses what it cannot write, as on a full disk, without a word."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: the trial, which writes to the same disk, says what is wrong."""


@contextmanager
def _memory_as_user_error() -> Iterator[None]:
    """Raise UserError where Ray kills a trial because memory runs out: unlike other deaths, it
    ends Tune."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error.__cause__, OutOfMemoryError):
            raise
        usage = re.search(r"\S+ used / \S+ limit", str(error.__cause__))
        raise UserError(
            f"memory ran out{f' ({usage[0]})' if usage else ''}, and Ray killed a trial. The same "
            "command continues; "
            "with --at-once 1 it needs less memory"
        ) from error


@contextmanager
def _quiet_output() -> Iterator[None]:
    os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"  # the new output prints tables at any verbosity
    os.environ.setdefault("TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S", "0")
    with open(os.devnull, "w") as devnull, redirect_stdout(devnull), Interruptible.listening():
        yield


class Interruptible(tune.Callback):
    """Raises KeyboardInterrupt after Ctrl-C between two steps of Tune (about ten a second).

    Raised inside a call of Ray, a KeyboardInterrupt may be swallowed.
    """

    requested: ClassVar[bool] = False

    @classmethod
    @contextmanager
    def listening(cls) -> Iterator[None]:
        """Handle Ctrl-C while the block runs.

        Does nothing outside the main thread, which receives signals.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def request(number: int, frame: Any) -> None:
            Interruptible.requested = True

        Interruptible.requested = False
        before = signal.signal(signal.SIGINT, request)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if Interruptible.requested:
            raise KeyboardInterrupt

    def on_step_begin(self, iteration: int, trials: Iterable[Trial], **info: Any) -> None:
        if Interruptible.requested:
            raise KeyboardInterrupt


def name_of(trial: Trial) -> str:
    """Return Tune's name of a trial.

    It stays the same when a population changes the trial's settings.
    """
    return f"{trial.config[CONFIGURATION]}-seed-{trial.config[SEED]}"


def key_of(trial: Trial | str) -> TrialKey:
    """Return the key of a trial of Tune, or of a trial's name."""
    configuration, _, seed = str(trial).rpartition("-seed-")
    return TrialKey(configuration, int(seed))


class _Unpickled:
    """Is not copied, and its pickle is None: Tune copies and pickles what it is given, and a sweep
    continues from its run folders, never from Tune's state."""

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class _TrialSearcher(_Unpickled, Searcher):
    """Starts the trials that the dispatcher wants next."""

    def __init__(self, dispatcher: Dispatcher, executor: RayExecutor):
        super().__init__()
        self.dispatcher, self.executor = dispatcher, executor

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        if Interruptible.requested:  # Tune asks here without a step while nothing can run
            raise KeyboardInterrupt
        if self.dispatcher.finished or self.dispatcher.full:
            return Searcher.FINISHED
        key = self.dispatcher.next_trial(standby=self.executor.placed.standby)
        return (
            None
            if key is None
            else {CONFIGURATION: key.configuration, SEED: key.seed, **self.dispatcher.start(key)}
        )

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Do nothing: the scheduler handles completed trials."""

    def save(self, checkpoint_path: str) -> None:
        """Do nothing: sweeps continue from run folders, not from Tune's state."""

    def restore(self, checkpoint_path: str) -> None:
        """Do nothing, see `save`."""


class _TuneScheduler(_Unpickled, TrialScheduler):
    """Pauses, resumes and stops trials as the dispatcher decides."""

    def __init__(self, dispatcher: Dispatcher):
        super().__init__()
        self.dispatcher = dispatcher

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Do nothing: a new trial has no results."""

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        action = self.dispatcher.on_report(key_of(trial), result)
        self._stop_eliminated(tune_controller, current=trial)
        return action

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> None:
        self.dispatcher.on_complete(key_of(trial))
        self._stop_eliminated(tune_controller, current=trial)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        if trial.status == Trial.ERROR:
            # the actor died and Tune retries the trial; permanent failures are still RUNNING or
            # PENDING here
            say(f"warning: {self.dispatcher.describe_retry(key_of(trial))}")
            return
        self.dispatcher.on_error(key_of(trial), failure_of(trial))
        self._stop_eliminated(tune_controller, current=trial)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        self.dispatcher.on_remove(key_of(trial))

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        trials = list(tune_controller.get_trials())
        pending = [trial for trial in trials if trial.status == Trial.PENDING]
        # Tune starts these itself when there is room, and reuses a free actor for the one returned
        # here
        if pending:
            return pending[-1]  # least likely to have started an actor, which Tune would discard
        paused = {key_of(trial): trial for trial in trials if trial.status == Trial.PAUSED}
        active = sum(trial.status == Trial.RUNNING for trial in trials)
        key = self.dispatcher.next_to_resume(paused, active)
        if key is None and not active and (self.dispatcher.finished or self.dispatcher.full):
            for trial in paused.values():  # no result is left to wait for
                tune_controller.stop_trial(trial)
        return paused[key] if key else None

    def debug_string(self) -> str:
        return "groups of seeds"

    def _stop_eliminated(self, tune_controller: Any, current: Trial) -> None:
        """Stop pending and paused trials that will not continue."""
        inactive = {
            key_of(trial): trial
            for trial in tune_controller.get_trials()
            if trial is not current and trial.status in (Trial.PENDING, Trial.PAUSED)
        }
        for key in self.dispatcher.dropped(inactive):
            tune_controller.stop_trial(inactive[key])


class _ProgressCallback(_Unpickled, Interruptible):
    """Marks trials as running when they start, and calls what is to be done in between."""

    def __init__(self, dispatcher: Dispatcher, each_step: Callable[[], None]):
        self.dispatcher, self.each_step = dispatcher, each_step

    def on_step_begin(self, iteration: int, trials: Iterable[Trial], **info: Any) -> None:
        super().on_step_begin(iteration, trials, **info)
        self.each_step()

    def on_trial_start(
        self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any
    ) -> None:
        self.dispatcher.progress[key_of(trial)] = "running"


def failure_of(trial: Trial) -> str:
    """Return the first line of a trial's error and the path of its traceback, if Ray has them."""
    error = trial.get_pickled_error() or trial.get_error()
    lines = [line for line in str(error or "").splitlines() if line.strip()]
    reason = lines[0] if lines else "the process of the trial died"
    return f"{reason} (traceback: {trial.error_file})" if trial.error_file else reason

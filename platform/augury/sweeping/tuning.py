"""Ray Tune runs what the dispatcher hands out: a searcher begins trials, a scheduler decides on configurations."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, ClassVar

from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from augury.sweeping import trial as trials
from augury.sweeping.dispatcher import Dispatcher, Key
from augury.sweeping.trial import CONFIGURATION, ERROR, SEED, TrialSettings

LOG = "ray.log"


def run(
    dispatcher: Dispatcher,
    settings: TrialSettings,
    resources: Mapping[str, float],
    *,
    name: str,
    directory: str,
    deaths: int,
) -> None:
    """Run trials until all is decided or the limits are reached; a trial whose process dies is begun again."""
    # Of trials that wait, Tune by itself holds only one. Its actor, which takes seconds to start, would be thrown away
    # for each that becomes free meanwhile, and another be started.
    os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(2 * dispatcher.limits.at_once)
    tuner = tune.Tuner(
        tune.with_resources(tune.with_parameters(trials.run, settings=settings), dict(resources)),
        tune_config=tune.TuneConfig(
            search_alg=_TrialSearcher(dispatcher),
            scheduler=_GroupScheduler(dispatcher),
            num_samples=-1,
            reuse_actors=settings.launcher == "direct",
            trial_name_creator=name_of,
            trial_dirname_creator=name_of,
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=directory,
            verbose=0,
            callbacks=[_ProgressCallback(dispatcher)],
            failure_config=tune.FailureConfig(max_failures=deaths),
        ),
    )
    with quiet_tune(log_of(directory)):
        tuner.fit()


def log_of(directory: str) -> Path:
    """Return the file for what Ray logs about trials in `directory`; of another machine's storage, a temporary one."""
    if "://" in directory:
        return Path(tempfile.gettempdir(), f"augury-{os.getpid()}-{LOG}")
    return Path(directory, LOG)


@contextmanager
def quiet_tune(log: Path) -> Iterator[None]:
    """Keep Ray from the terminal and standard output while the block runs, and from Ctrl-C: the next command continues.

    What Ray logs, tracebacks included, goes to the file `log`.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    ray_logger, handler = logging.getLogger("ray"), logging.FileHandler(log, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    earlier, ray_logger.handlers = ray_logger.handlers, [handler]
    try:
        with _quiet_output():
            yield
    finally:
        ray_logger.handlers = earlier
        handler.close()


@contextmanager
def _quiet_output() -> Iterator[None]:
    os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"  # the other one draws its tables whatever the verbosity
    os.environ.setdefault("TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S", "0")
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), Interruptible.listening():
        yield


class Interruptible(tune.Callback):
    """Ends Tune between two of its steps, ten in a second, after Ctrl-C.

    Raised wherever it happens to come, inside a call of Ray, a KeyboardInterrupt may be swallowed.
    """

    requested: ClassVar[bool] = False

    @classmethod
    @contextmanager
    def listening(cls) -> Iterator[None]:
        """Take Ctrl-C while the block runs, where this thread gets it."""
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
    """Return what Tune calls a trial; the name stays when a population changes the trial's settings."""
    return f"{trial.config[CONFIGURATION]}-seed-{trial.config[SEED]}"


def key_of(name: str) -> Key:
    """Return the trial that such a name means."""
    configuration, _, seed = name.rpartition("-seed-")
    return Key(configuration, int(seed))


class _TrialSearcher(Searcher):
    """Begins the trials that the scheduler wants, when it wants them."""

    def __init__(self, dispatcher: Dispatcher):
        super().__init__()
        self.dispatcher = dispatcher

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        if self.dispatcher.over or self.dispatcher.full:
            return Searcher.FINISHED
        key = self.dispatcher.take()
        return None if key is None else {CONFIGURATION: key.configuration, SEED: key.seed, **self.dispatcher.start(key)}

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """The scheduler is told too, and knows the trial."""

    def save(self, checkpoint_path: str) -> None:
        """A sweep is continued from its run folders; Tune's own state is not used."""

    def restore(self, checkpoint_path: str) -> None:
        """See `save`."""


class _GroupScheduler(TrialScheduler):
    """Pauses, continues and stops trials as is decided of their configurations."""

    def __init__(self, dispatcher: Dispatcher):
        super().__init__()
        self.dispatcher = dispatcher

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Nothing is decided yet."""

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        if error := result.get(ERROR):
            self.dispatcher.failed(key_of(str(trial)), error)
            verdict = "STOP"
        else:
            verdict = self.dispatcher.verdict(key_of(str(trial)), result)
        self._stop_losers(tune_controller, but=trial)
        return verdict

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> None:
        self.dispatcher.returned(key_of(str(trial)))
        self._stop_losers(tune_controller, but=trial)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        if trial.status == Trial.ERROR:
            return  # its actor is gone and Tune queues it again; what fails for good still runs or pends here
        self.dispatcher.failed(key_of(str(trial)), failure_of(trial))
        self._stop_losers(tune_controller, but=trial)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        self.dispatcher.left(key_of(str(trial)))

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        known = list(tune_controller.get_trials())
        pending = [trial for trial in known if trial.status == Trial.PENDING]
        if pending:  # Tune starts these as soon as there is room, and gives the one chosen here an actor that is free
            return pending[-1]  # least likely to have one of its own, which Tune would throw away for the free one
        paused = {key_of(str(trial)): trial for trial in known if trial.status == Trial.PAUSED}
        active = sum(trial.status == Trial.RUNNING for trial in known)
        key = self.dispatcher.resume(paused, active)
        if key is None and not active and (self.dispatcher.over or self.dispatcher.full):
            for trial in paused.values():  # nothing is left that could decide of them
                tune_controller.stop_trial(trial)
        return paused[key] if key else None

    def debug_string(self) -> str:
        return "groups of seeds"

    def _stop_losers(self, tune_controller: Any, but: Trial) -> None:
        """End the trials that wait for a decision which has gone against them."""
        wanted = set(self.dispatcher.wanted())
        ended = self.dispatcher.over
        for trial in list(tune_controller.get_trials()):
            waits = trial is not but and trial.status in (Trial.PENDING, Trial.PAUSED)
            if (
                waits
                and key_of(str(trial)) not in wanted
                and (ended or key_of(str(trial)).configuration in self.dispatcher.scheduler.out)
            ):
                tune_controller.stop_trial(trial)


class _ProgressCallback(Interruptible):
    """Notes when trials run."""

    def __init__(self, dispatcher: Dispatcher):
        self.dispatcher = dispatcher

    def on_trial_start(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.dispatcher.progress[key_of(str(trial))] = "running"


def failure_of(trial: Trial) -> str:
    """Return why a trial's process died, as far as Ray knows, and where all that it says of it lies."""
    error = trial.get_pickled_error() or trial.get_error()
    lines = [line for line in str(error or "").splitlines() if line.strip()]
    reason = lines[0] if lines else "its process died"
    return f"{reason} (traceback: {trial.error_file})" if trial.error_file else reason

"""Ray Tune runs what the desk hands out: a searcher that begins trials, a scheduler whose unit is the configuration."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, ClassVar

from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from augury.sweeping import trial as trials
from augury.sweeping.desk import Desk, Key
from augury.sweeping.trial import CONFIGURATION, ERROR, SEED, Setting


def run(
    desk: Desk,
    setting: Setting,
    resources: Mapping[str, float],
    *,
    name: str,
    directory: str,
    deaths: int,
) -> None:
    """Run trials until the race is over or its limits are reached; a trial whose process dies is begun again."""
    # Of trials that wait, Tune by itself holds only one. Its actor, which takes seconds to start, would be thrown away
    # for each that becomes free meanwhile, and another be started.
    os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(2 * desk.limits.at_once)
    tuner = tune.Tuner(
        tune.with_resources(tune.with_parameters(trials.run, setting=setting), dict(resources)),
        tune_config=tune.TuneConfig(
            search_alg=_Beginner(desk),
            scheduler=_Groups(desk),
            num_samples=-1,
            reuse_actors=setting.launcher == "direct",
            trial_name_creator=name_of,
            trial_dirname_creator=name_of,
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=directory,
            verbose=0,
            callbacks=[_Watch(desk)],
            failure_config=tune.FailureConfig(max_failures=deaths),
        ),
    )
    with ours():
        tuner.fit()


@contextmanager
def ours() -> Iterator[None]:
    """Leave the terminal to us, standard output to results, and Ctrl-C too: the next command continues."""
    os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"  # the other one draws its tables whatever the verbosity
    os.environ.setdefault("TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S", "0")
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), Interruptible.listening():
        yield


class Interruptible(tune.Callback):
    """Ends Tune between two of its steps, ten in a second, after Ctrl-C.

    Raised wherever it happens to come, inside a call of Ray, a KeyboardInterrupt may be swallowed.
    """

    asked: ClassVar[bool] = False

    @classmethod
    @contextmanager
    def listening(cls) -> Iterator[None]:
        """Take Ctrl-C while the block runs, where this thread gets it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(number: int, frame: Any) -> None:
            Interruptible.asked = True

        Interruptible.asked = False
        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if Interruptible.asked:
            raise KeyboardInterrupt

    def on_step_begin(self, iteration: int, trials: Iterable[Trial], **info: Any) -> None:
        if Interruptible.asked:
            raise KeyboardInterrupt


def name_of(trial: Trial) -> str:
    """What Tune calls a trial; it is given once, and stays when a population changes the trial's settings."""
    return f"{trial.config[CONFIGURATION]}-seed-{trial.config[SEED]}"


def key_of(name: str) -> Key:
    """Which trial that name means."""
    configuration, _, seed = name.rpartition("-seed-")
    return Key(configuration, int(seed))


class _Beginner(Searcher):
    """Begins the trials that the race asks for, when it asks for them."""

    def __init__(self, desk: Desk):
        super().__init__()
        self.desk = desk

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        if self.desk.over or self.desk.full:
            return Searcher.FINISHED
        key = self.desk.take()
        return None if key is None else {CONFIGURATION: key.configuration, SEED: key.seed, **self.desk.start(key)}

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """The scheduler is told too, and knows the trial."""

    def save(self, checkpoint_path: str) -> None:
        """A sweep is continued from its run folders; Tune's own state is not used."""

    def restore(self, checkpoint_path: str) -> None:
        """See `save`."""


class _Groups(TrialScheduler):
    """Pauses, continues and stops trials as the race decides of their configurations."""

    def __init__(self, desk: Desk):
        super().__init__()
        self.desk = desk

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Nothing is decided yet."""

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        if error := result.get(ERROR):
            self.desk.failed(key_of(str(trial)), error)
            verdict = "STOP"
        else:
            verdict = self.desk.verdict(key_of(str(trial)), result)
        self._stop_losers(tune_controller, but=trial)
        return verdict

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> None:
        self.desk.returned(key_of(str(trial)))
        self._stop_losers(tune_controller, but=trial)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        if trial.status == Trial.ERROR:
            return  # its actor is gone and Tune queues it again; what fails for good still runs or pends here
        self.desk.failed(key_of(str(trial)), last_words(trial))
        self._stop_losers(tune_controller, but=trial)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        self.desk.left(key_of(str(trial)))

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        known = list(tune_controller.get_trials())
        pending = [trial for trial in known if trial.status == Trial.PENDING]
        if pending:  # Tune starts these as soon as there is room, and gives the one chosen here an actor that is free
            return pending[-1]  # least likely to have one of its own, which Tune would throw away for the free one
        paused = {key_of(str(trial)): trial for trial in known if trial.status == Trial.PAUSED}
        active = sum(trial.status == Trial.RUNNING for trial in known)
        key = self.desk.resume(paused, active)
        if key is None and not active and (self.desk.over or self.desk.full):
            for trial in paused.values():  # nothing is left that could decide of them
                tune_controller.stop_trial(trial)
        return paused[key] if key else None

    def debug_string(self) -> str:
        return "groups of seeds"

    def _stop_losers(self, tune_controller: Any, but: Trial) -> None:
        """End the trials that wait for a decision which has gone against them."""
        wanted = set(self.desk.wanted())
        ended = self.desk.over
        for trial in list(tune_controller.get_trials()):
            waits = trial is not but and trial.status in (Trial.PENDING, Trial.PAUSED)
            if (
                waits
                and key_of(str(trial)) not in wanted
                and (ended or key_of(str(trial)).configuration in self.desk.race.out)
            ):
                tune_controller.stop_trial(trial)


class _Watch(Interruptible):
    """Notes when trials run."""

    def __init__(self, desk: Desk):
        self.desk = desk

    def on_trial_start(self, iteration: int, trials: Iterable[Trial], trial: Trial, **info: Any) -> None:
        self.desk.progress[key_of(str(trial))] = "running"


def last_words(trial: Trial) -> str:
    """Why a trial's process died, as far as Ray knows."""
    error = trial.get_pickled_error() or trial.get_error()
    lines = [line for line in str(error or "").splitlines() if line.strip()]
    return lines[0] if lines else "its process died"

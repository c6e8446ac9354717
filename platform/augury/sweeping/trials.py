"""The trials of one command: which can begin now, and what became of them.

A trial is one configuration trained with one seed. The scheduler says which are wanted; the graph,
what they need first: texts, and models of operators and earlier stages, which are trials too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain

from augury.augment.health import UnusableOutput
from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.plugin_files import describe_error
from augury.core.store import Folder
from augury.experiments.graph import Graph, Step
from augury.experiments.make import make_run
from augury.experiments.monitor import show_progress
from augury.experiments.recording import Recorder
from augury.experiments.run import Run, describe, describe_scores
from augury.experiments.trial import is_done
from augury.sweeping.schedulers import Scheduler, Trial
from augury.sweeping.state import TrialProgress


@dataclass
class Trials:
    """The trials of a command: says which comes next, and keeps what became of each.

    Used by the thread of the command; texts that need a model are made on one of their own where
    trials run elsewhere (`texts_beside`).
    """

    graph: Graph
    scheduler: Scheduler
    folder: Folder
    """That of the sweep or experiment."""
    value: Callable[[Trial], float | None]
    """What the scheduler compares of a finished trial; None where there is no such value."""
    compared: Callable[[Trial], bool]
    """Whether the scheduler knows a trial; others are trained for those."""
    at_once: int = 1
    differing: Sequence[str] = ()
    """The parameters in which the systems differ, for the descriptions of runs."""
    texts_beside: bool = False
    recorder: Recorder = lambda run: None
    followed: Callable[[Trial], bool] = lambda trial: True
    """Whether a trial is recorded and shown on its own while it runs."""
    deadline_of: Callable[[Trial], float | None] = lambda trial: None
    """The Unix time at which a trial must end; where it has passed, none begins."""
    on_late: Callable[[], bool] = lambda: False
    """Called where a deadline has passed; returns whether other trials are wanted now."""
    runs: dict[str, Run] = field(default_factory=dict)
    """By address, with the first seed, once their texts are made."""
    progress: dict[Trial, TrialProgress] = field(default_factory=dict)
    errors: dict[Trial, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """What is said of systems and trials that failed."""
    _failed_texts: dict[str, str] = field(default_factory=dict)
    """Why texts cannot be made, by the address of their plan."""
    _begun_texts: set[str] = field(default_factory=set)
    waits_for_texts: bool = False
    """Whether texts were being made when `next` last looked for a trial."""
    begun: dict[Trial, float] = field(default_factory=dict)
    """When trials of this command began, in Unix time."""
    seconds: dict[Trial, float] = field(default_factory=dict)
    """What those that ended took."""
    _shown: dict[Trial, ExitStack] = field(default_factory=dict)
    _unscored: set[Trial] = field(default_factory=set)
    """Trials of earlier commands that are trained and lack scores which this one asks for."""
    _told: set[Trial] = field(default_factory=set)
    _known: dict[Trial, bool] = field(default_factory=dict)
    """Whether trials are done, as the storage says."""

    def __post_init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "texts") if self.texts_beside else None

    # ----- what is there

    def make_texts(self) -> None:
        """Make the texts that need no model that is still to be trained.

        Raises what concerns more than one system: a configuration whose operators make nothing
        that it could be trained on fails alone.
        """
        for step in self.graph.missing(self.graph.scored):
            if step.seed is None and all(map(self._is_made, self.graph.inputs(step))):
                self._begun_texts.add(step.address)
                self._make_text(step, UnusableOutput)

    def replay(self, trials: Collection[Trial]) -> int:
        """Tell the scheduler of trials that earlier commands have finished; return their number."""
        for trial in trials:
            if self.is_done(trial):
                self._finish(trial)
            elif self.graph.is_trained(Step(*trial)):
                self._unscored.add(trial)
        return len(self._told)

    def run_of(self, trial: Trial) -> Run:
        """Return the run of a trial whose texts are made."""
        return self.runs[trial.configuration].with_seed(trial.seed)

    def name_of(self, trial: Trial) -> str:
        """Return the name of a trial for people."""
        return f"{self.graph.names[Step(*trial)]}, seed {trial.seed}"

    def is_scored(self, trial: Trial) -> bool:
        """Return whether a trial is one of a system, and not only a model for others."""
        return Step(*trial) in self.graph.scored

    def is_done(self, trial: Trial) -> bool:
        """Return whether a run is trained and has the scores that are asked for."""
        if trial not in self._known:
            run = self.runs.get(trial.configuration)
            if run is None:  # its texts wait, or are not needed any more
                return self.graph.is_made(Step(*trial))
            self._known[trial] = is_done(run.with_seed(trial.seed), scored=self.is_scored(trial))
        return self._known[trial]

    # ----- what comes next

    def next(self) -> Trial | None:
        """Begin and return the most urgent trial that can run now; None where there is none."""
        while not self.scheduler.finished and self.running < self.at_once:
            made = self._texts_made
            trial = next((trial for trial in self._wanted() if trial not in self.progress), None)
            self.waits_for_texts = len(self._begun_texts) > self._texts_made
            if trial is None and self._texts_made > made:
                continue  # texts were made just now
            if trial is None:
                # What is left may be what a deadline has ended.
                late = not self.running and "stopped" in self.progress.values()
                if late and self.on_late():
                    continue
                return None
            if self.is_done(trial):
                self._finish(trial)
                continue
            deadline = self.deadline_of(trial)
            if deadline is not None and time.time() >= deadline:
                if self.on_late():
                    continue
                return None
            run = self.run_of(trial)
            if run.folder.complete:  # what trains and scores it may read it in another process
                describe_scores(run)
            else:
                differing = self.differing if self.is_scored(trial) else ()
                describe(run, self.graph.names[Step(*trial)], differing)
            self.progress[trial] = "running"
            self.begun[trial] = time.time()
            self._shown[trial] = ExitStack()
            if self.followed(trial):
                self.recorder(run.folder)
                shown = show_progress(run.folder, self.name_of(trial), run.experiment.training)
                self._shown[trial].enter_context(shown)
            return trial
        return None

    @property
    def running(self) -> int:
        """The number of trials that run now."""
        return sum(progress == "running" for progress in dict(self.progress).values())

    @property
    def _texts_made(self) -> int:
        return len(self.runs) + len(self._failed_texts)

    def finish_texts(self) -> None:
        """Wait until the texts are made that are made beside trials, one after the other."""
        if self._thread is not None:
            self._thread.submit(lambda: None).result()

    def end(self, trial: Trial, error: str = "") -> None:
        """Record that a trial has ended: finished, failed, or stopped by its deadline."""
        self._known.pop(trial, None)
        self.seconds[trial] = time.time() - self.begun[trial]
        if error:
            self._fail(trial, error)
        elif self.is_done(trial):
            self._finish(trial)
        else:
            self.progress[trial] = "stopped"
        self._shown.pop(trial).close()

    # ----- scheduler and graph

    def _finish(self, trial: Trial) -> None:
        self.progress[trial] = "finished"
        if self.compared(trial) and trial not in self._told:
            self._told.add(trial)
            value = self.value(trial)
            if value is None:
                self._fail(trial, "it has no value to be compared by: change 'metric'")
            else:
                self.scheduler.tell(*trial, value)

    def _fail(self, trial: Trial, error: str) -> None:
        self.progress[trial], self.errors[trial] = "failed", error
        if trial.configuration not in self._failed_texts:  # which is said once for all seeds
            self.failures.append(f"{self.name_of(trial)} failed: {error}")
            say(f"warning: {self.failures[-1]}")
        if self.compared(trial):
            self.scheduler.fail(*trial)

    def _wanted(self) -> Iterator[Trial]:
        """Yield the trials that can run now, most urgent first; in place of one that has to wait,
        those that it waits for.

        What is only to be scored comes first: it takes seconds, and decides what is trained.
        """
        work = self.scheduler.work()
        if self._unscored:
            work = sorted(work, key=lambda trial: trial not in self._unscored)
        for trial in work:
            step = Step(*trial)
            error = next(self._errors(step), None)
            if error is None:
                for runnable in self._runnable(step):
                    if runnable.seed is not None:
                        yield Trial(runnable.address, runnable.seed)
            elif trial not in self.errors:
                self._fail(trial, error)

    def _runnable(self, step: Step) -> list[Step]:
        """Return the steps that can begin now for a step to be made; its texts do begin."""
        waiting = [needed for needed in self.graph.inputs(step) if not self._is_made(needed)]
        if waiting:
            first = chain.from_iterable(map(self._runnable, waiting))
            return list(dict.fromkeys(first))  # several may wait for the same one
        if step.seed is None and step.address not in self._begun_texts:
            self._begun_texts.add(step.address)
            if self._thread is None:
                self._make_text(step)
            else:
                self._thread.submit(self._make_text, step)
        return [step]

    def _make_text(self, step: Step, caught: type[Exception] = Exception) -> None:
        try:
            self.runs[step.address] = make_run(self.graph.plans[step.address])
        except caught as error:
            said = str(error) if isinstance(error, UserError) else describe_error(error)
            self._failed_texts[step.address] = said
            self.failures.append(f"{self.graph.names[step]} is not trained: {said}")
            say(f"warning: {self.failures[-1]}")

    def _is_made(self, step: Step) -> bool:
        if step.seed is None:
            return step.address in self.runs
        return self.is_done(Trial(step.address, step.seed))

    def _errors(self, step: Step) -> Iterator[str]:
        """Yield the errors that keep a step from being made."""
        if step.seed is None and step.address in self._failed_texts:
            yield self._failed_texts[step.address]
        for needed in self.graph.inputs(step):
            if needed.seed is not None and Trial(needed.address, needed.seed) in self.errors:
                yield f"{self.graph.names[needed]}, seed {needed.seed}, which it needs, has failed"
            elif not self._is_made(needed):
                yield from self._errors(needed)

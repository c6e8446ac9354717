"""Run a sweep: plan its configurations, train the missing trials that a scheduler asks for within a
budget, and write what is decided."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import asdict, dataclass
from itertools import product

from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.naming import counted
from augury.core.store import Folder, Store
from augury.experiments import preflight
from augury.experiments.graph import Step
from augury.experiments.make import open_storage, reach_storage
from augury.experiments.preflight import say_warnings
from augury.experiments.recording import Recording
from augury.experiments.run import commit
from augury.experiments.systems import metrics_of
from augury.sweeping.applied import left_out_lines
from augury.sweeping.budget import RESERVED_AT_MOST, estimate, make_plan, seed_seconds
from augury.sweeping.driver import run_trials, runs_on_ray
from augury.sweeping.plan import SweepOptions, SweepPlan
from augury.sweeping.proposals import combine
from augury.sweeping.schedulers import Race, Scheduler, Standings, Trial
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, ENDS, SWEEPS, Curves, Sweep, best_value
from augury.sweeping.trials import Trials
from augury.sweeping.writer import Show, StateWriter


@dataclass(frozen=True)
class SweepOutcome:
    """The state of a sweep after a command."""

    sweep: Sweep
    reused: int
    """Number of trials finished by earlier commands."""
    unfinished: bool
    """Whether a limit ended the command before everything was decided."""
    missing: int
    """Number of trials, at most, that the choice and its confirmation still take."""
    missing_seconds: float | None
    """What they take, as those of this command did; None where none has finished."""


def run(space: Space, options: SweepOptions, recording: Recording, *, show: Show) -> SweepOutcome:
    """Train the missing trials of a sweep and decide on them. Raises UserError before training
    if that cannot work."""
    commit()  # kept from now on: later the directory may be gone
    store = open_storage(options.storage)
    folder = store.folder(SWEEPS, options.name)
    return _Command(space, options, recording, show, store, folder).run()


@dataclass
class _Command:
    """One command on a sweep."""

    space: Space
    options: SweepOptions
    recording: Recording
    show: Show
    store: Store
    sweep: Folder
    deadline: float | None = None
    """The Unix time at which the budget is spent."""
    cut_short: bool = False
    """Whether the budget made the choice before the scheduler did."""

    def run(self) -> SweepOutcome:
        options = self.options
        self.plan = self._make_plan()
        graph, configurations = self.plan.graph, self.plan.configurations
        base = self.plan.base()
        experiments = [base, *(planned.experiment for planned in configurations.values())]
        reach_storage(base.execution, self.store.root)
        preflight.check(experiments, graph)
        say_warnings(experiments, self.store)
        self._add_to_graph()
        if cost := estimate(self.plan, options.seeds, options.at_once):
            say(str(cost))
        # Before the first trial, so that other commands can show and compare an unfinished sweep.
        self._write_definition()
        known = [Trial(*pair) for pair in product(configurations, options.seeds)]
        missing = [trial for trial in known if not graph.is_trained(Step(*trial))]
        experiments += [plan.experiment for plan in graph.plans.values()]
        on_ray = runs_on_ray(experiments, missing)
        with self.recording(base.tracking, self.store) as recorder:
            self.trials = trials = Trials(
                graph,
                self._scheduler(),
                self.sweep,
                value=self._value,
                compared=self._is_compared,
                texts_beside=on_ray,
                recorder=recorder,
                # Those of the sweep are recorded and shown with it.
                followed=lambda trial: not self._is_compared(trial),
                deadline_of=self._deadline_of,
                on_late=self._choose_now,
            )
            trials.make_texts()
            # What is prepared above does not count: the budget is one for trials.
            if options.budget is not None:
                self.deadline = time.time() + options.budget
            already = trials.replay(known)
            size = f"{counted(len(configurations), 'configuration')} × up to "
            size += counted(len(options.seeds), "seed")
            say(f"{size}; {counted(already, 'trial')} already finished")
            writer = StateWriter(trials, self.sweep, self.show, self.deadline)
            recorder(self.sweep)
            with writer.writing():
                points = {address: known.point for address, known in configurations.items()}
                run_trials(trials, experiments, points, on_ray=on_ray, at_once=options.at_once)
            finished = trials.scheduler.finished and not self.cut_short
            sweep = writer.end(finished=finished)
        wanted = {Trial(*pair) for pair in product(configurations, options.seeds)}
        wanted.update(trials.scheduler.work())
        left = sum(trials.progress.get(trial) not in ENDS for trial in wanted)
        rest = estimate(self.plan, options.seeds, trials.at_once)
        reused = sum(
            state == "finished" and trial not in trials.begun and self._is_compared(trial)
            for trial, state in trials.progress.items()
        )
        return SweepOutcome(sweep, reused, not finished, left, rest and rest.all_seeds)

    def _make_plan(self) -> SweepPlan:
        """Return the configurations that are known before anything runs."""
        plan = make_plan(self.space, self.options)
        for merged in plan.merged:
            say(f"{merged.name} is the same experiment as {merged.same_as}: {merged.reason}")
        for line in left_out_lines(plan.left_out):
            say(line)
        if not plan.configurations:
            raise UserError(f"space '{self.space.name}' has no points: give its keys values")
        return plan

    def _add_to_graph(self) -> None:
        """Let the graph know all configurations with the seeds of choosing and of confirming."""
        configurations = self.plan.configurations.values()
        seeds = (*self.options.seeds, *self.options.fresh_seeds)
        self.plan.graph.add({known.name: known.experiment for known in configurations}, seeds)

    def _is_compared(self, trial: Trial) -> bool:
        seeds = (*self.options.seeds, *self.options.fresh_seeds)
        return trial.configuration in self.plan.configurations and trial.seed in seeds

    def _scheduler(self) -> Scheduler:
        """Return what says which trial comes next."""
        options, known = self.options, self.plan.configurations
        kind = Race if options.scheduler == "race" and len(known) > 1 else Scheduler
        scheduler = kind(known, options.seeds, self.space.mode, options.fresh_seeds)
        if kind is Race and self.space.families and not options.rows:
            scheduler.rounds = [self._combine]  # rows that are named are trained alone
        return scheduler

    def _combine(self, standings: Standings) -> list[str]:
        added = combine(self.plan, standings)
        self._add_to_graph()
        self._write_definition()
        return added

    # ----- values, times and budgets

    def _value(self, trial: Trial) -> float | None:
        """Return the best validation of a trial, None without any and NaN where none is finite."""
        folder = self.plan.graph.plans[trial.configuration].run(trial.seed)
        curve = Curves(self.space.metric).of(folder)
        best = best_value(curve, self.space.mode)
        return math.nan if curve and best is None else best

    def _deadline_of(self, trial: Trial) -> float | None:
        """Return when a trial must end: before what is kept of the budget for confirmation, unless
        it is part of that, or nothing is known that could be confirmed."""
        fresh, leader = self.options.fresh_seeds, self.trials.scheduler.leader
        if self.deadline is None or not fresh or trial.seed in fresh or leader is None:
            return self.deadline
        return self.deadline - self._reserved()

    def _choose_now(self) -> bool:
        """Choose by what is trained, so that there is time to confirm it; return whether it is."""
        scheduler = self.trials.scheduler
        if self.cut_short or not scheduler.fresh:
            return False
        scheduler.choose()
        self.cut_short = True
        if scheduler.confirmation is None:
            return False
        say("the rest of the budget is for confirming what leads")
        return True

    def _reserved(self) -> float:
        """Return the seconds of the budget that confirmation takes, as long as the trials of this
        command took, or else by the estimate: what leads may be dearer than most."""
        options, trials, planned = self.options, self.trials, self.plan.configurations
        assert options.budget is not None
        reference = next(iter(planned))
        finished = {
            trial: took
            for trial, took in trials.seconds.items()
            if trials.progress[trial] == "finished"
        }
        pair = []
        for address in (reference, trials.scheduler.leader):
            own = [took for trial, took in finished.items() if trial.configuration == address]
            if known := own or [*finished.values()]:
                pair.append(statistics.fmean(known))
            else:
                pair.append(seed_seconds(self.plan, planned[reference], options.seeds) or 0.0)
        # The last trial may begin when all other slots are about to be free.
        slots = trials.at_once
        takes = len(options.fresh_seeds) * sum(pair) / slots + max(pair) * (1 - 1 / slots)
        return min(takes, RESERVED_AT_MOST * options.budget)

    # ----- the definition

    def _write_definition(self) -> None:
        """Write the configurations and seeds of this command.

        Runs of an earlier, larger one stay in the storage.
        """
        options, space, plan = self.options, self.space, self.plan
        earlier = self.sweep.earlier_record(DEFINITION)
        if earlier and (earlier["space"], earlier["scale"]) != (space.name, space.scale):
            raise UserError(
                f"sweep '{options.name}' in {self.sweep.root} belongs to space "
                f"'{earlier['space']}' at scale "
                f"'{earlier['scale']}', not to '{space.name}' at '{space.scale}': choose another "
                "--name or --storage"
            )
        experiments = [planned.experiment for planned in plan.configurations.values()]
        tests = dict.fromkeys(test for known in experiments for test in known.test_sets)
        known = {entry["address"] for entry in earlier.get("configurations", ())}
        begun = earlier.get("started", time.time())
        if known and known.isdisjoint(plan.configurations):
            begun = time.time()
            say(
                f"sweep '{options.name}' begins anew: its settings have changed, and runs of the "
                "earlier ones are kept but not part of it"
            )
        of_space = ("declared", "scale", "experiment", "question", "metric", "mode")
        of_options = ("name", "scheduler", "command")
        self.sweep.write_record(
            DEFINITION,
            {
                "space": space.name,
                **{field: getattr(space, field) for field in of_space},
                **{field: getattr(options, field) for field in of_options},
                "keys": list(space.keys),
                "seeds": list(options.seeds),
                "tests": list(tests),
                "metrics": metrics_of(experiments),
                "reference": next(iter(plan.configurations)),
                "configurations": [planned.to_dict() for planned in plan.configurations.values()],
                "merged": [asdict(merged) for merged in plan.merged],
                "started": begun,
            },
        )

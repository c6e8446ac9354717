"""Run trials: those of an experiment's systems (`train`) or of a search space (`sweep`, and
`reproduce` for the rows of a table).

Both plan a graph, make the missing texts, and train the missing trials on Ray, or in this process
one after the other. What differs is who says which trial comes next. The same command continues
what was stopped.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, NamedTuple

from augury.core import config
from augury.core.errors import UserError, outage_of
from augury.core.machine import release_memory
from augury.core.naming import counted
from augury.core.plugin_files import describe_error
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments import preflight
from augury.experiments.graph import Graph, Step
from augury.experiments.make import reach_storage, refuse_lost_storage, show_progress
from augury.experiments.preflight import say_cautions
from augury.experiments.recording import Recorder, Recording, Status, unrecorded
from augury.experiments.run import Run, artifacts, commit, differing_parameters
from augury.experiments.spec import Experiment
from augury.experiments.systems import Canonical, expand
from augury.experiments.trial import run_trial
from augury.sweeping import plan as plans
from augury.sweeping.applied import left_out_lines
from augury.sweeping.budget import estimate, keep_within, seed_seconds
from augury.sweeping.confirmation import Confirmed
from augury.sweeping.plan import Plan, SweepOptions
from augury.sweeping.proposals import Proposals
from augury.sweeping.race import Race
from augury.sweeping.schedulers import Decision, Listed, Mode, Rounds, Scheduler, Trial, net, price
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, KIND, Curves, Sweep, earlier_record
from augury.sweeping.trials import Trials
from augury.sweeping.writer import Show, StateWriter

REPORTS = "reports"
"""The kind of the folders of experiments that were trained."""
RESERVED_AT_MOST = 0.5
"""The share of a budget that may be kept for confirmation."""


@dataclass(frozen=True)
class Outcome:
    """The state of a sweep after a command."""

    sweep: Sweep
    reused: int
    """Number of trials finished by earlier commands."""
    unfinished: bool
    """Whether a limit ended the command before everything was decided."""
    missing: int
    """Number of trials that are wanted and not trained."""
    missing_seconds: float | None
    """What they take, as those of this command did; None where none has finished."""


class Trained(NamedTuple):
    """What `run_experiment` leaves."""

    runs: dict[str, dict[int, Folder]]
    """The run of every seed of every system, baseline first."""
    failures: list[str]
    """What is said of systems and seeds that failed."""
    missing: int
    """The number of trials that a budget has left for the next command."""


def run_experiment(
    experiment: Experiment,
    recording: Recording = unrecorded,
    graph: Graph | None = None,
    *,
    budget: float | None = None,
) -> Trained:
    """Train and score every system of an experiment with every seed, except finished runs.

    Their graph is added to an empty `graph`, where one is given. `budget` is in seconds: after it
    no trial begins, and those that run end at their next validation.

    A run that diverges, or whose workers crash, does not stop the others and is left out, and so is
    a system whose operators make nothing that it could be trained on, or whose models fail.
    UserError where no system is left.
    """
    commit()
    refuse_lost_storage(experiment.storage)
    store = Store(experiment.storage)
    described = expand(experiment)
    graph = graph or Graph(store)
    reach_storage(experiment.execution, store.root)
    preflight.check(described.values(), graph)
    say_cautions([*described.values()], store)
    for name, system in described.items():
        _say_without_effect(name, system, graph.canonical(system))
    systems = graph.add(described)
    addresses = {name: plan.address for name, plan in systems.items()}
    _refuse_shared_runs(addresses)
    wanted = [
        Trial(plan.address, seed)
        for plan in systems.values()
        for seed in sorted(plan.experiment.seeds)
    ]
    with recording(experiment.tracking, store) as recorder:
        recorded = _Recorded(recorder, graph, show=True)
        trials = Trials(
            graph,
            _Systems(_seed_by_seed(wanted)),
            store.folder(REPORTS, experiment.name),
            value=lambda trial: 0.0,  # nothing is chosen
            compared=lambda trial: trial in wanted,
            differing=differing_parameters(plan.experiment for plan in systems.values()),
            on_begin=recorded.begin,
            on_end=recorded.end,
        )
        experiments = [experiment, *(plan.experiment for plan in graph.plans.values())]
        untrained = [trial for trial in wanted if not graph.is_trained(Step(*trial))]
        on_ray = _on_ray(experiments, untrained)
        trials.texts_beside = on_ray
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
        for seed in sorted(plan.experiment.seeds):
            if trials.progress.get(Trial(plan.address, seed)) == "finished":
                runs.setdefault(name, {})[seed] = plan.run(seed)
    ended = ("finished", "failed")
    missing = sum(trials.progress.get(trial) not in ended for trial in wanted)
    return Trained(runs, trials.failures, missing)


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

            connect(execution.address)
            placement = place(experiments, at_once)
            say(str(placement))
            trials.at_once = placement.at_once
            run_on_tune(trials, placement, points, max_failures=execution.max_failures)
            return
        while (trial := trials.next()) is not None:
            error = ""
            if len(trials.started) > 1:
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


def _on_ray(experiments: Sequence[Experiment], missing: Collection[Trial]) -> bool:
    """Return whether trials run on Ray: with `execution.executor=auto`, where there is more than
    one training. Ray begins to start, as texts are made meanwhile."""
    execution = experiments[0].execution
    fewest = {"local": math.inf, "ray": 1, "auto": 2}[execution.executor]
    if len(missing) < fewest:
        return False
    from augury.core.ray_connection import start_in_background

    start_in_background(execution.address)
    return True


def _seed_by_seed(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials with the first seed of each configuration first, then the second ones."""
    by_configuration: dict[str, list[Trial]] = {}
    for trial in trials:
        by_configuration.setdefault(trial.configuration, []).append(trial)
    place = {trial: seeds.index(trial) for seeds in by_configuration.values() for trial in seeds}
    return sorted(trials, key=lambda trial: place[trial])


class _Systems:
    """A scheduler of the systems of an experiment: all are trained, and nothing is chosen."""

    mode: Mode = "max"
    decisions: Sequence[Decision] = ()
    best = None

    def __init__(self, trials: Sequence[Trial]):
        self._trials = dict.fromkeys(trials)

    @property
    def finished(self) -> bool:
        """Whether all have ended."""
        return not self._trials

    def work(self) -> list[Trial]:
        """Return what has not ended."""
        return [*self._trials]

    def tell(self, configuration: str, seed: int, value: float) -> None:
        """Record that a trial has finished."""
        self._trials.pop(Trial(configuration, seed), None)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a trial has failed."""
        self._trials.pop(Trial(configuration, seed), None)

    def choose(self) -> None:
        """Do nothing."""


@dataclass
class _Recorded:
    """Records trials while they run; with `show`, their progress is a line each."""

    recorder: Recorder
    graph: Graph
    show: bool
    _open: dict[Trial, ExitStack] = field(default_factory=dict)

    def begin(self, trial: Trial, run: Run) -> None:
        """Record that a trial begins."""
        label = f"{self.graph.names[Step(*trial)]}, seed {trial.seed}"
        self.recorder.start(run.folder)
        context = self._open[trial] = ExitStack()
        context.enter_context(self.recorder.follow(run.folder))
        if self.show:
            context.enter_context(show_progress(run.folder, label, run.experiment.training))

    def end(self, trial: Trial, run: Run) -> None:
        """Record that a trial has ended."""
        self._open.pop(trial).close()
        status: Status = "FINISHED" if run.folder.complete else "FAILED"
        self.recorder.finish(run.folder, status, artifacts(run))


# ----- sweeps


def run(space: Space, options: SweepOptions, recording: Recording, *, show: Show) -> Outcome:
    """Train the missing trials of a sweep and decide on them. Raises UserError before training
    if that cannot work."""
    commit()
    refuse_lost_storage(options.storage)
    store = Store(options.storage)
    return _Driver(space, options, recording, show, store, store.folder(KIND, options.name)).run()


@dataclass
class _Driver:
    """One command on a sweep."""

    space: Space
    options: SweepOptions
    recording: Recording
    show: Show
    store: Store
    sweep: Folder
    deadline: float | None = None
    """The Unix time at which the budget is spent."""
    begun: dict[Trial, float] = field(default_factory=dict)
    seconds: dict[Trial, float] = field(default_factory=dict)
    """What the trials of this command took."""
    cut_short: bool = False
    """Whether the budget made the choice before the scheduler did."""
    factors: dict[str, float | None] = field(default_factory=dict)
    """The estimated training times of configurations, as multiples of the reference's."""

    def run(self) -> Outcome:
        options = self.options
        self.plan = self._make_plan()
        graph, configurations = self.plan.graph, self.plan.configurations
        base = self.plan.base()
        experiments = [base, *(planned.experiment for planned in configurations.values())]
        reach_storage(base.execution, self.store.root)
        preflight.check(experiments, graph)
        say_cautions(experiments, self.store)
        self._add_to_graph()
        if cost := estimate(self.plan, options.seeds, options.at_once):
            say(str(cost))
        # Before the first trial, so that other commands can show and compare an unfinished sweep.
        self._write_definition()
        known = [Trial(*pair) for pair in product(configurations, options.seeds)]
        missing = [trial for trial in known if not graph.is_trained(Step(*trial))]
        experiments += [plan.experiment for plan in graph.plans.values()]
        on_ray = _on_ray(experiments, missing)
        with self.recording(base.tracking, self.store) as recorder:
            models = _Recorded(recorder, graph, show=False)

            def begin(trial: Trial, run: Run) -> None:
                self.begun[trial] = time.time()
                if not self._is_compared(trial):  # trials are recorded with their sweep
                    say(f"{self.trials.name_of(trial)}: trained for others")
                    models.begin(trial, run)

            def end(trial: Trial, run: Run) -> None:
                self.seconds[trial] = time.time() - self.begun[trial]
                if not self._is_compared(trial):
                    models.end(trial, run)

            self.trials = trials = Trials(
                graph,
                self._scheduler(),
                self.sweep,
                value=self._value,
                compared=self._is_compared,
                most=options.trials,
                fail_fast=options.fail_fast,
                texts_beside=on_ray,
                on_begin=begin,
                on_end=end,
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
            with recorder.follow(self.sweep), writer.writing():
                points = {address: known.point for address, known in configurations.items()}
                run_trials(trials, experiments, points, on_ray=on_ray, at_once=options.at_once)
            finished = trials.scheduler.finished and not self.cut_short
            sweep = writer.end(finished=finished)
        ended = ("finished", "failed")
        left = sum(trials.progress.get(trial) not in ended for trial in known)
        seconds = self._seconds_of_trial()
        takes = seconds and seconds * left / trials.at_once
        found = {trial for trial in trials.progress if self._is_compared(trial)} - self.begun.keys()
        reused = sum(trials.progress[trial] == "finished" for trial in found)
        return Outcome(sweep, reused, not finished, left, takes)

    def _make_plan(self) -> Plan:
        """Return the configurations that are known before anything runs."""
        options, space = self.options, self.space
        plan = plans.of_options(space, options, self.store)
        if options.budget is not None:
            keep_within(plan, options.seeds, options.budget, options.at_once, name=options.name)
        for merged in plan.merged:
            say(f"{merged.label} is the same experiment as {merged.same_as}: {merged.reason}")
        for line in left_out_lines(plan.left_out):
            say(line)
        if not plan.configurations:
            raise UserError(f"space '{space.name}' has no points: give its keys values")
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
        options, mode = self.options, self.space.mode
        configurations = list(self.plan.configurations)
        reference, *others = configurations
        scheduler: Listed | Race
        if options.scheduler == "race" and others:
            scheduler = Race(reference, others, options.seeds, mode=mode)
        else:
            scheduler = Listed(configurations, options.seeds, mode=mode)
        proposals, rounds = Proposals(self.plan, self._know_new_points), []
        if options.samples is not None and options.search == "optuna":
            rounds = proposals.of_points(options.samples)
        elif isinstance(scheduler, Race) and self.space.families and not options.rows:
            rounds = proposals.of_methods()  # rows that are named are trained alone
        choosing = Rounds(scheduler, rounds)
        if not options.fresh_seeds:
            return choosing
        return Confirmed(choosing, reference, options.fresh_seeds)

    def _know_new_points(self) -> None:
        self._add_to_graph()
        self._write_definition()

    # ----- values, times and budgets

    def _value(self, trial: Trial) -> float | None:
        """Return the best validation of a trial less the price of its training time."""
        folder = self.plan.graph.plans[trial.configuration].run(trial.seed)
        curve = Curves(self.space.metric).of(folder)
        values = [point.value for point in curve if math.isfinite(point.value)]
        if not curve:
            return None
        best = (max if self.space.mode == "max" else min)(values, default=math.nan)
        return net(best, self._price(trial.configuration), self.space.mode)

    def _price(self, address: str) -> float:
        """Return the points that the training time of a configuration has to bring over that of
        the reference; 0 where a time is not known."""
        if not self.options.worth:
            return 0.0
        if address not in self.factors:
            reference, *_ = configurations = self.plan.configurations
            seconds, of_reference = (
                seed_seconds(self.plan, configurations[of], self.options.seeds)
                for of in (address, reference)
            )
            self.factors[address] = seconds / of_reference if seconds and of_reference else None
        factor = self.factors[address]
        return price(factor, self.options.worth) if factor else 0.0

    def _deadline_of(self, trial: Trial) -> float | None:
        """Return when a trial must end: before what is kept of the budget for confirmation, unless
        it is part of that."""
        if self.deadline is None or trial.seed in self.options.fresh_seeds:
            return self.deadline
        return self.deadline - self._reserved()

    def _choose_now(self) -> bool:
        """Choose by what is trained, so that there is time to confirm it; return whether it is."""
        scheduler = self.trials.scheduler
        if self.cut_short or not isinstance(scheduler, Confirmed):
            return False
        scheduler.choose()
        self.cut_short = True
        say("the rest of the budget is for confirming what leads")
        return scheduler.confirmation is not None

    def _seconds_of_trial(self, address: str | None = None) -> float | None:
        """Return the mean time of the trials that this command has finished, by default of all
        configurations; None before one is."""
        ended = self.trials.progress
        finished = [
            took
            for trial, took in self.seconds.items()
            if ended[trial] == "finished" and address in (None, trial.configuration)
        ]
        return statistics.fmean(finished) if finished else None

    def _reserved(self) -> float:
        """Return the seconds of the budget that confirmation takes: what leads may be dearer than
        most."""
        options, scheduler = self.options, self.trials.scheduler
        assert options.budget is not None
        reference = next(iter(self.plan.configurations))
        leader = scheduler.leader if isinstance(scheduler, Confirmed) else None
        known = self._seconds_of_trial() or 0.0
        if not known:
            planned = self.plan.configurations[reference]
            known = seed_seconds(self.plan, planned, options.seeds) or 0.0
        pair = [self._seconds_of_trial(address) or known for address in (reference, leader)]
        # The last trial may begin when all other slots are about to be free.
        slots = self.trials.at_once
        takes = len(options.fresh_seeds) * sum(pair) / slots + max(pair) * (1 - 1 / slots)
        return min(takes, RESERVED_AT_MOST * options.budget)

    # ----- the definition

    def _write_definition(self) -> None:
        """Write the configurations and seeds of this command.

        Runs of an earlier, larger one stay in the storage.
        """
        options, space, plan = self.options, self.space, self.plan
        earlier = earlier_record(self.sweep, DEFINITION)
        if earlier and (earlier["space"], earlier["scale"]) != (space.name, space.scale):
            raise UserError(
                f"sweep '{options.name}' in {self.sweep.root} belongs to space "
                f"'{earlier['space']}' at scale "
                f"'{earlier['scale']}', not to '{space.name}' at '{space.scale}': choose another "
                "--name or --storage"
            )
        tests: dict[str, None] = {}  # an ordered set
        for planned in plan.configurations.values():
            tests |= dict.fromkeys(planned.experiment.test_sets)
        known = {entry["address"] for entry in earlier.get("configurations", ())}
        begun = earlier.get("started", time.time())
        if known and known.isdisjoint(plan.configurations):
            begun = time.time()
            say(
                f"sweep '{options.name}' begins anew: its settings have changed, and runs of the "
                "earlier ones are kept but not part of it"
            )
        self.sweep.write_record(
            DEFINITION,
            {
                "name": options.name,
                "space": space.name,
                "declared": space.declared,
                "scale": space.scale,
                "experiment": space.experiment,
                "question": space.question,
                "metric": space.metric,
                "mode": space.mode,
                "keys": list(space.keys),
                "seeds": list(options.seeds),
                "assignments": dict(options.assignments),
                "tests": list(tests),
                "scheduler": options.scheduler,
                "search": options.search,
                "samples": options.samples,
                "rows": list(options.rows),
                "fresh_seeds": list(options.fresh_seeds),
                "reference": next(iter(plan.configurations)),
                "worth": options.worth,
                "configurations": [
                    {
                        **planned.to_dict(),
                        "family": plan.families.get(planned.name, ""),
                        "price": self._price(planned.address),
                    }
                    for planned in plan.configurations.values()
                ],
                "merged": [asdict(merged) for merged in plan.merged],
                "started": begun,
            },
        )


def _say_without_effect(name: str, system: Experiment, form: Canonical) -> None:
    """Say which settings of a system have no effect, of those that are not at their defaults."""
    before, after = (
        config.flatten(experiment.to_dict()) for experiment in (system, form.experiment)
    )
    for key, reason in form.reasons.items():
        if key == "augment":
            say(f"{name}: {key}: {reason}")
        elif before.get(key) != after.get(key):
            say(f"{name}: {key} has no effect: {reason}")


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

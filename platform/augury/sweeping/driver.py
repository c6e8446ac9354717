"""One sweep from question to answer: plan, prepare, size, train, decide; the same command continues it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from augury.core.errors import UserError
from augury.core.execution import connect
from augury.core.progress import say
from augury.core.store import Store
from augury.experiments import preflight
from augury.experiments.recording import Recording
from augury.experiments.running import refuse_lost_storage
from augury.sweeping import plan as plans
from augury.sweeping import points, population, sizing, tuning
from augury.sweeping.adaptive import Suggestions
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.dispatcher import Dispatcher, Key, Limits, Scheduler
from augury.sweeping.plan import Plan, Planned
from augury.sweeping.race import Exhaustive, rungs
from augury.sweeping.reference import RaceWithReference
from augury.sweeping.settings import SweepOptions
from augury.sweeping.sizing import Size
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, KIND, Curves, Sweep
from augury.sweeping.trial import TrialSettings
from augury.sweeping.writer import Show, StateWriter

EXCHANGES = 5
"""Between the members of a population, in the course of training."""


@dataclass(frozen=True)
class Outcome:
    """A sweep after a command, and what the command did not have to do."""

    sweep: Sweep
    reused: int
    """Trials that had finished before."""
    unfinished: bool
    """Whether a limit ended the command before all was decided."""


def run(space: Space, options: SweepOptions, recording: Recording, *, show: Show) -> Outcome:
    """Run what is missing of a sweep and decide it. UserError before anything runs where it cannot be done."""
    refuse_lost_storage(options.storage)
    _check(options)
    return _Driver(space, options, recording, show).run()


@dataclass
class _Driver:
    """One command on a sweep."""

    space: Space
    options: SweepOptions
    recording: Recording
    show: Show
    runs: dict[str, ConfigurationRuns] = field(default_factory=dict)
    """By address."""

    def run(self) -> Outcome:
        options, space = self.options, self.space
        self.store = Store(options.storage)
        self.sweep = self.store.folder(KIND, options.name)
        self.plan = self._planned()
        base = self.plan.base()
        experiments = [base, *(planned.experiment for planned in self.plan.configurations.values())]
        preflight.check(experiments, self.store)
        for caution in preflight.cautions(experiments):
            say(caution)
        connect(base.execution.address)
        size = sizing.of(experiments, options.at_once)
        say(size.summary)
        identity = self._population(size) if options.scheduler == "pbt" else None
        self.rungs = rungs_of(options, self.plan)
        self._define()
        for planned in self.plan.configurations.values():
            self._prepare(planned)
        deadline = None if options.budget is None else time.time() + options.budget
        dispatcher = self._dispatcher(size, deadline)
        keys = [Key(address, seed) for address in self.plan.configurations for seed in options.seeds]
        dispatcher.replay(keys)
        reused = sum(dispatcher.progress.get(key) == "finished" for key in keys)
        say(
            f"{len(self.plan.configurations)} configurations × up to {len(options.seeds)} seeds; {reused} trials had "
            "finished before"
        )
        settings = TrialSettings(
            self.store.root,
            options.name,
            space.metric,
            self.rungs,
            size.launcher,
            size.device,
            size.threads,
            deadline,
            options.fail_fast,
        )
        with self.recording(base.tracking, self.store) as recorder:
            writer = StateWriter(dispatcher, self.sweep, self.show)
            with recorder.follow(self.sweep), writer.writing():
                if not dispatcher.scheduler.over:
                    directory, deaths = f"{self.sweep.uri}/tune", base.execution.max_failures
                    if identity is None:
                        name = f"{time.time():.0f}"
                        tuning.run(dispatcher, settings, size.resources, name=name, directory=directory, deaths=deaths)
                    else:
                        population.run(
                            dispatcher,
                            space,
                            settings,
                            size.resources,
                            every=max(1, (base.training.validations or 1) // EXCHANGES),
                            name=f"population-{identity}",
                            directory=directory,
                            deaths=deaths,
                        )
            sweep = writer.end(finished=dispatcher.scheduler.over)
        return Outcome(sweep, reused, not dispatcher.scheduler.over)

    def _planned(self) -> Plan:
        """Return the configurations that are known before anything runs."""
        options, space = self.options, self.space
        adaptive = options.search == "optuna"
        listed = [] if adaptive else points.sample(space, options.samples)
        plan = plans.make(space, self.store, options.assignments, listed, reference=options.scheduler != "pbt")
        for merged in plan.merged:
            say(f"{merged.called} is the same experiment as {merged.same_as}: {merged.reason}")
        if not plan.configurations and not adaptive:
            raise UserError(f"space '{space.name}' has no point: give its keys values")
        if not plan.configurations:
            raise UserError(
                f"search optuna compares what it suggests with a reference, and space '{space.name}' has none: define "
                "'reference', a point, or leave 'baseline' as it is"
            )
        return plan

    def _population(self, size: Size) -> str:
        """Return the address of the population, and give its members theirs; UserError where it cannot be trained."""
        configurations = self.plan.configurations
        population.check(self.space, size.launcher, [planned.experiment for planned in configurations.values()])
        identity = population.identity(self.options.name, self.space, configurations, self.options.seeds)
        self.plan.rename(partial(population.member, population=identity))
        return identity

    def _prepare(self, planned: Planned) -> None:
        """Make everything that the trials of a configuration read."""
        runs = ConfigurationRuns.prepare(planned.experiment, planned.address, self.store, self.recording)
        runs.write(self.sweep)
        self.runs[planned.address] = runs

    def _suggest(self, point: Mapping[str, Any]) -> str:
        """Take up a point that a study suggests; the address of its configuration."""
        planned = self.plan.add(point)
        self._prepare(planned)
        self._define()
        return planned.address

    def _dispatcher(self, size: Size, deadline: float | None) -> Dispatcher:
        options = self.options

        def start(key: Key) -> Mapping[str, Any]:
            planned = self.plan.configurations[key.configuration]
            self.runs[key.configuration].describe(planned.name, key.seed)
            return planned.point

        return Dispatcher(
            self._scheduler(size),
            self.rungs,
            self.store,
            Curves(self.space.metric),
            Limits(size.at_once, size.ahead, options.trials, deadline, options.fail_fast),
            start=start,
            done=lambda key: self.runs[key.configuration].done(key.seed),
        )

    def _scheduler(self, size: Size) -> Scheduler:
        options, mode = self.options, self.space.mode
        configurations = list(self.plan.configurations)
        if options.search == "optuna":
            assert options.samples is not None
            return Suggestions(
                self.space, self.sweep, configurations, options.seeds, options.samples, size.at_once, self._suggest
            )
        reference, *others = configurations
        if options.scheduler == "halving" and others:
            return RaceWithReference(reference, others, options.seeds, self.rungs, mode=mode)
        return Exhaustive(configurations, options.seeds, self.rungs, mode=mode)

    def _define(self) -> None:
        """Write down what this command asks for; what an earlier one asked beyond it stays in the storage."""
        options, space, plan = self.options, self.space, self.plan
        earlier = self.sweep.read_json(DEFINITION) if self.sweep.exists(DEFINITION) else {}
        if earlier and (earlier["space"], earlier["scale"]) != (space.name, space.scale):
            raise UserError(
                f"sweep '{options.name}' in {self.sweep.root} is of space '{earlier['space']}' at scale "
                f"'{earlier['scale']}', not of '{space.name}' at '{space.scale}': choose another --name or --storage"
            )
        tests = [test for planned in plan.configurations.values() for test in planned.experiment.test_sets]
        self.sweep.write_json(
            DEFINITION,
            {
                "name": options.name,
                "space": space.name,
                "scale": space.scale,
                "question": space.question,
                "metric": space.metric,
                "mode": space.mode,
                "keys": list(space.keys),
                "seeds": list(options.seeds),
                "assignments": dict(options.assignments),
                "tests": list(dict.fromkeys(tests)),
                "scheduler": options.scheduler,
                "search": options.search,
                "reference": next(iter(plan.configurations)),
                "configurations": [planned.to_dict() for planned in plan.configurations.values()],
                "merged": [asdict(merged) for merged in plan.merged],
                "started": earlier.get("started", time.time()),
            },
        )


def rungs_of(options: SweepOptions, plan: Plan) -> tuple[int | None, ...]:
    """Return the validations at which the scheduler decides; the end of training alone where all is trained."""
    if options.scheduler != "halving":
        return (None,)
    lengths = {planned.name: planned.experiment.training.validations for planned in plan.configurations.values()}
    unknown = [name for name, length in lengths.items() if length is None]
    if unknown:
        raise UserError(
            f"scheduler halving decides at validations, and it is not known how many '{unknown[0]}' has: set "
            "training.max_passes, or training.max_updates with training.validate_every"
        )
    return tuple(rungs(min(length for length in lengths.values() if length is not None)))


def _check(options: SweepOptions) -> None:
    if options.search == "optuna" and options.scheduler != "all":
        raise UserError(
            f"scheduler {options.scheduler} compares configurations that are known, and search optuna suggests them "
            "one after the other: use --scheduler all, or --search random --samples N"
        )
    limits = {
        "--at-once": options.at_once,
        "--trials": options.trials,
        "--budget": options.budget,
        "--fail-fast": options.fail_fast or None,
    }
    limiting = [flag for flag, value in limits.items() if value is not None]
    if options.scheduler == "pbt" and limiting:
        raise UserError(f"scheduler pbt trains its whole population side by side: leave out {', '.join(limiting)}")
    if options.search == "optuna" and options.samples is None:
        raise UserError("search optuna goes on for ever: say how many points it may suggest with --samples N")

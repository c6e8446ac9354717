"""Run a sweep: plan, prepare, place, train and decide; the same command continues it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from typing import Any

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.progress import say
from augury.core.ray_connection import connect
from augury.core.store import Store
from augury.execution import preflight
from augury.execution.cautions import say_cautions
from augury.execution.execute import Executor, reach_storage, refuse_lost_storage
from augury.execution.graph import Step
from augury.experiments.description import artifacts, commit
from augury.experiments.spec import Experiment
from augury.runs.recording import Recorder, Recording
from augury.sweeping import executors, workers
from augury.sweeping import plan as plans
from augury.sweeping.applied import left_out_lines
from augury.sweeping.budget import estimate, keep_within, seed_seconds
from augury.sweeping.closing import Closing
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.dispatcher import Dispatcher, Limits, Scheduler
from augury.sweeping.executors import TrialExecutor
from augury.sweeping.inputs import Inputs
from augury.sweeping.local_executor import LocalExecutor
from augury.sweeping.plan import Plan, Planned, SweepOptions
from augury.sweeping.price import price
from augury.sweeping.race import Exhaustive
from augury.sweeping.reference_race import ReferenceRace
from augury.sweeping.rounds import Rounds
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, KIND, Curves, Sweep, TrialKey, earlier_record
from augury.sweeping.trial import TrialSettings
from augury.sweeping.writer import Show, StateWriter


@dataclass(frozen=True)
class Outcome:
    """The state of a sweep after a command."""

    sweep: Sweep
    reused: int
    """Number of trials finished by earlier commands."""
    unfinished: bool
    """Whether a limit ended the command before everything was decided."""


def run(space: Space, options: SweepOptions, recording: Recording, *, show: Show) -> Outcome:
    """Train the missing trials of a sweep and decide on them. Raises UserError before training
    if that cannot work."""
    commit()
    refuse_lost_storage(options.storage)
    options.check()
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
    inputs: Inputs | None = None
    """What trials wait for; None where all of it is made before they are known or start."""
    factors: dict[str, float | None] = field(default_factory=dict)
    """By address: points that the training time of a configuration has to bring."""

    def run(self) -> Outcome:
        options = self.options
        self.store = Store(options.storage)
        self.sweep = self.store.folder(KIND, options.name)
        self.plan = self._make_plan()
        self.base = self.plan.base()
        with self._executor() as executor:
            graph = self.plan.graph
            if all(map(graph.is_trained, graph.scored)):
                workers.end_early_imports()
            else:
                executor.warm_up()
            return self._run(executor)

    def _run(self, executor: TrialExecutor) -> Outcome:
        options, self.placement = self.options, executor.placement
        self.rungs = plans.decision_rungs(options, self.plan)
        plans.share_beginnings(options, self.plan)
        if cost := estimate(self.plan, options.seeds, options.at_once):
            say(str(cost))
        # Before the first trial, so that other commands can show and compare an unfinished sweep.
        self._write_definition()
        # Optuna asks for points while it runs, and a population trains as one: their texts and
        # models are made first. Other trials wait for no more than what they read.
        if options.search == "optuna" or options.scheduler == "pbt":
            self._prepare([*self.plan.configurations.values()])
        else:
            self.inputs = Inputs(self.plan.graph, self.sweep)
            self.runs = self.inputs.runs
            self.inputs.make_texts()
        # What is prepared above does not count: the budget is one for trials.
        self.deadline = None if options.budget is None else time.monotonic() + options.budget
        dispatcher = self._dispatcher()
        reused = self._replay(dispatcher)
        if reused and options.budget is not None:
            say("--budget is for what this command trains: finished trials do not count")
        with self.recording(self.base.tracking, self.store) as recorder:
            writer = StateWriter(dispatcher, self.sweep, self.show, self._deadline())
            with recorder.follow(self.sweep), writer.writing():
                if not dispatcher.scheduler.finished:
                    executor.run(dispatcher, self._settings())
            self._record_inputs(dispatcher, recorder)
            sweep = writer.end(finished=dispatcher.scheduler.finished)
        return Outcome(sweep, reused, not dispatcher.scheduler.finished)

    def _make_plan(self) -> Plan:
        """Return the configurations that are known before anything runs."""
        options, space = self.options, self.space
        adaptive = options.search == "optuna"
        plan = plans.of_options(space, options, self.store)
        if options.budget is not None:
            keep_within(plan, options.seeds, options.budget, options.at_once, name=options.name)
        for merged in plan.merged:
            say(f"{merged.label} is the same experiment as {merged.same_as}: {merged.reason}")
        for line in left_out_lines(plan.left_out):
            say(line)
        if not plan.configurations and not adaptive:
            raise UserError(f"space '{space.name}' has no points: give its keys values")
        if not plan.configurations:
            raise UserError(
                "search optuna compares its suggestions with a reference, and space "
                f"'{space.name}' has none: set "
                "'reference' to a point, or remove 'baseline: false'"
            )
        return plan

    def _executor(self) -> TrialExecutor:
        """Check all experiments, and return what runs their trials."""
        experiments = [
            self.base,
            *(planned.experiment for planned in self.plan.configurations.values()),
        ]
        reach_storage(self.base.execution, self.store.root)
        # Before a local Ray starts: most mistakes are in settings, and can be found at once.
        preflight.check(experiments, self.plan.graph)
        say_cautions(experiments, self.plan.store)
        # Models of operators and earlier stages are trials too.
        graph = self.plan.graph
        rows = {planned.name: planned.experiment for planned in self.plan.configurations.values()}
        graph.add(rows, self.options.seeds)
        experiments += [plan.experiment for plan in graph.plans.values()]
        executor: TrialExecutor
        if executors.choose(experiments, self.options.scheduler) == "local":
            executor = LocalExecutor(experiments, self.options.at_once, self.sweep)
            say(str(executor.placement))
            return executor
        workers.end_early_imports()
        if self.options.scheduler == "pbt":
            executor = self._population(experiments)
        else:
            connect(experiments[0].execution.address)  # before Ray is imported, which takes seconds
            from augury.sweeping.ray_executor import RayExecutor

            directory = self.sweep.location("tune")
            executor = RayExecutor(experiments, self.options.at_once, directory)
        say(str(executor.placement))
        return executor

    def _population(self, experiments: Sequence[Experiment]) -> TrialExecutor:
        """Return what trains the population, whose members get addresses of their own; UserError
        if it cannot be trained."""
        from augury.sweeping import population  # imports Ray and torch, which take seconds

        executor = population.PopulationExecutor(
            self.space, experiments, self.sweep.location("tune")
        )
        configurations = self.plan.configurations
        members = [planned.experiment for planned in configurations.values()]
        population.check(self.space, executor.placement.launcher, members)
        executor.address = population.address(
            self.options.name, self.space, configurations, self.options.seeds
        )
        # Members exchange weights and settings: their runs are not those of their configurations.
        self.plan.rename(partial(population.member, population=executor.address))
        return executor

    def _prepare(self, configurations: Sequence[Planned]) -> None:
        """Create everything that the trials of configurations read."""
        graph, seeds = self.plan.graph, self.options.seeds
        plans = graph.add({planned.name: planned.experiment for planned in configurations}, seeds)
        steps = [Step(plan.address) for plan in plans.values()]
        for plan in plans.values():
            for seed in seeds:
                steps += graph.inputs(Step(plan.address, seed))
        with self.recording(self.base.tracking, self.store) as recorder:
            executor = Executor(graph, recorder)
            executor.make(steps, self.base.execution.at_once)
        if executor.errors:
            raise executor.errors[0]
        for planned in configurations:
            run = executor.runs[plans[planned.name].address]
            runs = ConfigurationRuns.of(run, planned.address)
            runs.write(self.sweep)
            self.runs[planned.address] = runs

    def _prepare_point(self, point: Mapping[str, Any]) -> str:
        """Add a suggested point to the sweep and return the address of its configuration."""
        planned = self.plan.add(point)
        self._prepare([planned])
        self._write_definition()
        return planned.address

    def _dispatcher(self) -> Dispatcher:
        options, placement = self.options, self.placement
        configurations, inputs = self.plan.configurations, self.inputs

        # Models that trials wait for (stages, translators, teachers) run as trials as well, but
        # nothing is decided on them.
        def compared(key: TrialKey) -> bool:
            return key.configuration in configurations and key.seed in options.seeds

        def start(key: TrialKey) -> Mapping[str, Any]:
            if compared(key):
                planned = configurations[key.configuration]
                self.runs[key.configuration].describe(planned.name, key.seed)
                return planned.point
            name = self.plan.graph.names[Step(*key)]
            say(f"{name}, seed {key.seed}: trained for others")
            self.runs[key.configuration].describe(name, key.seed)
            return {}

        def done(key: TrialKey) -> bool:
            return inputs.done(key) if inputs else self.runs[key.configuration].done(key.seed)

        return Dispatcher(
            self._scheduler(),
            self.rungs,
            self.store,
            Curves(self.space.metric),
            Limits(
                placement.at_once,
                options.trials,
                self.deadline,
                options.fail_fast,
            ),
            start=start,
            done=done,
            inputs=inputs,
            compared=compared,
            closing=self._closing(),
            price=self._price,
        )

    def _closing(self) -> Closing | None:
        """Return what chooses the trials that a budget ends with."""
        if self.deadline is None or self.options.scheduler == "pbt":
            return None
        return Closing(
            next(iter(self.plan.configurations)),
            self.deadline,
            lambda address: self._time_factor(address) or 1.0,
            self.space.mode,
        )

    def _scheduler(self) -> Scheduler:
        options, mode = self.options, self.space.mode
        configurations = list(self.plan.configurations)
        if options.search == "optuna":
            assert options.samples is not None
            from augury.sweeping.adaptive import OptunaScheduler  # imports Optuna, which is slow

            return OptunaScheduler(
                self.space,
                self.sweep,
                configurations,
                options.seeds,
                options.samples,
                self.placement.at_once,
                self._prepare_point,
            )
        reference, *others = configurations
        if options.scheduler != "halving" or not others:
            return Exhaustive(configurations, options.seeds, self.rungs, mode=mode)
        if not self.space.families:
            return ReferenceRace(reference, others, options.seeds, self.rungs, mode=mode)
        from augury.sweeping.proposals import Proposals  # imports Optuna, which is slow

        proposals = Proposals(self.plan, self.space, options.seeds, self._write_definition)
        later = [] if options.rows else proposals.rounds  # rows that are named are trained alone
        return Rounds(reference, others, options.seeds, later, mode=mode)

    def _price(self, address: str) -> float:
        """Return the points that the training time of a configuration has to bring over that of
        the reference; 0 where a time is not known."""
        worth = self.options.worth
        factor = self._time_factor(address) if worth else None
        return price(factor, worth) if factor and worth else 0.0

    def _time_factor(self, address: str) -> float | None:
        """Return the estimated training time of a configuration as a multiple of the reference's;
        None where one is not known."""
        if address not in self.factors:
            reference, *_ = configurations = self.plan.configurations
            seconds, its = (
                seed_seconds(self.plan, configurations[of], self.options.seeds)
                for of in (address, reference)
            )
            self.factors[address] = seconds / its if seconds and its else None
        return self.factors[address]

    def _replay(self, dispatcher: Dispatcher) -> int:
        """Replay the results of earlier commands and return the number of trials they finished."""
        configurations, seeds = self.plan.configurations, self.options.seeds
        keys = [TrialKey(*pair) for pair in product(configurations, seeds)]
        dispatcher.replay(keys)
        reused = sum(dispatcher.progress.get(key) == "finished" for key in keys)
        say(
            f"{counted(len(configurations), 'configuration')} × up to "
            f"{counted(len(seeds), 'seed')}; {counted(reused, 'trial')} already finished"
        )
        return reused

    def _settings(self) -> TrialSettings:
        """Return the settings that all trials share."""
        placement = self.placement
        return TrialSettings(
            self.store.root,
            self.options.name,
            self.space.metric,
            self.rungs,
            placement.launcher,
            placement.device,
            placement.threads,
            self._deadline(),
            self.options.fail_fast,
        )

    def _deadline(self) -> float | None:
        """Return the Unix time at which the budget is spent: other machines have another monotonic
        clock."""
        return self.deadline and self.deadline + time.time() - time.monotonic()

    def _record_inputs(self, dispatcher: Dispatcher, recorder: Recorder) -> None:
        """Record the models that this command has trained for others; the sweep's own trials are
        recorded with it."""
        for key in dispatcher.started:
            if not dispatcher.compared(key) and dispatcher.done(key):
                run = self.runs[key.configuration].first.with_seed(key.seed)
                recorder.start(run.folder)
                recorder.finish(run.folder, "FINISHED", artifacts(run))

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

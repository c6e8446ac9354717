"""One sweep from question to answer: plan, prepare, place, race, record; the same command continues it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

from augury.core.errors import UserError
from augury.core.execution import connect
from augury.core.periodic import Throttle, every
from augury.core.progress import say, say_once
from augury.core.store import Folder, Store
from augury.experiments import preflight
from augury.experiments.description import describe
from augury.experiments.evaluation import evaluated
from augury.experiments.preparation import prepare
from augury.experiments.recording import Recorder
from augury.experiments.run import Run
from augury.experiments.running import refuse_lost_storage
from augury.experiments.runs import run_folder
from augury.experiments.tracking import Tracking
from augury.sweeping import plan as plans
from augury.sweeping import points, population, sizing, state, tuning
from augury.sweeping.adaptive import Suggestions
from augury.sweeping.desk import Desk, Done, Key, Limits, Rival, Start
from augury.sweeping.plan import Plan, Planned
from augury.sweeping.race import All, rungs
from augury.sweeping.reference import Accompanied
from augury.sweeping.settings import Asked
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, KIND, STATE, Curves, Decision, Sweep
from augury.sweeping.trial import Setting, keep

LOOK_SECONDS, RECORD_SECONDS, HEARTBEAT_SECONDS = 1.0, 10.0, 30.0
EXCHANGES = 5
"""Between the members of a population, in the course of training."""


@dataclass(frozen=True)
class Outcome:
    """A sweep after a command, and what the command did not have to do."""

    sweep: Sweep
    reused: int
    """Trials found finished."""
    unfinished: bool
    """Whether a limit ended the command before the race was decided."""


Shown = Callable[[Sweep, bool], None]
"""Called every second or so while a sweep runs, and once, with True, at its end."""
Answer = Callable[[Sweep], str]


class SweepRecorder(Recorder, Protocol):
    """Records the sweeps of one command and the runs of their trials; nothing here raises or waits."""

    def update_sweep(self, sweep: Sweep, answer: str | None = None) -> None:
        """Record what a sweep has reached, and its answer once there is one."""


SweepRecording = Callable[[Tracking, Store], AbstractContextManager[SweepRecorder]]


def run(space: Space, asked: Asked, recording: SweepRecording, *, shown: Shown, answer: Answer) -> Outcome:
    """Run what is missing of a sweep and decide it. UserError before anything runs where it cannot be done."""
    refuse_lost_storage(asked.storage)
    _check(asked)
    store = Store(asked.storage)
    adaptive = asked.search == "optuna"
    listed = [] if adaptive else points.listed(space, asked.samples)
    planned = plans.make(space, store, asked.assignments, listed, reference=asked.scheduler != "pbt")
    for same in planned.merged:
        say(f"{same.called} is the same experiment as {same.same_as}: {same.reason}")
    sweep = store.folder(KIND, asked.name)
    if not planned.configurations and not adaptive:
        raise UserError(f"space '{space.name}' has no point: give its keys values")
    if not planned.configurations:
        raise UserError(
            f"search optuna compares what it suggests with a reference, and space '{space.name}' has none: define "
            "'reference', a point, or leave 'baseline' as it is"
        )
    base = planned.base()
    experiments = [base, *(each.experiment for each in planned.configurations.values())]
    preflight.check(experiments, store)
    for caution in preflight.cautions(experiments):
        say(caution)
    connect(base.execution.address)
    size = sizing.of(experiments, asked.at_once)
    say(size.said)
    if asked.scheduler == "pbt":
        population.check(space, size.launcher, [each.experiment for each in planned.configurations.values()])
        members = population.identity(asked.name, space, planned.configurations, asked.seeds)
        planned.rename(partial(population.member, population=members))
    _define(sweep, space, asked, planned)
    prepared: dict[str, Run] = {}
    for each in planned.configurations.values():
        _prepare(each, store, sweep, prepared, recording)
    stands = rungs_of(asked, planned)
    if adaptive:

        def admit(point: Mapping[str, Any]) -> str:
            each = planned.add(point)
            _prepare(each, store, sweep, prepared, recording)
            _define(sweep, space, asked, planned)
            return each.address

        assert asked.samples is not None
        race: Rival = Suggestions(
            space, sweep, list(planned.configurations), asked.seeds, asked.samples, size.at_once, admit
        )
    else:
        race = _rival(asked, list(planned.configurations), stands, space)
    deadline = None if asked.budget is None else time.time() + asked.budget
    limits = Limits(size.at_once, size.ahead, asked.trials, deadline, asked.fail_fast)
    desk = Desk(
        race,
        stands,
        store,
        Curves(space.metric),
        limits,
        start=_starter(store, planned, prepared),
        done=_scored(store, planned, prepared),
    )
    keys = [Key(address, seed) for address in planned.configurations for seed in asked.seeds]
    desk.replay(keys)
    reused = sum(desk.progress.get(key) == "finished" for key in keys)
    say(
        f"{len(planned.configurations)} configurations × up to {len(asked.seeds)} seeds; {reused} trials found finished"
    )
    setting = Setting(
        store.root,
        asked.name,
        space.metric,
        stands,
        size.launcher,
        size.device,
        size.threads,
        deadline,
        asked.fail_fast,
    )
    with recording(base.tracking, store) as recorder:
        clerk = _Clerk(desk, sweep, recorder, shown, answer)
        with clerk.working():
            directory, deaths = f"{sweep.uri}/tune", base.execution.max_failures
            if not race.over and asked.scheduler == "pbt":
                every = max(1, (base.training.validations or 1) // EXCHANGES)
                population.run(
                    desk,
                    space,
                    setting,
                    size.resources,
                    every=every,
                    name=f"population-{members}",
                    directory=directory,
                    deaths=deaths,
                )
            elif not race.over:
                tuning.run(
                    desk,
                    setting,
                    size.resources,
                    name=f"{time.time():.0f}",
                    directory=directory,
                    deaths=deaths,
                )
        ended = clerk.end(finished=race.over)
    return Outcome(ended, reused, not race.over)


def rungs_of(asked: Asked, planned: Plan) -> tuple[int | None, ...]:
    """The validations at which the race decides; the end of training alone where all is trained."""
    if asked.scheduler != "halving":
        return (None,)
    lengths = {each.name: each.experiment.training.validations for each in planned.configurations.values()}
    unknown = [name for name, length in lengths.items() if length is None]
    if unknown:
        raise UserError(
            f"scheduler halving decides at validations, and it is not known how many '{unknown[0]}' has: set "
            "training.max_passes, or training.max_updates with training.validate_every"
        )
    return tuple(rungs(min(length for length in lengths.values() if length is not None)))


def _rival(asked: Asked, configurations: list[str], stands: tuple[int | None, ...], space: Space) -> Rival:
    reference, *others = configurations
    if asked.scheduler == "halving" and others:
        return Accompanied(reference, others, asked.seeds, stands, mode=space.mode)
    return All(configurations, asked.seeds, stands, mode=space.mode)


def _check(asked: Asked) -> None:
    if asked.search == "optuna" and asked.scheduler != "all":
        raise UserError(
            f"scheduler {asked.scheduler} compares configurations that are known, and search optuna suggests them one "
            "after the other: use --scheduler all, or --search random --samples N"
        )
    limits = {
        "--at-once": asked.at_once,
        "--trials": asked.trials,
        "--budget": asked.budget,
        "--fail-fast": asked.fail_fast or None,
    }
    given = [flag for flag, value in limits.items() if value is not None]
    if asked.scheduler == "pbt" and given:
        raise UserError(f"scheduler pbt trains its whole population side by side: leave out {', '.join(given)}")
    if asked.search == "optuna" and asked.samples is None:
        raise UserError("search optuna goes on for ever: say how many points it may suggest with --samples N")


def _define(sweep: Folder, space: Space, asked: Asked, planned: Plan) -> None:
    """Write down what is asked now; what an earlier command asked beyond it stays in the storage."""
    earlier = sweep.read_json(DEFINITION) if sweep.exists(DEFINITION) else {}
    if earlier and (earlier["space"], earlier["scale"]) != (space.name, space.scale):
        raise UserError(
            f"sweep '{asked.name}' in {sweep.root} is of space '{earlier['space']}' at scale '{earlier['scale']}', not "
            f"of '{space.name}' at '{space.scale}': choose another --name or --storage"
        )
    sweep.write_json(
        DEFINITION,
        {
            "name": asked.name,
            "space": space.name,
            "scale": space.scale,
            "question": space.question,
            "metric": space.metric,
            "mode": space.mode,
            "keys": list(space.keys),
            "seeds": list(asked.seeds),
            "tests": _tests(planned),
            "scheduler": asked.scheduler,
            "search": asked.search,
            "reference": next(iter(planned.configurations)),
            "configurations": [each.plain() for each in planned.configurations.values()],
            "merged": [asdict(each) for each in planned.merged],
            "started": earlier.get("started", time.time()),
        },
    )


def _tests(planned: Plan) -> list[str]:
    """The test sets that any configuration is scored on."""
    return list(dict.fromkeys(test for each in planned.configurations.values() for test in each.experiment.test_sets))


def _prepare(each: Planned, store: Store, sweep: Folder, prepared: dict[str, Run], recording: SweepRecording) -> None:
    """Make every corpus, view, vocabulary and token folder that the trials of a configuration read."""
    run = prepare(each.experiment, store, recording)
    if run.address != each.address:  # a member of a population, whose beginning is its own
        run = replace(run, address=each.address, trunk=None).at(run.seed)
    keep(sweep, run)
    prepared[each.address] = run


def _starter(store: Store, planned: Plan, prepared: Mapping[str, Run]) -> Start:
    """What makes a trial's run folder ready before Tune starts it."""

    def start(key: Key) -> Mapping[str, Any]:
        each = planned.configurations[key.configuration]
        folder = run_folder(store, key.configuration, key.seed)
        if not folder.complete:
            describe(prepared[key.configuration].at(key.seed), each.name)
        return each.point

    return start


def _scored(store: Store, planned: Plan, prepared: Mapping[str, Run]) -> Done:
    """What tells whether a run is trained and scored as is asked for now."""

    def done(key: Key) -> bool:
        run = prepared[key.configuration].at(key.seed)
        return run.folder.complete and evaluated(run)

    return done


class _Clerk:
    """Keeps the sweep's state in the storage, shows and records it, beside the thread that Tune runs in."""

    def __init__(self, desk: Desk, sweep: Folder, recorder: SweepRecorder, shown: Shown, answer: Answer):
        self.desk, self.sweep, self.recorder, self.shown, self.answer = desk, sweep, recorder, shown, answer
        self.curves = Curves(desk.curves.metric)
        earlier = sweep.read_json(STATE).get("decisions", []) if sweep.exists(STATE) else []
        self.times = {_same(each): each["time"] for each in earlier}
        self.written: dict[str, Any] = {}
        self.heard = 0.0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Look and show every second while the block runs; less often where a sweep is so large that it takes long."""
        looking, recording = Throttle(LOOK_SECONDS, share=0.2), Throttle(RECORD_SECONDS)

        def look() -> None:
            try:
                sweep = self._look()
                self.shown(sweep, False)
                recording.do(lambda: self.recorder.update_sweep(sweep, self.answer(sweep)))
            except Exception as error:  # what shows a sweep must not be the end of it
                say_once(f"the sweep goes on, but cannot be shown for now: {type(error).__name__}: {error}")

        self.recorder.update_sweep(self._look())
        with every(LOOK_SECONDS, lambda: looking.do(look), name="clerk"):
            yield

    def end(self, finished: bool) -> Sweep:
        """The last look."""
        sweep = self._look(ended=finished)
        self.shown(sweep, True)
        self.recorder.update_sweep(sweep, self.answer(sweep))
        return sweep

    def _look(self, ended: bool = False) -> Sweep:
        """Write down where things stand, now and then also that they still do, and read what there is to show."""
        trials = {
            f"{key.configuration}/seed-{key.seed}": {"progress": progress, "error": self.desk.errors.get(key)}
            for key, progress in dict(self.desk.progress).items()
        }
        content = {
            "ended": ended,
            "trials": trials,
            "decisions": [self._dated(each) for each in list(self.desk.decisions)],
        }
        now = time.time()
        if content != self.written or now - self.heard > HEARTBEAT_SECONDS:
            self.written, self.heard = content, now
            self.sweep.write_json(STATE, {"time": now, **content})
        return state.load(Store(self.sweep.root), self.sweep.name.rpartition("/")[2], self.curves)

    def _dated(self, decision: Decision) -> dict[str, Any]:
        """A decision that an earlier command came to as well keeps its time."""
        plain = asdict(decision)
        return plain | {"time": self.times.get(_same(plain), decision.time)}


def _same(decision: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(decision[part] for part in ("rung", "address", "action", "seeds"))

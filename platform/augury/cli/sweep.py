"""`augury sweep`: train and compare the points of a search space."""

from __future__ import annotations

import argparse
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from augury.cli.common import RESULTS, add_overrides, print_json, whole_number
from augury.core.errors import UserError, unknown
from augury.core.naming import counted, file_name

if TYPE_CHECKING:
    from augury.core.store import Store
    from augury.reporting.power import PlannedPower
    from augury.reporting.sweeps.progress import Display
    from augury.reporting.sweeps.summary import Summary
    from augury.runs.tracking import Tracking
    from augury.sweeping.declarations import SchedulerName
    from augury.sweeping.driver import Outcome
    from augury.sweeping.plan import Plan, SweepOptions
    from augury.sweeping.space import Space
    from augury.sweeping.state import Sweep
    from augury.tracking.tracker import Tracker

HELP = "Train the configurations of a search space with several seeds and answer its question."
EXAMPLE = "augury sweep agreement --scale toy --seeds 1 2 3 --storage results"
PAGE_SECONDS = 15
CONFIRM = 3


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "space", metavar="SPACE", help="name of a search space, or path of a Python or YAML file"
    )
    parser.add_argument(
        "experiment",
        metavar="EXPERIMENT",
        nargs="?",
        help="an experiment file whose corpus, model and training replace those of the space",
    )
    parser.add_argument(
        "--scale", help="toy, small or paper, as defined by the space (default: its first)"
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        metavar="ROW",
        help="the only rows to train besides the reference (default: all, and of a race their "
        "combinations and tuned settings in later rounds)",
    )
    add_limits(parser)
    parser.add_argument(
        "--scheduler",
        choices=["all", "race"],
        help="all: every configuration with every seed; race: further seeds where they improve the "
        "choice (default: the space's)",
    )
    parser.add_argument(
        "--search",
        choices=["grid", "random", "optuna"],
        help="how to choose points (default: the space's)",
    )
    parser.add_argument(
        "--samples",
        type=whole_number,
        metavar="N",
        help="number of points to draw if keys have domains",
    )
    parser.add_argument(
        "--worth",
        type=points,
        metavar="POINTS",
        help="points of the metric that twice the training time has to bring; 0: time does not "
        "decide (default: the space's; 0.1 of augmentations)",
    )
    parser.add_argument(
        "--confirm",
        type=int,
        choices=range(10),
        default=CONFIRM,
        metavar="N",
        help="fresh seeds with which the reference and the winner are trained once more, and on "
        f"which alone the winner is tested; 0: nothing is confirmed (default: {CONFIRM})",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the configurations and exit; prepares no more than the text",
    )
    add_overrides(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the flags shared by `augury sweep` and `augury reproduce`."""
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        metavar="SEED",
        help="seeds (default: the experiment's or the space's)",
    )
    parser.add_argument(
        "--storage",
        help="directory or URI for all output (default: the experiment's, or results)",
    )
    parser.add_argument(
        "--name", help="name of the sweep in the storage (default: its space and scale)"
    )
    parser.add_argument(
        "--at-once",
        type=whole_number,
        metavar="N",
        help="maximum concurrent trials (default: the file's execution.at_once, or as many as fit)",
    )
    add_budget(parser)
    parser.add_argument("--trials", type=whole_number, metavar="N", help="start at most N trials")
    parser.add_argument(
        "--fail-fast", action="store_true", help="stop after the first failed trial"
    )
    parser.add_argument(
        "--executor",
        choices=["auto", "local", "ray"],
        help="local: in this process, one trial after the other; ray: side by side on a cluster or "
        "a Ray of this machine; auto: ray for more than one trial; as --set execution.executor",
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the flag of a limit of time."""
    parser.add_argument(
        "--budget",
        metavar="TIME",
        help="start no training after this time, and stop at the next validation; each command "
        "counts it anew: 90s, 30m, 2h or 1d",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.dry_run:
        return show_plan(*prepare(arguments), arguments.json)
    return _run(*prepare(arguments), arguments.json)


def prepare(
    arguments: argparse.Namespace, settings: Mapping[str, Any] | None = None
) -> tuple[Space, SweepOptions]:
    """Return the space and the options that the flags of a sweep describe; `settings` override by
    dotted keys, as `--set` does."""
    from augury.sweeping import space as spaces

    settings = settings or {}
    seconds(arguments.budget)  # a mistake in a flag is said before anything of the space
    found = spaces.find(arguments.space, arguments.scale, arguments.search, arguments.scheduler)
    space = _apply(found, arguments, settings) if arguments.experiment else found
    if arguments.rows:
        space = _select_rows(space, arguments.rows, {**found.rows, **space.rows})
    options = options_of(
        space, arguments, _default_name(space, arguments), space.scheduler, arguments.samples
    )
    default = space.worth if space.search != "optuna" else 0.0
    worth = default if arguments.worth is None else arguments.worth
    return space, replace(
        options,
        worth=worth,
        confirm=arguments.confirm,
        rows=tuple(arguments.rows or ()),
        assignments={**options.assignments, **settings},
    )


def _apply(space: Space, arguments: argparse.Namespace, settings: Mapping[str, Any]) -> Space:
    """Return a space on the experiment file that was given, and say what it does not allow.

    What is set applies to the file first, but for the method, which the space brings.
    """
    from augury.core.progress import say
    from augury.experiments.systems import load
    from augury.sweeping.applied import METHOD, apply, left_out_lines

    def of_file(setting: str) -> bool:
        return re.split(r"[.=]", setting)[0] not in METHOD

    assigned = [text for text in arguments.assignments if of_file(text)]
    given = {key: value for key, value in settings.items() if of_file(key)}
    experiment = load(arguments.experiment, assigned, given)
    applied = apply(space, experiment, arguments.experiment)
    wanted = arguments.rows or [name for name, _ in applied.left_out]
    for line in left_out_lines(item for item in applied.left_out if item.name in wanted):
        say(line)
    return applied.space


def _select_rows(space: Space, names: Sequence[str], known: Iterable[str]) -> Space:
    """Return a space with its reference and those of its rows that were named; UserError for names
    that are not `known` ones, and where no row is left."""
    for name in names:
        if name not in {*known}:
            raise unknown(f"row of search space '{space.name}'", name, known)
    selected = {name: space.rows[name] for name in space.rows if name in (*names, space.reference)}
    if selected.keys() <= {space.reference}:
        raise UserError(
            f"--rows {shlex.join(names)} leaves nothing to compare with {space.reference}: name "
            f"others of {', '.join(space.rows)}"
        )
    return replace(space, rows=selected)


def options_of(
    space: Space,
    arguments: argparse.Namespace,
    name: str,
    scheduler: SchedulerName = "all",
    samples: int | None = None,
) -> SweepOptions:
    """Return the options of a sweep from the flags of `add_limits`; `name` is the default name."""
    from augury.core import config
    from augury.experiments.spec import check_seeds
    from augury.sweeping.plan import SweepOptions

    assignments = config.parse_assignments(arguments.assignments)
    flags = {"storage": arguments.storage, "seeds": arguments.seeds, "name": arguments.name}
    for key in [key for key in flags if key in assignments]:
        if flags[key]:
            raise UserError(f"--set {key} and --{key} are the same: give one of them")
        flags[key] = assignments.pop(key)
    of_file = getattr(arguments, "experiment", None)
    if not of_file and any(key.partition(".")[0] == "systems" for key in assignments):
        raise UserError("--set systems: a search space has rows in their place; choose by --rows")
    if arguments.executor:
        assignments["execution.executor"] = arguments.executor
    return SweepOptions(
        storage=str(flags["storage"] or space.base.get("storage", "results")),
        name=file_name(str(flags["name"] or name), "--name "),
        seeds=check_seeds(space.seeds if flags["seeds"] is None else flags["seeds"]),
        scheduler=scheduler,
        search=space.search,
        samples=samples,
        at_once=arguments.at_once,
        trials=arguments.trials,
        budget=seconds(arguments.budget),
        fail_fast=arguments.fail_fast,
        assignments=assignments,
    )


def run_sweep(space: Space, options: SweepOptions) -> tuple[Outcome, Summary]:
    """Run the missing trials of a sweep with progress messages, and keep its page up to date;
    return its summary as well."""
    from augury.core.periodic import Throttle
    from augury.sweeping import driver

    throttle = Throttle(PAGE_SECONDS)
    open_displays = ExitStack()
    summaries: list[Summary] = []

    # Reports and tracking are imported when they are used, while the processes of trials start.
    @cache
    def display() -> Display:
        from augury.reporting.sweeps.progress import Display

        return open_displays.enter_context(closing(Display()))

    def record(tracking: Tracking, store: Store) -> Tracker:
        from augury.tracking.tracker import Tracker

        return Tracker(tracking, store)

    def show(sweep: Sweep, last: bool) -> None:
        from augury.reporting.sweeps.report import write

        display().show(sweep)
        if last:
            summaries.append(write(sweep, refresh=None))
        else:
            throttle.run(lambda: write(sweep, refresh=PAGE_SECONDS))

    with open_displays:
        outcome = driver.run(space, options, record, show=show)
    return outcome, summaries[-1]


def _run(space: Space, options: SweepOptions, as_json: bool) -> int:
    outcome, summary = run_sweep(space, options)

    from augury.core.naming import command
    from augury.core.progress import duration
    from augury.core.store import Store
    from augury.reporting import storage
    from augury.reporting.sweeps.locations import sweep_command
    from augury.reporting.sweeps.recommendation import recommend
    from augury.reporting.sweeps.report import data, text
    from augury.sweeping.state import PAGE

    sweep = outcome.sweep
    recommended = recommend(summary)
    storage.renew(Store(options.storage))
    if as_json:
        print_json(
            {
                **data(summary),
                "reused": outcome.reused,
                "page": sweep.folder.location(PAGE),
                "recommended": recommended,
            }
        )
    else:
        print(text(summary))
        print(f"page     {sweep.folder.location(PAGE)}")
        if recommended:
            stored = options.storage
            elsewhere = [] if Store(stored).root == Store(RESULTS).root else ["--storage", stored]
            print(f"train    {command('augury', 'train', recommended, *elsewhere)}")
        if outcome.unfinished:
            again = shlex.split(sweep_command(sweep))
            again += ["--budget", f"{options.budget:.10g}s"] if options.budget else []
            takes = outcome.missing_seconds
            time = f", about {duration(takes)}" if takes else ""
            print(f"missing  {counted(outcome.missing, 'trial')}{time}")
            print(f"next     {command(*again)}    # goes on")
    return 1 if sweep.count("failed") else 0


def make_plan(space: Space, options: SweepOptions) -> Plan:
    """Return the configurations that a sweep starts with, with their addresses; runs nothing."""
    from augury.core.store import Store
    from augury.sweeping import plan
    from augury.sweeping.budget import keep_within

    options.check()
    planned = plan.of_options(space, options, Store(options.storage))
    if options.budget is not None:
        keep_within(planned, options.seeds, options.budget, options.at_once, name=options.name)
    return planned


def show_plan(space: Space, options: SweepOptions, as_json: bool) -> int:
    """Print the configurations and merged points of a sweep."""
    from augury.core.progress import say
    from augury.execution.cautions import cautions
    from augury.sweeping.applied import left_out_lines
    from augury.sweeping.budget import estimate

    plan = make_plan(space, options)
    notes = cautions(configuration.experiment for configuration in plan.configurations.values())
    power = power_of_plan(plan, options)
    if as_json:
        print_json(
            {
                "question": space.question,
                **plan.to_dict(),
                "cautions": notes,
                "power": [asdict(statement) for statement in power],
            }
        )
        return 0
    for note in notes:
        say(note)
    print(space.question)
    for configuration in plan.configurations.values():
        print(f"  {configuration.address}  {configuration.name}")
    for merged in plan.merged:
        print(f"  same as {merged.same_as}: {merged.label} ({merged.reason})")
    for line in left_out_lines(plan.left_out):
        print(f"  {line}")
    print(size_of(plan, options))
    if cost := estimate(plan, options.seeds, options.at_once):
        print(cost)
        if options.budget is not None and cost.all_seeds > options.budget:
            fit = options.budget / max(cost.first_seed, 1e-9)
            print(f"--budget ends it before: seed by seed, about {fit:.1f} seeds of all fit")
    for line in [line for statement in power for line in statement.lines()]:
        print(line)
    return 0


def power_of_plan(plan: Plan, options: SweepOptions) -> list[PlannedPower]:
    """Return what the configurations of a sweep can show on each test set."""
    from augury.reporting.power import planned_power

    experiments = [configuration.experiment for configuration in plan.configurations.values()]
    return planned_power(experiments, plan.store, len(options.seeds))


def size_of(plan: Plan, options: SweepOptions) -> str:
    """Return a line with the numbers of configurations and trials."""
    suggested = options.samples or 0 if options.search == "optuna" else 0
    count = len(plan.configurations) + suggested
    chosen = f" ({suggested} to be suggested by Optuna)" if suggested else ""
    trials = count * len(options.seeds)
    size = (
        f"{counted(count, 'configuration')}{chosen}, at most {counted(trials, 'trial')}, "
        f"scheduler {options.scheduler}"
    )
    if plan.families and options.scheduler == "race" and not options.rows:
        from augury.sweeping.rounds import COMBINATIONS, SUGGESTED, TUNING_ROUNDS

        tuned = TUNING_ROUNDS * SUGGESTED
        size += (
            f"; later rounds add at most {COMBINATIONS} combinations of the best, and {tuned} "
            "configurations with other values of main settings, which are not in the estimate"
        )
    return size


def _default_name(space: Space, arguments: argparse.Namespace) -> str:
    """Return the name of space and scale, with a search that changes points."""
    parts = [space.name, space.scale, *([arguments.search] if arguments.search else [])]
    return "-".join(parts).replace("/", "-")


def points(text: str) -> float:
    """Return a number of points, 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of points, 0 or more")
    return value


def seconds(text: str | None) -> float | None:
    """Return a duration such as `90s`, `30m`, `2h` or `1d` in seconds."""
    if text is None:
        return None
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not parts:
        raise UserError(f"--budget '{text}': give a number and a unit, such as 90s, 30m, 2h or 1d")
    return float(parts[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[parts[2]]

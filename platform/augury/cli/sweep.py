"""`augury sweep`: train and compare the points of a search space."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from augury.cli.common import RESULTS, add_overrides, integer, print_json, whole_number
from augury.core.naming import counted

if TYPE_CHECKING:
    from augury.reporting.power import PlannedPower
    from augury.sweeping.plan import Plan, SweepOptions
    from augury.sweeping.space import Space

HELP = "Train the configurations of a search space with several seeds and answer its question."
EXAMPLE = "augury sweep agreement --scale toy --seeds 1 2 3 --storage results"


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
        type=integer,
        choices=range(10),
        metavar="N",
        help="fresh seeds with which the reference and the winner are trained once more, and on "
        "which alone the winner is tested; 0: nothing is confirmed (default: 3)",
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
        type=integer,
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
    return _run(*prepare(arguments), arguments.json, arguments.typed)


def prepare(arguments: argparse.Namespace) -> tuple[Space, SweepOptions]:
    """Return the space and the options that the flags of a sweep describe."""
    from augury.core import config
    from augury.sweeping import request

    return request.prepare(
        arguments.space,
        arguments.experiment,
        settings=config.parse_assignments(arguments.assignments),
        scale=arguments.scale,
        search=arguments.search,
        scheduler=arguments.scheduler,
        rows=arguments.rows,
        worth=arguments.worth,
        confirm=arguments.confirm,
        samples=arguments.samples,
        **limits(arguments),
    )


def limits(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the flags of `add_limits`."""
    names = ("seeds", "storage", "name", "at_once", "budget", "trials", "fail_fast", "executor")
    return {name: getattr(arguments, name) for name in names}


def _run(space: Space, options: SweepOptions, as_json: bool, typed: str) -> int:
    from augury.reporting.sweeps.run import run_sweep
    from augury.tracking.tracker import Tracker

    outcome, summary = run_sweep(space, options, Tracker)

    from augury.core.naming import command
    from augury.core.progress import duration
    from augury.core.store import Store
    from augury.reporting import rendering
    from augury.reporting.sweeps.locations import locations
    from augury.reporting.sweeps.recommended import recommend
    from augury.reporting.sweeps.report import data, terminal
    from augury.sweeping.state import PAGE

    sweep = outcome.sweep
    recommended = recommend(summary)
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
        print(rendering.lines(terminal(summary)))
        print(f"page     {sweep.folder.location(PAGE)}")
        if mlflow := locations(sweep).get("MLflow"):
            print(f"MLflow   {mlflow}")
        if recommended:
            stored = options.storage
            elsewhere = [] if Store(stored).root == Store(RESULTS).root else ["--storage", stored]
            print(f"train    {command('augury', 'train', recommended, *elsewhere)}")
        if outcome.unfinished:
            takes = outcome.missing_seconds
            time = f", about {duration(takes)}" if takes else ""
            print(f"missing  {counted(outcome.missing, 'trial')}{time}")
            print(f"continue {typed}")
    return 1 if sweep.count("failed") else 0


def make_plan(space: Space, options: SweepOptions) -> Plan:
    """Return the configurations that a sweep starts with, with their addresses; runs nothing."""
    from augury.core.store import Store
    from augury.sweeping import plan
    from augury.sweeping.budget import keep_within

    planned = plan.of_options(space, options, Store(options.storage))
    if options.budget is not None:
        keep_within(planned, options.seeds, options.budget, options.at_once, name=options.name)
    return planned


def show_plan(space: Space, options: SweepOptions, as_json: bool) -> int:
    """Print the configurations and merged points of a sweep."""
    from augury.core.progress import say
    from augury.experiments.preflight import cautions
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
    suggested = 0
    if options.samples is not None and options.search == "optuna":
        suggested = options.samples - len(plan.suggested)
    count = len(plan.configurations) + suggested
    chosen = f" ({suggested} to be suggested by Optuna)" if suggested else ""
    trials = count * len(options.seeds)
    size = (
        f"{counted(count, 'configuration')}{chosen}, at most {counted(trials, 'trial')}, "
        f"scheduler {options.scheduler}"
    )
    if plan.families and options.scheduler == "race" and not options.rows:
        from augury.sweeping.proposals import COMBINATIONS, TUNED_AT_ONCE, TUNING_ROUNDS

        tuned = TUNING_ROUNDS * TUNED_AT_ONCE
        size += (
            f"; later rounds add at most {COMBINATIONS} combinations of the best, and {tuned} "
            "configurations with other values of main settings, which are not in the estimate"
        )
    return size


def points(text: str) -> float:
    """Return a number of points, 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of points, 0 or more")
    return value

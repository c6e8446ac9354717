"""`augury sweep`: train and compare the points of a search space."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from augury.cli.common import (
    add_executor,
    add_limits,
    add_overrides,
    elsewhere,
    integer,
    print_json,
    print_missing,
    whole_number,
    without_storage,
)
from augury.core import config
from augury.core.messages import say
from augury.core.naming import command, counted
from augury.core.plugin_files import allowing
from augury.experiments.preflight import setting_warnings
from augury.sweeping import budget, request
from augury.sweeping.applied import left_out_lines
from augury.sweeping.plan import SweepOptions, SweepPlan
from augury.sweeping.proposals import COMBINATIONS
from augury.sweeping.space import Space
from augury.sweeping.state import PAGE

EXAMPLE = """augury sweep agreement --scale toy --seeds 1 2 3 --storage results
  augury sweep augmentations search_spaces/experiments/demo_nmt.yaml --budget 2h --dry-run"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    add("space", metavar="SPACE", help="a search space: its name, or the path of a file")
    add("experiment", metavar="FILE", nargs="?", help="whose corpus, model and training are used")
    add("--scale", help="toy, small or paper (default: the first of the space)")
    add("--rows", nargs="+", metavar="ROW", help="only these beside the reference (default: all)")
    add_trials(parser)
    add("--scheduler", choices=["all", "race"], help="all seeds of all, or a race")
    text = "fresh seeds that test the winner against the reference (default: 3)"
    add("--confirm", type=integer, choices=range(10), metavar="N", help=text)
    add("--dry-run", action="store_true", help="show the configurations and their cost, and exit")
    add_overrides(parser)


def add_trials(parser: argparse.ArgumentParser) -> None:
    """Add the flags shared by `augury sweep` and `augury reproduce`."""
    add_limits(parser)
    add = parser.add_argument
    number: dict[str, Any] = {"type": whole_number, "metavar": "N"}
    add("--name", help="name of the sweep (default: its space and scale)")
    add("--at-once", **number, help="most trials at once (default: as many as fit)")
    add_executor(parser)


def limits(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the flags of `add_trials`."""
    names = ("seeds", "storage", "name", "at_once", "budget", "executor")
    return {name: getattr(arguments, name) for name in names}


def prepare(arguments: argparse.Namespace) -> tuple[Space, SweepOptions]:
    """Return the space and the options that the flags of a sweep describe."""
    names = ("scale", "scheduler", "rows", "confirm")
    return request.prepare(
        arguments.space,
        arguments.experiment,
        settings=config.parse_assignments(arguments.assignments),
        **{name: getattr(arguments, name) for name in names},
        **limits(arguments),
    )


def run(arguments: argparse.Namespace) -> int:
    space, options = prepare(arguments)
    if arguments.dry_run:
        return _show_plan(space, options, arguments.json)
    from augury.reporting import rendering
    from augury.reporting.sweeps.locations import locations
    from augury.reporting.sweeps.progress import run_sweep
    from augury.reporting.sweeps.recommended import RECOMMENDED
    from augury.tracking.tracker import Tracker

    outcome, report = run_sweep(
        space, replace(options, command=without_storage(arguments.typed)), Tracker
    )
    sweep, recommended = outcome.sweep, None
    if report.data["recommended"] and sweep.folder.exists(RECOMMENDED):
        recommended = sweep.folder.location(RECOMMENDED)
    page, failed = sweep.folder.location(PAGE), int(bool(sweep.count("failed")))
    if arguments.json:
        further = {"reused": outcome.reused, "page": page, "recommended": recommended}
        print_json({**report.data, **further})
        return failed
    print(rendering.text(report))
    print(f"page     {page}")
    if mlflow := locations(sweep).get("MLflow"):
        print(f"MLflow   {mlflow}")
    if recommended:
        flags = [*elsewhere(options.storage), *allowing(sweep.folder.read(RECOMMENDED))]
        train = command("augury", "train", recommended, *flags)
        print(f"train    {train}")
    if outcome.unfinished:
        left = f"at most {counted(outcome.missing, 'trial')}"
        print_missing(left, outcome.missing_seconds, arguments.typed)
    return failed


def _show_plan(space: Space, options: SweepOptions, as_json: bool) -> int:
    """Print the configurations and merged points of a sweep."""
    made = budget.make_plan(space, options)
    warnings = setting_warnings(planned.experiment for planned in made.configurations.values())
    if as_json:
        facts = {"question": space.question, **made.to_dict(), "warnings": warnings}
        print_json({**facts, "power": _power(made, options)})
        return 0
    for warning in warnings:
        say(warning)
    print(space.question)
    for configuration in made.configurations.values():
        print(f"  {configuration.address}  {configuration.name}")
    for merged in made.merged:
        print(f"  same as {merged.same_as}: {merged.name} ({merged.reason})")
    for line in left_out_lines(made.left_out):
        print(f"  {line}")
    print("\n".join(plan_lines(made, options)))
    return 0


def plan_lines(made: SweepPlan, options: SweepOptions) -> list[str]:
    """Return lines with the size of a plan, its cost, and what it can show."""
    count = len(made.configurations)
    trials = counted(count * len(options.seeds), "trial")
    size = f"{counted(count, 'configuration')}, at most {trials}"
    lines = [f"{size}, scheduler {options.scheduler}"]
    if made.space.families and options.scheduler == "race" and not options.rows:
        lines[0] += f"; a second round adds at most {COMBINATIONS} combinations of the best"
    if cost := budget.estimate(made, options.seeds, options.at_once):
        lines.append(str(cost))
        if options.budget is not None and cost.all_seeds > options.budget:
            lines.append(
                "--budget ends it before all seeds are trained, and at most half of it is kept to "
                "confirm what leads"
            )
    return [*lines, *_power(made, options)]


def _power(made: SweepPlan, options: SweepOptions) -> list[str]:
    """Return what the configurations of a sweep can show on each test set."""
    from augury.reporting.power import planned_power

    experiments = [configuration.experiment for configuration in made.configurations.values()]
    return planned_power(experiments, made.store, len(options.seeds))

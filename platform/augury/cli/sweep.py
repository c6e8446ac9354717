"""`augury sweep`: the answer to the question of a search space."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import add_overrides, print_json
from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.sweeping.driver import Outcome
    from augury.sweeping.plan import Plan
    from augury.sweeping.settings import SweepOptions
    from augury.sweeping.space import SchedulerName, Space
    from augury.sweeping.state import Sweep

HELP = "Answer the question of a search space: train its configurations with several seeds, race, compare."
EXAMPLE = "augury sweep agreement --scale toy --seeds 1 2 3 --storage results"
PAGE_SECONDS = 15


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("space", metavar="SPACE", help="a space of search_spaces, or the path of a Python file")
    parser.add_argument("--scale", help="toy, small or paper, as the space defines (default: its first)")
    add_limits(parser)
    parser.add_argument(
        "--scheduler",
        choices=["all", "halving", "pbt"],
        help="all: every seed to the end; halving: race the configurations, more seeds where it is close; "
        "pbt: population-based training",
    )
    parser.add_argument("--search", choices=["grid", "random", "optuna"], help="where points come from")
    parser.add_argument("--samples", type=int, metavar="N", help="points to draw, where keys have domains")
    parser.add_argument("--dry-run", action="store_true", help="show the configurations, and stop")
    add_overrides(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the flags of every command that trains a set of configurations."""
    parser.add_argument("--seeds", type=int, nargs="+", metavar="SEED", help="seeds (default: the space's)")
    parser.add_argument("--storage", default="results", help="directory or URI of everything that is made")
    parser.add_argument("--name", help="what the sweep is called in the storage (default: its space and scale)")
    parser.add_argument("--at-once", type=int, metavar="N", help="trials side by side (default: as many as fit)")
    parser.add_argument("--budget", metavar="TIME", help="stop beginning after 90s, 30m, 2h or 1d")
    parser.add_argument("--trials", type=int, metavar="N", help="begin at most so many trials now")
    parser.add_argument("--fail-fast", action="store_true", help="end with the first trial that fails")


def run(arguments: argparse.Namespace) -> int:
    from augury.sweeping import space as spaces

    space = spaces.find(arguments.space, arguments.scale, arguments.search, arguments.scheduler)
    options = options_of(space, arguments, _usual_name(space, arguments), space.scheduler, arguments.samples)
    if arguments.dry_run:
        return show_plan(space, options, arguments.json)
    return _run(space, options, arguments.json)


def options_of(
    space: Space, arguments: argparse.Namespace, name: str, scheduler: SchedulerName = "all", samples: int | None = None
) -> SweepOptions:
    """Return what the flags of `add_limits` ask of a space; `name` is the sweep's, unless the command names it."""
    from augury.core import config
    from augury.sweeping.settings import SweepOptions

    return SweepOptions(
        storage=arguments.storage,
        name=_name(arguments.name or name),
        seeds=_seeds(arguments.seeds or space.seeds),
        scheduler=scheduler,
        search=space.search,
        samples=samples,
        at_once=arguments.at_once,
        trials=arguments.trials,
        budget=seconds(arguments.budget),
        fail_fast=arguments.fail_fast,
        assignments=config.assigned(arguments.assignments),
    )


def answered(space: Space, options: SweepOptions) -> Outcome:
    """Run what is missing, with messages of how far it is and the sweep's page."""
    from augury.core.periodic import Throttle
    from augury.reporting.sweeps import page
    from augury.sweeping import driver
    from augury.sweeping.display import Display
    from augury.sweeping.state import PAGE
    from augury.tracking.tracker import Tracker

    display = Display()
    throttle = Throttle(PAGE_SECONDS)

    def write(sweep: Sweep, refresh: int | None) -> None:
        sweep.folder.write(PAGE, page.render(sweep, refresh=refresh))

    def show(sweep: Sweep, last: bool) -> None:
        display.show(sweep)
        if last:
            write(sweep, refresh=None)
        else:
            throttle.do(lambda: write(sweep, refresh=PAGE_SECONDS))

    try:
        return driver.run(space, options, Tracker, show=show)
    finally:
        display.close()


def _run(space: Space, options: SweepOptions, as_json: bool) -> int:
    from augury.reporting.sweeps import terminal
    from augury.sweeping.state import PAGE

    outcome = answered(space, options)
    sweep = outcome.sweep
    if as_json:
        print_json({**terminal.to_dict(sweep), "reused": outcome.reused, "page": f"{sweep.folder.uri}/{PAGE}"})
    else:
        print(terminal.text(sweep))
        print(f"page     {sweep.folder.uri}/{PAGE}")
        if outcome.unfinished:
            print("next     not decided yet: the same command goes on")
    return 1 if outcome.unfinished or sweep.count("failed") else 0


def planned(space: Space, options: SweepOptions) -> Plan:
    """Return the configurations that the space comes to, and their addresses; nothing is run."""
    from augury.core.store import Store
    from augury.sweeping import plan, points

    return plan.make(space, Store(options.storage), options.assignments, points.sample(space, options.samples))


def show_plan(space: Space, options: SweepOptions, as_json: bool) -> int:
    """Print the configurations, and which points are the same experiment."""
    from augury.core.progress import say
    from augury.experiments.preflight import cautions

    plan = planned(space, options)
    notes = cautions(configuration.experiment for configuration in plan.configurations.values())
    if as_json:
        print_json({"question": space.question, **plan.to_dict(), "cautions": notes})
        return 0
    for note in notes:
        say(note)
    print(space.question)
    for configuration in plan.configurations.values():
        print(f"  {configuration.address}  {configuration.name}")
    for merged in plan.merged:
        print(f"  same as {merged.same_as}: {merged.label} ({merged.reason})")
    print(counted(plan, options))
    return 0


def counted(plan: Plan, options: SweepOptions) -> str:
    """Return how much there is to run, for people."""
    most = len(plan.configurations) * len(options.seeds)
    return f"{len(plan.configurations)} configurations, at most {most} trials, scheduler {options.scheduler}"


def _usual_name(space: Space, arguments: argparse.Namespace) -> str:
    """Return the space and scale, and what makes it another set of points than the space's own."""
    kinds = [arguments.search or "", "pbt" if arguments.scheduler == "pbt" else ""]
    return "-".join([space.name, space.scale, *(kind for kind in kinds if kind)])


def _name(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+", name):
        raise UserError(f"--name '{name}': use letters, digits, '.', '-' and '_'")
    return name


def _seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise UserError(f"--seeds {' '.join(map(str, seeds))}: give each seed once")
    return tuple(seeds)


def seconds(text: str | None) -> float | None:
    """Return `90s`, `30m`, `2h` or `1d` in seconds."""
    if text is None:
        return None
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not parts:
        raise UserError(f"--budget '{text}': give a number and a unit, such as 90s, 30m, 2h or 1d")
    return float(parts[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[parts[2]]

"""`augury sweep`: the answer to the question of a search space."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import add_overrides, print_json
from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.sweeping.driver import Outcome
    from augury.sweeping.plan import Plan
    from augury.sweeping.settings import Asked
    from augury.sweeping.space import Scheduler, Space
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
    """What every command that trains a set of configurations can be told."""
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
    asked = asked_for(space, arguments, _usual_name(space, arguments), space.scheduler, arguments.samples)
    if arguments.dry_run:
        return show_plan(space, asked, arguments.json)
    return _run(space, asked, arguments.json)


def asked_for(
    space: Space, arguments: argparse.Namespace, name: str, scheduler: Scheduler = "all", samples: int | None = None
) -> Asked:
    """What the flags of `add_limits` ask of a space; `name`: of the sweep, unless the command names it."""
    from augury.core import config
    from augury.sweeping.settings import Asked

    return Asked(
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


def answered(space: Space, asked: Asked) -> Outcome:
    """Run what is missing, with a board on standard error and the sweep's page."""
    from augury.core.periodic import Throttle
    from augury.reporting.sweeps import page, terminal
    from augury.reporting.sweeps.answer import answer
    from augury.sweeping import driver
    from augury.sweeping.state import PAGE
    from augury.tracking.tracker import Tracker

    board = terminal.Board(sys.stderr)
    throttle = Throttle(PAGE_SECONDS)

    def write(sweep: Sweep, refresh: int | None) -> None:
        sweep.folder.write(PAGE, page.render(sweep, refresh=refresh))

    def shown(sweep: Sweep, last: bool) -> None:
        board.show(sweep)
        if last:
            write(sweep, refresh=None)
        else:
            throttle.do(lambda: write(sweep, refresh=PAGE_SECONDS))

    try:
        return driver.run(space, asked, Tracker, shown=shown, answer=answer)
    finally:
        board.close()


def _run(space: Space, asked: Asked, as_json: bool) -> int:
    from augury.reporting.sweeps import terminal
    from augury.sweeping.state import PAGE

    outcome = answered(space, asked)
    sweep = outcome.sweep
    if as_json:
        print_json({**terminal.to_dict(sweep), "reused": outcome.reused, "page": f"{sweep.folder.uri}/{PAGE}"})
    else:
        print(terminal.text(sweep))
        print(f"page     {sweep.folder.uri}/{PAGE}")
        if outcome.unfinished:
            print("next     not decided yet: the same command goes on")
    return 1 if outcome.unfinished or sweep.count("failed") else 0


def planned(space: Space, asked: Asked) -> Plan:
    """The configurations that the space comes to, and their addresses; nothing is run."""
    from augury.core.store import Store
    from augury.sweeping import plan, points

    return plan.make(space, Store(asked.storage), asked.assignments, points.listed(space, asked.samples))


def show_plan(space: Space, asked: Asked, as_json: bool) -> int:
    """The configurations, and which points are the same experiment."""
    from augury.core.progress import say
    from augury.experiments.preflight import cautions

    found = planned(space, asked)
    told = cautions(each.experiment for each in found.configurations.values())
    if as_json:
        print_json({"question": space.question, **found.plain(), "cautions": told})
        return 0
    for caution in told:
        say(caution)
    print(space.question)
    for each in found.configurations.values():
        print(f"  {each.address}  {each.name}")
    for same in found.merged:
        print(f"  same as {same.same_as}: {same.called} ({same.reason})")
    print(counted(found, asked))
    return 0


def counted(found: Plan, asked: Asked) -> str:
    """How much there is to run."""
    most = len(found.configurations) * len(asked.seeds)
    return f"{len(found.configurations)} configurations, at most {most} trials, scheduler {asked.scheduler}"


def _usual_name(space: Space, arguments: argparse.Namespace) -> str:
    """Space and scale, and what makes it another set of points than the space's own."""
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
    """`90s`, `30m`, `2h`, `1d` in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not found:
        raise UserError(f"--budget '{text}': give a number and a unit, such as 90s, 30m, 2h or 1d")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]

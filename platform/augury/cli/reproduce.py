"""`augury reproduce`: reproduce a table of a paper."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from augury.cli.common import add_overrides, print_json
from augury.cli.sweep import add_limits, limits, make_plan, power_of_plan, size_of
from augury.core.errors import UserError, unknown
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.experiments.spec import Experiment
    from augury.sweeping.plan import Plan, SweepOptions
    from augury.sweeping.published import Published
    from augury.sweeping.space import Space
    from augury.training.pace import TextSize

HELP = (
    "Reproduce a table of a paper: run missing rows and print published and measured values side "
    "by side."
)
EXAMPLE = """augury reproduce
  augury reproduce xnli_adversarial/table2 --scale toy --seeds 1 2 3
  augury reproduce xnli_adversarial/table2 --rows XLM-R +PGD --format latex
  augury reproduce cipherdaug/table3 --scale paper --corpus iwslt17-fr-en --dry-run
  augury reproduce cipherdaug/table2 --scale paper --row "20 keys, eq. 2" --resolved"""
PAGE = "table.html"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "table",
        nargs="?",
        metavar="TABLE",
        help="PAPER/TABLE or path of a Python file; without it, list all tables",
    )
    parser.add_argument(
        "--scale", help="toy, small, paper or released_code (default: the table's first)"
    )
    parser.add_argument(
        "--corpus",
        help="a corpus of the scale other than its first, such as iwslt17-fr-en or multi30k-10k "
        "(Table 3)",
    )
    parser.add_argument(
        "--rows",
        "--row",
        nargs="+",
        metavar="ROW",
        help="rows to run besides the reference (default: all)",
    )
    parser.add_argument(
        "--resolved",
        action="store_true",
        help="print all settings of the rows, defaults included, and about how many updates a pass "
        "and patience are, without reading any text; and exit",
    )
    parser.add_argument(
        "--reference",
        metavar="ROW",
        help="the row that differences are tested against (default: the table's)",
    )
    add_limits(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the published values, the runs and the cost, and exit",
    )
    parser.add_argument(
        "--format",
        choices=["text", "latex", "csv", "markdown", "html"],
        default="text",
        help="table format (default: text)",
    )
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    from augury.analysis.system import open_systems
    from augury.core import config
    from augury.reporting import rendering
    from augury.reporting.papers.report import report
    from augury.reporting.papers.reproduction import load_reproduction
    from augury.reporting.papers.tables import plan_dict, plan_text
    from augury.reporting.sweeps.run import run_sweep
    from augury.sweeping import published, request
    from augury.tracking.tracker import Tracker

    if arguments.table is None:
        return _list(arguments.json)
    table = published.find(arguments.table, arguments.scale, arguments.corpus)
    if arguments.reference is not None and arguments.reference not in table.space.rows:
        raise unknown(f"row of {table.name} to compare with", arguments.reference, table.space.rows)
    space = _select_rows(table, arguments.rows)
    settings = config.parse_assignments(arguments.assignments)
    if arguments.resolved:
        return _resolved(table, space, arguments.rows, settings, arguments.json)
    name = f"{space.name}-{space.scale}"
    options = request.options(space, name, settings=settings, **limits(arguments))
    if arguments.dry_run:
        plan, error = _try_plan(space, options)
        if arguments.json:
            print_json({**plan_dict(table, plan), "not_planned": error})
            return 0
        print(plan_text(table, plan))
        lines = ["", f"not planned: {error}"] if error else _plan_lines(plan, options)
        print("\n".join(lines))
        return 0
    say(_costs(make_plan(space, options), options)[-1])
    outcome, _ = run_sweep(space, options, Tracker)
    result = load_reproduction(table, outcome.sweep, open_systems, arguments.reference)
    shown = report(result)
    outcome.sweep.folder.write(PAGE, rendering.page(shown))
    if arguments.json:
        print_json(
            {
                **shown.data,
                "reused": outcome.reused,
                "page": outcome.sweep.folder.location(PAGE),
            }
        )
    else:
        print(rendering.FORMATS[arguments.format](shown), end="")
    if arguments.format == "text" and not arguments.json:
        print(f"\npage     {outcome.sweep.folder.location(PAGE)}")
    return 1 if outcome.sweep.count("failed") else 0


def _plan_lines(plan: Plan, options: SweepOptions) -> list[str]:
    """Return lines with the size of a plan, its cost, and what it can show."""
    power = [line for statement in power_of_plan(plan, options) for line in statement.lines()]
    return [size_of(plan, options), *_costs(plan, options), *power]


def _try_plan(space: Space, options: SweepOptions) -> tuple[Plan, str | None]:
    """Return the plan of the rows, or an empty one and the error where corpora are missing."""
    from augury.core.store import Store
    from augury.sweeping.plan import Plan

    try:
        return make_plan(space, options), None
    except UserError as error:
        return Plan(space, Store(options.storage), options.assignments), str(error)


def _costs(plan: Plan, options: SweepOptions) -> list[str]:
    """Return lines with the estimated cost of every row and its models, cautions, and the sum."""
    from augury.core.progress import duration
    from augury.experiments.estimates import estimate, estimates
    from augury.experiments.preflight import cautions

    rows = {planned.name: planned.experiment for planned in plan.configurations.values()}
    graph = plan.graph
    graph.add(rows, options.seeds)
    seeds = dict.fromkeys([*graph.earlier_stages, *rows], len(options.seeds))
    lines = []
    for name, cost in estimates(graph).items():
        repeated = f" × {count} seeds" if (count := seeds.get(name, 1)) > 1 else ""
        lines.append(
            f"  {name}: {duration(cost.seconds) if cost else 'not known'}{repeated}, at most"
        )
    whole = (
        estimate(graph, plan.base(), options.at_once) or "not known before all models are fetched"
    )
    return [*lines, *cautions(rows.values()), f"cost: {whole}"]


def _resolved(
    table: Published,
    space: Space,
    asked: Sequence[str] | None,
    settings: Mapping[str, Any],
    as_json: bool,
) -> int:
    """Print all settings of the rows that were asked for, and of each of their stages."""
    import sys

    import yaml

    from augury.core.config import merge
    from augury.experiments.spec import parse
    from augury.experiments.systems import last_stage
    from augury.training.pace import pace

    shown = {}
    for name, changes in space.rows.items():
        if name == space.reference and asked and name not in asked:
            continue
        stages = [last_stage(parse(merge(merge(space.base, changes), settings), name))]
        while (earlier := stages[0].before) is not None:
            stages.insert(0, earlier)
        for stage in stages:
            title = f"{name}, stage {stage.stage.name}" if stage.stage else name
            about = pace(stage.training, None if stage.stage else _text_size(table, stage))
            kept = {key: value for key, value in stage.to_dict().items() if key != "stage"}
            shown[title] = {"about": about._asdict(), "settings": kept}
    if as_json:
        print_json(shown)
        return 0
    for name, row in shown.items():
        print(f"# {name}, at scale {space.scale}")
        yaml.safe_dump(row, sys.stdout, sort_keys=False, allow_unicode=True)
        print()
    return 0


def _text_size(table: Published, experiment: Experiment) -> TextSize | None:
    """Return about how much the training text of a row is; a row may read a part of the table's."""
    part = getattr(experiment.corpus.train, "subset", None)
    return table.text and table.text._replace(rows=part or table.text.rows)


def _select_rows(table: Published, rows: Sequence[str] | None) -> Space:
    """Return the table's space with only the given rows and the reference."""
    space = table.space
    if rows is None:
        return space
    selected = {space.reference}
    for row in rows:
        if row not in table.rows:
            raise unknown(f"row of {table.name}", row, table.rows)
        if row in table.unavailable:
            raise UserError(
                f"row '{row}' of {table.name} cannot be run: {table.unavailable[row]}; leave it out"
            )
        parts = tuple(table.assembled.get(row, {}).values())
        selected.update(parts or table.improvements.get(row) or table.rescored.get(row, (row,))[:1])
    return replace(space, rows={name: row for name, row in space.rows.items() if name in selected})


def _list(as_json: bool) -> int:
    from augury.sweeping import declarations, published

    tables = [published.find(name) for name in declarations.tables()]
    if as_json:
        print_json(
            [
                {
                    "table": table.name,
                    "where": table.where,
                    "paper": table.paper,
                    "question": table.space.question,
                    "rows": table.rows,
                }
                for table in tables
            ]
        )
        return 0
    for paper in dict.fromkeys(table.paper for table in tables):
        print(paper)
        for table in (table for table in tables if table.paper == paper):
            print(f"  {table.name}: {table.space.question}\n    {' | '.join(table.rows)}")
    return 0

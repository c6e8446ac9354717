"""`augury reproduce`: reproduce a table of a paper."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from augury.cli.common import add_overrides, print_json
from augury.cli.sweep import add_limits, limits, make_plan, power_of_plan, size_of
from augury.core.errors import UserError, unknown
from augury.core.progress import duration, say

if TYPE_CHECKING:
    from augury.reporting.papers.table import Published
    from augury.sweeping.plan import Plan, SweepOptions
    from augury.sweeping.space import Space

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
    from augury.core.store import Store
    from augury.reporting import rendering
    from augury.reporting.papers.report import load_reproduction, plan_dict, plan_text, report
    from augury.reporting.papers.table import find
    from augury.reporting.sweeps.run import run_sweep
    from augury.sweeping import request
    from augury.sweeping.plan import Plan
    from augury.tracking.tracker import Tracker

    if arguments.table is None:
        return _list(arguments.json)
    table = find(arguments.table, arguments.scale, arguments.corpus)
    if arguments.reference is not None and arguments.reference not in table.space.rows:
        raise unknown(f"row of {table.name} to compare with", arguments.reference, table.space.rows)
    space = _select_rows(table, arguments.rows)
    settings = config.parse_assignments(arguments.assignments)
    if arguments.resolved:
        shown = _resolved(table, space, arguments.rows, settings)
        if arguments.json:
            print_json(shown)
        else:
            _print_yaml(shown, space.scale)
        return 0
    name = f"{space.name}-{space.scale}"
    options = request.options(space, name, settings=settings, **limits(arguments))
    if arguments.dry_run:
        error = None
        try:
            plan = make_plan(space, options)
        except UserError as missing:  # published values are shown without any corpus
            plan, error = Plan(space, Store(options.storage), options.assignments), str(missing)
        if arguments.json:
            print_json({**plan_dict(table, plan), "not_planned": error})
            return 0
        print(f"{plan_text(table, plan)}\n")
        if error:
            print(f"not planned: {error}")
            return 0
        power = [line for known in power_of_plan(plan, options) for line in known.lines()]
        print("\n".join([size_of(plan, options), *_costs(plan, options), *power]))
        return 0
    say(_costs(make_plan(space, options), options)[-1])
    outcome, _ = run_sweep(space, options, Tracker)
    reproduced = load_reproduction(table, outcome.sweep, open_systems, arguments.reference)
    result = report(reproduced)
    outcome.sweep.folder.write(PAGE, rendering.page(result))
    page = outcome.sweep.folder.location(PAGE)
    if arguments.json:
        print_json({**result.data, "reused": outcome.reused, "page": page})
    else:
        print(rendering.FORMATS[arguments.format](result), end="")
        if arguments.format == "text":
            print(f"\npage     {page}")
    return 1 if outcome.sweep.count("failed") else 0


def _costs(plan: Plan, options: SweepOptions) -> list[str]:
    """Return lines with the estimated cost of every row and its models, cautions, and the sum."""
    from augury.experiments.estimates import estimate, estimates
    from augury.experiments.preflight import cautions

    rows = {planned.name: planned.experiment for planned in plan.configurations.values()}
    graph = plan.graph
    graph.add(rows, options.seeds)
    lines = []
    for name, cost in estimates(graph).items():
        of_seeds = name in rows or name in graph.earlier_stages
        repeated = f" × {len(options.seeds)} seeds" if of_seeds and len(options.seeds) > 1 else ""
        seconds = duration(cost.seconds) if cost else "not known"
        lines.append(f"  {name}: {seconds}{repeated}, at most")
    whole = estimate(graph, plan.base(), options.at_once)
    known = whole or "not known before all models are fetched"
    return [*lines, *cautions(rows.values()), f"cost: {known}"]


def _resolved(
    table: Published, space: Space, asked: Sequence[str] | None, settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return all settings of the rows that were asked for, and of each of their stages."""
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
            text = None if stage.stage else table.text
            if text and (part := getattr(stage.corpus.train, "subset", None)):
                text = text._replace(rows=part)
            kept = {key: value for key, value in stage.to_dict().items() if key != "stage"}
            title = f"{name}, stage {stage.stage.name}" if stage.stage else name
            shown[title] = {"about": pace(stage.training, text)._asdict(), "settings": kept}
    return shown


def _print_yaml(shown: Mapping[str, Any], scale: str) -> None:
    import sys

    import yaml

    for name, row in shown.items():
        print(f"# {name}, at scale {scale}")
        yaml.safe_dump(row, sys.stdout, sort_keys=False, allow_unicode=True)
        print()


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
        selected.update(table.made_of(row))
    return replace(space, rows={name: row for name, row in space.rows.items() if name in selected})


def _list(as_json: bool) -> int:
    from augury.reporting.papers.table import find
    from augury.sweeping import declarations

    tables = [find(name) for name in declarations.tables()]
    if as_json:
        listed = []
        for table in tables:
            of, question = table.declared, table.space.question
            row = {"table": table.name, "where": of.where, "paper": of.paper}
            listed.append({**row, "question": question, "rows": table.rows})
        print_json(listed)
        return 0
    paper = ""
    for table in tables:
        if table.declared.paper != paper:
            paper = table.declared.paper
            print(paper)
        print(f"  {table.name}: {table.space.question}\n    {' | '.join(table.rows)}")
    return 0

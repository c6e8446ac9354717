"""`augury reproduce`: reproduce a table of a paper."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from augury.cli.common import add_format, add_overrides, print_json, print_settings, without_storage
from augury.cli.sweep import add_trials, limits, plan_lines
from augury.core import config
from augury.core.errors import UserError, unknown
from augury.core.store import Store
from augury.experiments.preflight import setting_warnings
from augury.experiments.spec import parse
from augury.experiments.systems import last_stage
from augury.reporting.papers.table import Published, find
from augury.sweeping import request
from augury.sweeping.budget import make_plan
from augury.sweeping.plan import SweepOptions, SweepPlan
from augury.sweeping.space import Space
from augury.training.schedule import pace

EXAMPLE = """augury reproduce xnli_adversarial/table2 --scale toy --seeds 1 2 3
  augury reproduce cipherdaug/table3 --scale paper/iwslt17-fr-en --dry-run
  augury reproduce cipherdaug/table2 --scale paper --rows "20 keys, eq. 2" --resolved"""
PAGE = "table.html"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    flag: dict[str, Any] = {"action": "store_true"}
    add("table", metavar="TABLE", help="one of `augury list tables`, or the path of a Python file")
    add(
        "--scale",
        help="toy, small, paper or released_code (default: the table's first), or one with another "
        "corpus, such as paper/iwslt17-fr-en (Table 3)",
    )
    add("--rows", nargs="+", metavar="ROW", help="rows besides the reference (default: all)")
    add("--reference", metavar="ROW", help="test differences to this one (default: the table's)")
    add("--resolved", **flag, help="print the rows' settings that have a value, and exit")
    add("--dry-run", **flag, help="show the published values, the runs and the cost, and exit")
    add_trials(parser)
    add_format(parser, "html")
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    table = find(arguments.table, arguments.scale)
    if arguments.reference is not None and arguments.reference not in table.space.rows:
        raise unknown(f"row of {table.name} to compare with", arguments.reference, table.space.rows)
    space = _select_rows(table, arguments.rows, arguments.reference)
    settings = config.parse_assignments(arguments.assignments)
    if arguments.resolved:
        print_settings(_resolved(table, space, arguments.rows, settings), arguments.json)
        return 0
    options = request.options(
        space,
        settings=settings,
        command=without_storage(arguments.typed),
        **limits(arguments),
    )
    if arguments.dry_run:
        return _dry_run(table, space, options, arguments.json)

    from augury.analysis.system import open_systems
    from augury.reporting import rendering
    from augury.reporting.papers.report import report
    from augury.reporting.papers.reproduction import load_reproduction
    from augury.reporting.sweeps.progress import run_sweep
    from augury.tracking.tracker import Tracker

    outcome, _ = run_sweep(space, options, Tracker)
    folder = outcome.sweep.folder
    shown = report(load_reproduction(table, outcome.sweep, open_systems, arguments.reference))
    folder.write(PAGE, rendering.page(shown))
    if arguments.json:
        print_json({**shown.data, "reused": outcome.reused, "page": folder.location(PAGE)})
    else:
        print(rendering.FORMATS[arguments.format](shown), end="")
        if arguments.format == "text":
            print(f"\npage     {folder.location(PAGE)}")
    return 1 if outcome.sweep.count("failed") else 0


def _dry_run(table: Published, space: Space, options: SweepOptions, as_json: bool) -> int:
    """Print the published values and, unless corpora are missing, the runs and their cost."""
    from augury.reporting.numbers import MISSING
    from augury.reporting.results import MEAN

    try:
        plan, error = make_plan(space, options), None
    except UserError as missing:
        plan, error = SweepPlan(space, Store(options.storage), options.assignments), str(missing)
    planned = plan.configurations.values()
    addresses: dict[str, str | None] = {row.name: row.address for row in planned}
    reasons = dict(table.reasons)
    for merged in plan.merged:
        addresses[merged.name] = addresses.get(merged.same_as)
        reasons[merged.name] = f"as {merged.same_as}: {merged.reason}"
    rows, lines = [], [table.space.question, table.source, ""]
    for name in table.rows:
        printed, address = table.printed.get(name, {}), addresses.get(name)
        values = {column: cell.published for column, cell in printed.items()}
        why = reasons.get(name, "")
        rows.append({"row": name, "published": values, "address": address, "why": why})
        listed = ", ".join(f"{column} {cell.text}" for column, cell in printed.items()) or MISSING
        shown = printed[MEAN].text if MEAN in printed else listed
        lines.append(f"  {address or 16 * ' '}  {name}: {shown}{f' ({why})' if why else ''}")
    if as_json:
        print_json({**table.to_dict(), "rows": rows, **plan.to_dict(), "not_planned": error})
        return 0
    deviations = [f"not as in the paper: {line}" for line in table.deviations]
    lines += ["", *table.remarks, *deviations]
    warnings = setting_warnings(row.experiment for row in planned)
    lines += [f"not planned: {error}"] if error else [*warnings, *plan_lines(plan, options)]
    print("\n".join(lines))
    return 0


def _select_rows(table: Published, rows: Sequence[str] | None, reference: str | None) -> Space:
    """Return the table's space with only the given rows, its reference and the one asked for."""
    space = table.space
    if rows is None:
        return space
    selected = {space.reference, reference}
    for row in rows:
        if row not in table.rows:
            raise unknown(f"row of {table.name}", row, table.rows)
        if row in table.reasons and row not in table.made_of:
            raise UserError(
                f"row '{row}' of {table.name} cannot be run: {table.reasons[row]}; leave it out"
            )
        selected.update(table.made_of.get(row, (row,)))
    return replace(space, rows={name: row for name, row in space.rows.items() if name in selected})


def _resolved(
    table: Published, space: Space, asked: Sequence[str] | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of the rows that were asked for, and of each of their stages, with the
    filter of a known corpus and the sizes of an architecture, but for what is null or empty."""
    shown, (length, tokens) = {}, table.declared.text.get(space.scale, (None, 0.0))
    for name, changes in space.rows.items():
        if name == space.reference and asked and name not in asked:
            continue
        merged = config.merge(config.merge(space.base, changes), settings)
        for stage in last_stage(parse(merged, name)).chain:
            title = f"{name}, stage {stage.stage.name}" if stage.stage else name
            rows = None
            if length and not stage.stage:  # a row may read a part of the table's text
                rows = getattr(stage.corpus.train, "subset", None) or length
            resolved = stage.to_dict() | {"stage": None, "seeds": space.seeds}
            resolved["corpus"]["filter"] = stage.corpus.preparation.to_dict()
            if sizes := getattr(getattr(stage, "model", None), "sizes", None):
                resolved["model"] |= asdict(sizes)
            about = pace(stage.training, rows, tokens)
            shown[title] = _filled({"about": about, "settings": resolved})
    return shown


def _filled(settings: Any) -> Any:
    """Return nested settings without those that are null or empty."""
    if isinstance(settings, list):
        return [_filled(item) for item in settings]
    if not isinstance(settings, Mapping):
        return settings
    filled = {key: _filled(value) for key, value in settings.items()}
    return {key: value for key, value in filled.items() if value not in (None, {}, [])}

"""`augury gc`: list and remove what nothing in a storage needs any more."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from augury.cli.common import RESULTS, open_storage, print_json
from augury.core.errors import UserError
from augury.core.progress import say

HELP = "List and remove what no run refers to, and what killed processes have left behind."
EXAMPLE = """augury gc results            # says what would go, and how large it is
  augury gc results --yes"""
PLURALS = {
    "text": "texts",
    "temporary": "temporary files",
    "lock": "locks",
    "download": "downloads",
}


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "storage", nargs="?", default=RESULTS, help=f"storage to clean (default: {RESULTS})"
    )
    parser.add_argument(
        "--hours",
        type=float,
        default=24.0,
        help="only what has not changed for so many hours, as a process may work on it (default: "
        "24)",
    )
    parser.add_argument("--yes", action="store_true", help="remove it, and do not just list it")


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting.run_list import size_text
    from augury.runs.record import KIND as RUNS
    from augury.runs.unused import unused
    from augury.sweeping.state import KIND as SWEEPS

    if not arguments.hours >= 0:
        raise UserError(f"--hours {arguments.hours}: give a number of hours, at least 0")
    store = open_storage(arguments.storage)
    items = unused(store, arguments.hours, users=(RUNS, SWEEPS))
    if arguments.yes:
        for item in items:
            item.remove(store)
    size = sum(item.bytes for item in items)
    if arguments.json:
        print_json(
            {
                "removed": arguments.yes,
                "bytes": size,
                "unused": [asdict(item) for item in items],
            }
        )
        return 0
    for item in items:
        print(f"{item.kind:<9}  {size_text(item.bytes):>8}  {item.path}")
    counts = Counter(item.kind for item in items)
    shown = ", ".join(f"{count:,} {PLURALS[kind]}" for kind, count in counts.items())
    if not items:
        say(f"nothing in {store.root} is unused")
    elif arguments.yes:
        print(f"removed {shown}: {size_text(size)}")
    else:
        print(f"{shown}, {size_text(size)}, would be removed: repeat the command with --yes")
    return 0

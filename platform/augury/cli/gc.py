"""`augury gc`: list and remove what nothing in a storage needs any more."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from augury.cli.common import RESULTS, open_storage, print_json
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.core.store import Store
    from augury.experiments.cleanup import Unused

HELP = (
    "List and remove what no run refers to, and what killed processes have left behind, in the "
    "storage and among the temporary files of this machine."
)
EXAMPLE = """augury gc results            # says what would go, and how large it is
  augury gc results --yes"""
NOUNS = {"temporary": "temporary file"}
"""Names of kinds, where they are other words."""


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
    from augury.core.locks import any_held
    from augury.experiments.cleanup import unused
    from augury.experiments.record import KIND as RUNS
    from augury.reporting.run_list import size_text
    from augury.sweeping.state import KIND as SWEEPS

    if not arguments.hours >= 0:
        raise UserError(f"--hours {arguments.hours}: give a number of hours, at least 0")
    store = open_storage(arguments.storage)
    if busy := any_held(store):
        say(f"a command works in {store.root}: its texts are kept; repeat this when it has ended")
    unneeded = unused(store, arguments.hours, users=(RUNS, SWEEPS))
    items = [item for item in unneeded if _is_removed(item, store)] if arguments.yes else unneeded
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
    shown = ", ".join(counted(count, NOUNS.get(kind, kind)) for kind, count in counts.items())
    if items and arguments.yes:
        print(f"removed {shown}: {size_text(size)}")
    elif items:
        print(f"{shown}, {size_text(size)}, would be removed: repeat the command with --yes")
    elif not (busy or unneeded):
        say(f"nothing in {store.root} is unused")
    return 0


def _is_removed(item: Unused, store: Store) -> bool:
    """Remove something unused; say where it is kept."""
    removed = item.remove(store)
    if not removed:
        say(f"{item.path} is kept: a process works with it, or it may not be removed")
    return removed

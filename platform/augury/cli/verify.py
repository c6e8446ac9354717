"""`augury verify`: check the files of a storage against their checksums."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import RESULTS, open_storage, print_json
from augury.core.naming import counted
from augury.core.progress import Stage

if TYPE_CHECKING:
    from augury.core.verification import Checked

HELP = "Check the files of a storage against the checksums that were written with them."
EXAMPLE = "augury verify results"
FOREIGN = ("mlartifacts/*", "sweeps/*/tune/*", "sweeps/*/workers/*")
"""Files of MLflow and Ray Tune, and logs of the processes of sweeps, by pattern."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "storage", nargs="?", default=RESULTS, help=f"storage to check (default: {RESULTS})"
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core.verification import verify
    from augury.experiments.record import RECORDS
    from augury.reporting.run_list import size_text

    store, since = open_storage(arguments.storage), time.monotonic()
    with Stage("verify", unit="files") as stage:
        checked = list(stage.over(verify(store, RECORDS, FOREIGN)))
    damaged = [file for file in checked if file.damage]
    size, seconds = sum(file.bytes for file in checked), time.monotonic() - since
    if arguments.json:
        print_json(
            {
                "files": len(checked),
                "bytes": size,
                "seconds": round(seconds, 3),
                "damaged": [
                    {"file": file.name, "damage": file.damage, "remedy": _remedy(file)}
                    for file in damaged
                ],
            }
        )
    else:
        for file in damaged:
            print(f"{file.name} {file.damage}: {_remedy(file)}")
        print(f"{counted(len(checked), 'file')}, {size_text(size)}: {len(damaged):,} damaged")
    return 1 if damaged else 0


def _remedy(file: Checked) -> str:
    """Return what to do about a damaged file."""
    from augury.experiments.record import KIND
    from augury.scoring.stored import HYPOTHESES, SCORES, STATISTICS

    kind, *parts = file.name.split("/")
    if kind == KIND and len(parts) > 2:
        run, below = "/".join([kind, *parts[:2]]), parts[2]
        if below in (HYPOTHESES, SCORES, STATISTICS):
            return "the next `augury train` scores the run anew"
        if below == "ctranslate2":
            return "the next translation makes it anew from the weights"
        if below == "checkpoints":
            return "needed by an unfinished run alone, which goes on from the checkpoint before"
        return f"remove {run} and train it again"
    if len(parts) > 1 and len(parts[0]) == 16:
        return "the next command that needs it makes it anew"
    return "the next command that writes it replaces it, or remove it"

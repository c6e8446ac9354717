"""`augury export`: write a trained model for other libraries."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import add_run, example_input, print_json
from augury.core.naming import command
from augury.reporting.find import find

EXAMPLE = "augury export my/CipherDAug/1 --to ctranslate2 --output model"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_run(parser)
    add = parser.add_argument
    add("--to", required=True, choices=["hf", "ctranslate2"], help="target library")
    add("--output", type=Path, metavar="DIRECTORY", help="to create (default: NAME-seed-N-LIBRARY)")


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import exporting

    folder = find(arguments.trained, arguments.storage)[0]
    output = arguments.output or Path(exporting.usual_name(folder, arguments.to))
    exporting.export(folder, arguments.to, output)
    if arguments.json:
        facts = {"run": folder.uri, "form": arguments.to, "output": str(output)}
        print_json({**facts, "files": sorted(path.name for path in output.iterdir())})
        return 0
    print(f"wrote {output}: see {exporting.README} for usage, scores and training details")
    example = command("python", exporting.EXAMPLE, absolute=True)
    print(f"next     cd {shlex.quote(str(output))} && {example_input(folder)} | {example}")
    return 0

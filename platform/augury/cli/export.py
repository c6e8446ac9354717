"""`augury export`: write a trained model for other libraries."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import add_run, open_run, print_json

HELP = (
    "Export a run's model for transformers (hf) or CTranslate2, with its vocabulary and a model "
    "card."
)
EXAMPLE = "augury export my/CipherDAug/1 --to ctranslate2 --output model"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_run(parser)
    parser.add_argument("--to", required=True, choices=["hf", "ctranslate2"], help="target library")
    parser.add_argument(
        "--output",
        type=Path,
        default=None,
        help="directory to create (default: NAME-seed-N-LIBRARY)",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core.commands import command
    from augury.reporting import exporting

    store, folder = open_run(arguments.trained, arguments.storage)
    output = arguments.output or Path(exporting.usual_name(folder, arguments.to))
    exporting.export(folder, store, arguments.to, output)
    if arguments.json:
        print_json(
            {
                "run": folder.uri,
                "form": arguments.to,
                "output": str(output),
                "files": sorted(path.name for path in output.iterdir()),
            }
        )
    else:
        print(f"wrote {output}: see {exporting.README} for usage, scores and training details")
        print(
            f"next     cd {shlex.quote(str(output))} && "
            f"{command('python', exporting.EXAMPLE, absolute=True)}"
        )
    return 0

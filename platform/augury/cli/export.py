"""`augury export`: write a trained model for other libraries."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import add_run, example_texts, open_run, print_json
from augury.core.errors import UserError
from augury.core.naming import command
from augury.experiments.run import Run

EXAMPLE = """augury export my/CipherDAug/1 --to ctranslate2 --output model
  augury export my/CipherDAug/1 --to hf --push my-name/my-model --private"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_run(parser)
    add = parser.add_argument
    add("--to", required=True, choices=["hf", "ctranslate2"], help="target library")
    add("--output", type=Path, help="directory to create (default: NAME-seed-N-LIBRARY)")
    add(
        "--push",
        metavar="NAME/MODEL",
        help="upload the export to a model repository of the Hugging Face hub, which is made "
        "unless it exists; with the token of `hf auth login` or HF_TOKEN",
    )
    add("--private", action="store_true", help="make a private repository")


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import exporting

    store, folder = open_run(arguments.trained, arguments.storage)
    output = arguments.output or Path(exporting.usual_name(folder, arguments.to))
    if arguments.private and not arguments.push:
        raise UserError("--private is for --push NAME/MODEL: add it, or leave out --private")
    if arguments.push:
        exporting.check_name(arguments.push)
    exported = exporting.export(folder, store, arguments.to, output)
    pushed = exporting.push(output, arguments.push, arguments.private) if arguments.push else None
    if arguments.json:
        facts = {"run": folder.uri, "form": arguments.to, "output": str(output)}
        facts |= {"pushed": pushed} if pushed else {}
        print_json({**facts, "files": sorted(path.name for path in output.iterdir())})
        return 0
    print(f"wrote {output}: see {exporting.README} for usage, scores and training details")
    if pushed:
        print(f"pushed   {pushed}")
    texts = example_texts(Run.read(folder)) if exported.reads_arguments else []
    example = command("python", exporting.EXAMPLE, *texts, absolute=True)
    print(f"next     cd {shlex.quote(str(output))} && {example}")
    return 0

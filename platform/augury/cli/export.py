"""`augury export`: write a trained model for other libraries."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from augury.cli.common import add_run, example_texts, open_run, print_json
from augury.core.errors import UserError

HELP = (
    "Export a run's model for transformers (hf) or CTranslate2, with its vocabulary and a model "
    "card."
)
EXAMPLE = """augury export my/CipherDAug/1 --to ctranslate2 --output model
  augury export my/CipherDAug/1 --to hf --push my-name/my-model --private"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_run(parser)
    parser.add_argument("--to", required=True, choices=["hf", "ctranslate2"], help="target library")
    parser.add_argument(
        "--output",
        type=Path,
        default=None,
        help="directory to create (default: NAME-seed-N-LIBRARY)",
    )
    parser.add_argument(
        "--push",
        metavar="NAME/MODEL",
        help="upload the export to a model repository of the Hugging Face hub, which is made "
        "unless it exists; with the token of `hf auth login` or HF_TOKEN",
    )
    parser.add_argument(
        "--private", action="store_true", help="with --push: a repository that is made is private"
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core.naming import command
    from augury.experiments.run import Run
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
        print_json(
            {
                "run": folder.uri,
                "form": arguments.to,
                "output": str(output),
                **({"pushed": pushed} if pushed else {}),
                "files": sorted(path.name for path in output.iterdir()),
            }
        )
    else:
        print(f"wrote {output}: see {exporting.README} for usage, scores and training details")
        if pushed:
            print(f"pushed   {pushed}")
        texts = example_texts(Run.read(folder)) if exported.reads_arguments else []
        print(
            f"next     cd {shlex.quote(str(output))} && "
            f"{command('python', exporting.EXAMPLE, *texts, absolute=True)}"
        )
    return 0

"""`augury init`: write an experiment file for the user's own texts and check it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augury.core.errors import UserError
from augury.core.naming import command

if TYPE_CHECKING:
    from augury.cli.drafting import DraftOptions

HELP = (
    "Write a commented experiment file for your own texts and check it; finds out what flags do "
    "not say, and prompts for the rest."
)
EXAMPLE = """augury init my.yaml --source train.de --target train.en
  augury init my.yaml --train reviews.csv
  augury init my.yaml --train train.tsv --columns de en --test news news.tsv
  augury init my.yaml --task nli --train train.tsv --language en \\
    --columns premise hypothesis label"""
FILE = "experiment.yaml"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "file", nargs="?", default=FILE, metavar="FILE", help=f"file to write (default: {FILE})"
    )
    parser.add_argument(
        "--task",
        help="name or path of a task (default: by the files nmt, translation of pairs; "
        "classification, labels of sentences or pairs; or nli)",
    )
    texts = parser.add_argument_group(
        "texts: two aligned files, or one table (TSV, CSV, JSON lines, Parquet)"
    )
    texts.add_argument("--train", nargs="+", metavar="TEXT", help="training text")
    texts.add_argument(
        "--source", metavar="TEXT", help="with --target, the same as --train SOURCE TARGET"
    )
    texts.add_argument("--target", metavar="TEXT", help="see --source")
    texts.add_argument(
        "--valid",
        nargs="+",
        metavar="TEXT",
        help="validation text (default: rows of the training text, held out at random)",
    )
    texts.add_argument(
        "--test",
        nargs="+",
        action="append",
        default=[],
        metavar=("[NAME] TEXT", "TEXT"),
        help="a test set, called test where no name is given; repeatable (default: held-out rows, "
        "too)",
    )
    texts.add_argument(
        "--columns",
        nargs="+",
        metavar="NAME",
        help="columns of tables, in the task's order, such as source target, or text label "
        "(default: by name or content)",
    )
    parser.add_argument(
        "--source-language",
        metavar="CODE",
        help="de, en, ... (default: that of the file's name, or of the text)",
    )
    parser.add_argument("--target-language", metavar="CODE", help="see --source-language")
    parser.add_argument(
        "--language", metavar="CODE", help="language of texts in a single one (default: theirs)"
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="name on the hub or directory of the pretrained model; or tiny or small, a model from "
        "nothing (default of translation, by the size of the text)",
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(words=argv)


def run(arguments: argparse.Namespace) -> int:
    from augury.cli import config
    from augury.cli.drafting import draft
    from augury.cli.own_texts import collect
    from augury.core.progress import say

    path = Path(arguments.file)
    if path.exists() and not arguments.force:
        raise UserError(
            f"{path} already exists: choose another file, or add --force to overwrite it"
        )
    options = collect(arguments, re.sub(r"[^\w.-]+", "-", path.stem))
    text = draft(_from_folder(options, path.parent))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"wrote {path}")
    try:
        _read_texts(path)
    except UserError as error:
        check = command("augury", "config", arguments.file)
        raise UserError(f"{error}; {path} is written: mend it, and check it: {check}") from error
    # What it says of other settings is mended in the file.
    return config.show(
        str(path), (), as_json=arguments.json, without_model=_from_nothing(arguments)
    )


def _from_folder(options: DraftOptions, folder: Path) -> DraftOptions:
    """Return options whose relative paths begin at the folder of the file that is written."""
    from augury.core.paths import expanded
    from augury.core.plugin_files import is_path

    if folder.resolve() == Path.cwd():
        return options

    def moved(name: str) -> str:
        return name if expanded(name).is_absolute() else os.path.relpath(name, folder)

    task, model = options.task, options.model
    if is_path(task):
        task = os.path.join(".", moved(task))
    if model and Path(model).is_dir():
        model = os.path.join(".", moved(model))
    return replace(
        options,
        task=task,
        model=model,
        train=list(map(moved, options.train)),
        valid=list(map(moved, options.valid)),
        tests={name: list(map(moved, files)) for name, files in options.tests.items()},
        others={moved(file): columns for file, columns in options.others.items()},
    )


def _read_texts(path: Path) -> None:
    """Read the texts of an experiment file; UserError if one cannot be."""
    from augury.core.store import Store
    from augury.corpora.ingest import cached_corpus
    from augury.experiments.systems import load

    loaded = load(path)
    root = Store(loaded.storage).root
    for split in loaded.corpus.splits():
        cached_corpus(loaded.corpus, split, root)


def _from_nothing(arguments: argparse.Namespace) -> str:
    """Return the command that drafts the same experiment with a model that starts from nothing."""
    left_out = ("--force", "--model", arguments.model)
    words = [word for word in arguments.words if word not in left_out]
    return command("augury", "init", *words, "--model", "tiny", "--force")

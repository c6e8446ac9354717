"""`augury init`: write an experiment file for the user's own texts and check it."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from augury.core.errors import UserError, unknown

if TYPE_CHECKING:
    from augury.cli.drafting import DraftOptions

HELP = (
    "Write a commented experiment file for your own texts and check it; prompts for missing flags."
)
EXAMPLE = """augury init my.yaml --source train.de --target train.en --valid dev.de dev.en
  augury init my.yaml --train train.tsv --columns de en --source-language de --target-language en
  augury init my.yaml --task nli --train train.tsv --language en \\
    --columns premise hypothesis label"""
FILE = "experiment.yaml"
COMPRESSED = (".gz", ".xz", ".zst")
TASKS = {"nmt": ("source", "target"), "nli": ("premise", "hypothesis", "label")}
"""The columns of a text by task."""
COLUMN_NAMES = {
    "source": ("source", "src"),
    "target": ("target", "tgt", "trg", "ref"),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "label": ("label", "gold_label"),
}
"""Common names of columns, used without `--columns`."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "file", nargs="?", default=FILE, metavar="FILE", help=f"file to write (default: {FILE})"
    )
    parser.add_argument(
        "--task",
        default="nmt",
        help="nmt: translation; nli: natural language inference (default: nmt)",
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
        help="validation text (default for nmt: held-out training pairs)",
    )
    texts.add_argument(
        "--test",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "TEXT"),
        help="a test set; repeatable",
    )
    texts.add_argument(
        "--columns",
        nargs="+",
        metavar="NAME",
        help="columns of tables, in the order " + " or ".join(map(" ".join, TASKS.values())),
    )
    parser.add_argument(
        "--source-language", metavar="CODE", help="de, en, ... (default: the files' extensions)"
    )
    parser.add_argument("--target-language", metavar="CODE", help="see --source-language")
    parser.add_argument("--language", metavar="CODE", help="nli: language of the texts")
    parser.add_argument(
        "--model", metavar="NAME", help="nli: name on the hub or directory of the pretrained model"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(arguments: argparse.Namespace) -> int:
    from augury.cli import config
    from augury.cli.drafting import draft
    from augury.core.progress import say

    path = Path(arguments.file)
    if path.exists() and not arguments.force:
        raise UserError(
            f"{path} already exists: choose another file, or add --force to overwrite it"
        )
    text = draft(_collect(arguments, re.sub(r"[^\w.-]+", "-", path.stem)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"wrote {path}")
    return config.show(str(path), (), as_json=arguments.json)


def _collect(arguments: argparse.Namespace, name: str) -> DraftOptions:
    """Return the draft of an experiment from flags and prompts."""
    from augury.cli.drafting import DraftOptions

    task = arguments.task
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    tables = task == "nli"  # labelled sentence pairs are always tables
    files = partial(_check_files, tables=tables)
    aligned = [file for file in (arguments.source, arguments.target) if file is not None]
    kind = "a table" if tables else "two aligned files, or a table"
    train = _value(arguments.train or aligned, f"training text ({kind})", "--train", files)
    default = "" if tables else "; Enter: hold out training pairs"
    valid = _value(
        arguments.valid, f"validation text ({kind}{default})", "--valid", files, required=tables
    )
    tests = [_test(values, tables) for values in arguments.test]
    while not arguments.test and (
        values := _value(
            (), "a test set: NAME and text (Enter: no more)", "--test", list, required=False
        )
    ):
        tests.append(_test(values, tables))
    table = next(
        (texts[0] for texts in (train, valid, *dict(tests).values()) if len(texts) == 1), None
    )
    columns = _columns(arguments.columns, table, TASKS[task]) if table else []
    languages = (
        [arguments.language] if tables else [arguments.source_language, arguments.target_language]
    )
    uncompressed = [
        Path(file).with_suffix("") if Path(file).suffix in COMPRESSED else Path(file)
        for file in train
    ]
    guesses = [file.suffix[1:] for file in uncompressed] if len(train) == 2 else columns
    return DraftOptions(
        name,
        task,
        _languages(languages, guesses),
        _rows(train[0]),
        train,
        valid,
        dict(tests),
        columns,
        arguments.model,
    )


def _value(
    values: Sequence[str] | None,
    prompt: str,
    flag: str,
    check: Callable[[Sequence[str]], list[str]],
    required: bool = True,
) -> list[str]:
    """Return the checked values of a flag.

    If they are missing, prompt on a terminal until the answer is valid.
    """
    if values:
        return check(values)
    if not sys.stdin.isatty():
        if required:
            raise UserError(f"{flag} is missing, {prompt}: give it, or answer on a terminal")
        return []
    while True:
        try:
            values = shlex.split(input(f"{prompt}: "))
            if values or not required:
                return check(values) if values else []
        except EOFError as error:
            raise UserError(
                "end of input, nothing is written: repeat the command and answer, or give flags"
            ) from error
        except (
            UserError,
            ValueError,
        ) as error:  # shlex raises ValueError for an unclosed quotation
            print(error, file=sys.stderr)


def _check_files(files: Sequence[str], tables: bool) -> list[str]:
    """Return the files of a text; UserError if there are too many or one does not exist."""
    from augury.corpora.files import find

    if len(files) > (1 if tables else 2):
        raise UserError(
            f"{' '.join(files)}: a text is "
            f"{'one table' if tables else 'two aligned files or one table'}"
        )
    for file in files:
        find(file)
    return list(files)


def _test(values: Sequence[str], tables: bool) -> tuple[str, list[str]]:
    if len(values) < 2:
        raise UserError(
            f"--test {' '.join(values)}: give a name and then the text, as in --test news news.de "
            "news.en"
        )
    return values[0], _check_files(values[1:], tables)


def _columns(flag_value: Sequence[str] | None, table: str, required: Sequence[str]) -> list[str]:
    """Return the columns of a table for those of a task: by flag, common names or prompt."""
    from augury.corpora.files import examine
    from augury.corpora.splits import BaseText
    from augury.corpora.tables import column_index, column_names

    layout = BaseText(file=table).layout
    if layout != "parquet":
        examine(table)
    names = column_names(table, layout)
    matches = [
        next((name for name in COLUMN_NAMES[column] if name in names), None) for column in required
    ]
    guess = [name for name in matches if name]

    def check(columns: Sequence[str]) -> list[str]:
        if len(columns) != len(required):
            raise UserError(
                f"{' '.join(columns)}: give {len(required)} columns, {' '.join(required)}"
            )
        for column in columns:
            column_index(table, names, column)
        return list(columns)

    values = guess if flag_value is None and len(guess) == len(required) else flag_value
    prompt = f"the columns for {' '.join(required)} in {table}, which has {', '.join(names)}"
    return _value(values, prompt, "--columns", check)


def _languages(flag_values: Sequence[str | None], guesses: Sequence[str]) -> list[str]:
    """Return language codes from flags, extensions of files or names of columns, or prompts."""
    from augury.corpora.languages import check_language, languages

    flags = ["--language"] if len(flag_values) == 1 else ["--source-language", "--target-language"]
    codes = []
    for index, (code, flag) in enumerate(zip(flag_values, flags, strict=True)):
        guess = (
            guesses[index] if index < len(guesses) and guesses[index] in languages().names else None
        )
        value = code or (guess if len(flag_values) == 2 else None)
        prompt = f"code of the {flag[2:].replace('-', ' ')} (de, en, ...)"
        codes += _value(
            [value] if value else (), prompt, flag, lambda values: [check_language(values[0])]
        )
    return codes


def _rows(file: str) -> int:
    """Return the approximate number of rows of a text."""
    from augury.corpora.files import examine
    from augury.corpora.tables import examine_parquet

    parquet = Path(file).is_dir() or Path(file).suffix == ".parquet"
    return sum(part.lines for part in (examine_parquet(file) if parquet else [examine(file)]))

"""`augury init`: an experiment file for your own texts, which the preflight has checked."""

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
    from augury.experiments.drafting import Draft

HELP = "Write an experiment file for your own texts, with comments, and check it; asks for what no flag says."
EXAMPLE = """augury init my.yaml --source train.de --target train.en --valid dev.de dev.en --test news news.de news.en
  augury init my.yaml --train train.tsv --columns de en --source-language de --target-language en
  augury init my.yaml --task nli --train train.tsv --columns premise hypothesis label --language en --valid dev.tsv"""
FILE = "experiment.yaml"
COMPRESSED = (".gz", ".xz", ".zst")
TASKS = {"nmt": ("source", "target"), "nli": ("premise", "hypothesis", "label")}
"""What a row of a text holds, by task."""
USUAL = {
    "source": ("source", "src"),
    "target": ("target", "tgt", "trg", "ref"),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "label": ("label", "gold_label"),
}
"""What columns are called where nobody says."""


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("file", nargs="?", default=FILE, metavar="FILE", help=f"what to write (default: {FILE})")
    parser.add_argument("--task", default="nmt", help="nmt: translation; nli: labels of sentence pairs (default: nmt)")
    texts = parser.add_argument_group("texts: two aligned files, or one table (TSV, CSV, JSON lines, Parquet)")
    texts.add_argument("--train", nargs="+", metavar="TEXT", help="training text")
    texts.add_argument("--source", metavar="TEXT", help="with --target, the same as --train SOURCE TARGET")
    texts.add_argument("--target", metavar="TEXT")
    texts.add_argument("--valid", nargs="+", metavar="TEXT", help="validation text; nmt can hold out training pairs")
    texts.add_argument(
        "--test", nargs="+", action="append", default=[], metavar=("NAME", "TEXT"), help="a test set; may be repeated"
    )
    texts.add_argument(
        "--columns", nargs="+", metavar="NAME", help="of tables: " + "; ".join(map(" ".join, TASKS.values()))
    )
    parser.add_argument("--source-language", metavar="CODE", help="de, en, ... (default: as the files' names end)")
    parser.add_argument("--target-language", metavar="CODE")
    parser.add_argument("--language", metavar="CODE", help="of sentence pairs")
    parser.add_argument("--model", metavar="NAME", help="for sentence pairs: a directory, or a name on the hub")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def run(arguments: argparse.Namespace) -> int:
    from augury.cli import config
    from augury.core.progress import say
    from augury.experiments.drafting import draft

    path = Path(arguments.file)
    if path.exists() and not arguments.force:
        raise UserError(f"{path} is there already: name another file, or add --force to write over it")
    text = draft(_wanted(arguments, re.sub(r"[^\w.-]+", "-", path.stem)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"written: {path}")
    return config.show(str(path), (), as_json=arguments.json)


def _wanted(arguments: argparse.Namespace, name: str) -> Draft:
    """What flags and answers say."""
    from augury.experiments.drafting import Draft

    task = arguments.task
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    tables = task == "nli"  # sentence pairs with labels come in tables alone
    files = partial(_files, tables=tables)
    aligned = [file for file in (arguments.source, arguments.target) if file is not None]
    text = "a table" if tables else "two aligned files, or a table"
    train = _answer(arguments.train or aligned, f"training text ({text})", "--train", files)
    held_out = "" if tables else "; Enter: pairs of the training text are held out"
    valid = _answer(arguments.valid, f"validation text ({text}{held_out})", "--valid", files, required=tables)
    tests = [_test(words, tables) for words in arguments.test]
    while not arguments.test and (
        words := _answer((), "a test set, NAME and its text (Enter: no more)", "--test", list, required=False)
    ):
        tests.append(_test(words, tables))
    table = next((texts[0] for texts in (train, valid, *dict(tests).values()) if len(texts) == 1), None)
    columns = _columns(arguments.columns, table, TASKS[task]) if table else []
    languages = [arguments.language] if tables else [arguments.source_language, arguments.target_language]
    plain_names = [Path(file).with_suffix("") if Path(file).suffix in COMPRESSED else Path(file) for file in train]
    guessed = [file.suffix[1:] for file in plain_names] if len(train) == 2 else columns
    return Draft(
        name, task, _languages(languages, guessed), _rows(train[0]), train, valid, dict(tests), columns, arguments.model
    )


def _answer(
    words: Sequence[str] | None,
    question: str,
    flag: str,
    check: Callable[[Sequence[str]], list[str]],
    required: bool = True,
) -> list[str]:
    """What a flag says or, on a terminal, the answer to a question, which is asked again until it can be used."""
    if words:
        return check(words)
    if not sys.stdin.isatty():
        if required:
            raise UserError(f"{flag} is missing, {question}: give it, or answer on a terminal")
        return []
    while True:
        try:
            words = shlex.split(input(f"{question}: "))
            if words or not required:
                return check(words) if words else []
        except EOFError as error:
            raise UserError("no answer, and nothing is written") from error
        except (UserError, ValueError) as error:  # shlex: a quotation without end
            print(error, file=sys.stderr)


def _files(words: Sequence[str], tables: bool) -> list[str]:
    """The files of a text, which are there."""
    from augury.corpora.files import find

    most = 1 if tables else 2
    if len(words) > most:
        raise UserError(f"{' '.join(words)}: a text is {'one table' if tables else 'two aligned files or one table'}")
    for file in words:
        find(file)
    return list(words)


def _test(words: Sequence[str], tables: bool) -> tuple[str, list[str]]:
    if len(words) < 2:
        raise UserError(f"--test {' '.join(words)}: give a name and then the text, such as --test news news.de news.en")
    return words[0], _files(words[1:], tables)


def _columns(chosen: Sequence[str] | None, table: str, wanted: Sequence[str]) -> list[str]:
    """The columns of a table that hold what is wanted."""
    from augury.corpora.splits import BaseText
    from augury.corpora.tables import column_index, column_names

    names = column_names(table, BaseText(file=table).layout)
    usual = [next((name for name in USUAL[column] if name in names), None) for column in wanted]
    known_columns = [name for name in usual if name]

    def check(words: Sequence[str]) -> list[str]:
        if len(words) != len(wanted):
            raise UserError(f"{' '.join(words)}: name {len(wanted)} columns, {' '.join(wanted)}")
        for column in words:
            column_index(table, names, column)
        return list(words)

    known = known_columns if chosen is None and len(known_columns) == len(wanted) else chosen
    listed = f"the columns of {' '.join(wanted)} in {table}, which has {', '.join(names)}"
    return _answer(known, listed, "--columns", check)


def _languages(chosen: Sequence[str | None], guessed: Sequence[str]) -> list[str]:
    """The codes that flags give, that names of files or columns end in, or that are the answer."""
    from augury.corpora.languages import check_language, languages

    flags = ["--language"] if len(chosen) == 1 else ["--source-language", "--target-language"]
    codes = []
    for place, (code, flag) in enumerate(zip(chosen, flags, strict=True)):
        guess = guessed[place] if place < len(guessed) and guessed[place] in languages().names else None
        known = code or (guess if len(chosen) == 2 else None)
        question = f"code of the {flag[2:].replace('-', ' ')} (de, en, ...)"
        codes += _answer([known] if known else (), question, flag, lambda words: [check_language(words[0])])
    return codes


def _rows(file: str) -> int:
    """About how many rows a text has."""
    from augury.corpora.files import examine
    from augury.corpora.tables import examine_parquet

    parquet = Path(file).is_dir() or Path(file).suffix == ".parquet"
    return sum(part.lines for part in (examine_parquet(file) if parquet else [examine(file)]))

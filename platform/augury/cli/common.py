"""Helpers shared by verbs: common flags, opening runs, reading lines, printing JSON."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from augury.core.errors import UserError
from augury.core.naming import is_whole
from augury.core.progress import duration
from augury.core.secrets import redacted
from augury.core.store import Folder, Store
from augury.corpora.corpus import input_columns
from augury.experiments.run import Run
from augury.experiments.task import find_task

EXAMPLES = 200
"""How many held-out texts a short example is looked for in."""
RESULTS = "results"
"""The usual storage."""
RUN_HELP = "a run: EXPERIMENT/SYSTEM/SEED, its folder or an address"


def integer(text: str) -> int:
    """Return an integer written in the digits of ASCII, as a type of arguments."""
    if not is_whole(text.removeprefix("-")):
        raise argparse.ArgumentTypeError(f"{text}: give an integer, such as 2")
    return int(text)


def whole_number(text: str) -> int:
    """Return a whole number from 1 to 10^9, as a type of arguments."""
    if not (is_whole(text) and 1 <= int(text) <= 10**9):
        raise argparse.ArgumentTypeError(f"{text}: give a whole number, at least 1")
    return int(text)


def add_experiment(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add the arguments for an experiment file and its overrides."""
    number = None if required else "?"
    parser.add_argument("experiment", nargs=number, metavar="FILE", help="experiment file (YAML)")
    add_overrides(parser)


def add_overrides(
    parser: argparse.ArgumentParser,
    metavar: str = "KEY=VALUE",
    text: str = "override a setting by its dotted key; repeatable",
) -> None:
    """Add `--set`."""
    words: dict[str, Any] = {"action": "append", "dest": "assignments", "default": []}
    parser.add_argument("--set", **words, metavar=metavar, help=text)


def add_storage(parser: argparse.ArgumentParser) -> None:
    """Add `--storage`, of runs that are given by name or address."""
    text = f"storage of runs given by name or address (default: {RESULTS})"
    parser.add_argument("--storage", default=RESULTS, metavar="URI", help=text)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a trained run."""
    parser.add_argument("trained", metavar="RUN", help=RUN_HELP)
    add_storage(parser)


def add_executor(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the flag that says where work runs."""
    where: dict[str, Any] = {"choices": ["auto", "local", "ray"], "metavar": "WHERE"}
    text = "local: in this process; ray: side by side on Ray; auto: by the amount of work"
    parser.add_argument("--executor", **where, default=default, help=text)


def add_format(parser: argparse.ArgumentParser, *further: str) -> None:
    """Add the flag of the form in which tables are printed."""
    forms = ["text", "latex", "csv", "markdown", *further]
    text = f"{', '.join(forms)} (default: text)"
    parser.add_argument("--format", choices=forms, metavar="FORM", default="text", help=text)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the flags that all commands that train share."""
    add = parser.add_argument
    add("--storage", metavar="URI", help="for all output (default: the experiment's, or results)")
    add("--seeds", type=integer, nargs="+", metavar="SEED", help="default: the experiment's")
    add("--budget", metavar="TIME", help="stop at the first validation after it: 90s, 30m, 2h, 1d")


def elsewhere(storage: str) -> list[str]:
    """Return the flag that a printed command needs for a storage; empty for the usual one."""
    return [] if Store(storage).root == Store(RESULTS).root else ["--storage", storage]


def without_storage(typed: str) -> str:
    """Return a command as it is stored: without the storage, which may be moved, and passwords."""
    words = iter(shlex.split(typed))
    kept = []
    for word in words:
        given = [word, *([next(words, "")] if word in ("--storage", "--set") else [])]
        if not "=".join(given).startswith(("--storage=", "--set=storage=")):
            kept += given
    return redacted(shlex.join(kept))


def flag_of(setting: str) -> str:
    """Return the flag of a setting: `--length-penalty` for `length_penalty`."""
    return f"--{setting.replace('_', '-')}"


def example_input(run: Folder) -> str:
    """Return a command that writes an input for a run: a short held-out text, or its task's
    example."""
    trained = Run.read(run)
    for role in (*trained.tests, "valid"):
        corpus = trained.corpus(role)
        columns = input_columns(corpus.kind.columns)
        rows = corpus.shard(corpus.shards[0], columns).slice(0, EXAMPLES).to_pylist()
        records = [[row[name] for name in columns] for row in rows]
        if whole := [texts for texts in records if texts and all(texts)]:
            shortest = min(whole, key=lambda texts: sum(map(len, texts)))
            program = "echo" if len(columns) == 1 else r"printf '%s\t%s\n'"
            return f"{program} {shlex.join(shortest)}"
    return find_task(trained.experiment.task).EXAMPLE


def read_lines(stream: Any) -> list[str]:
    """Return the lines of a text stream without line ends (LF, CR LF) and byte order mark."""
    try:
        text = stream.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte, line = error.object[error.start], error.object[: error.start].count(b"\n") + 1
        raise UserError(
            f"the input is not UTF-8: byte 0x{byte:02x} in line {line}; convert it to UTF-8"
        ) from error
    if "\0" in text:
        raise UserError("the input has NUL, so that it is no text in UTF-8: convert it to UTF-8")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def print_json(value: Any) -> None:
    """Print a JSON document to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def print_missing(left: str, seconds: float | None, typed: str) -> None:
    """Print what is left to train, its time where it is known, and the command that goes on."""
    time = f", about {duration(seconds)}" if seconds else ""
    print(f"missing  {left}{time}")
    print(f"continue {typed}")


def print_table(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows that map the same columns to their texts."""
    from augury.reporting.tables import plain_text, records  # imports pandas

    print(plain_text(records(rows)))


def print_settings(settings: Mapping[str, Any], as_json: bool) -> None:
    """Print settings by the name of what they are of, as YAML."""
    if as_json:
        print_json(settings)
        return
    for name, of_name in settings.items():
        print(f"# {name}")
        yaml.safe_dump(of_name, sys.stdout, sort_keys=False, allow_unicode=True)
        print()

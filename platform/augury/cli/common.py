"""Helpers shared by verbs: common flags, opening runs, reading lines, printing JSON."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from augury.core.errors import UserError
from augury.core.naming import is_whole

if TYPE_CHECKING:
    from augury.core.store import Folder, Store
    from augury.experiments.run import Run


EXAMPLES, EXAMPLE_LENGTH = 200, 80
"""How many held-out texts an example is looked for in, and its maximum number of characters."""


def add_experiment(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add the arguments for an experiment file and its overrides."""
    parser.add_argument(
        "experiment", nargs=None if required else "?", metavar="FILE", help="experiment file (YAML)"
    )
    add_overrides(parser)


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


def add_storage_and_seeds(parser: argparse.ArgumentParser) -> None:
    """Add `--storage` and `--seeds` of experiment files."""
    parser.add_argument(
        "--storage",
        metavar="URI",
        help="directory or URI for all output, the same as --set storage=URI (default: the file's)",
    )
    parser.add_argument(
        "--seeds",
        type=integer,
        nargs="+",
        metavar="SEED",
        help="seeds, the same as --set seeds=[SEED, ...] (default: the file's)",
    )


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of `--set` by dotted key, and those of `--storage` and `--seeds`."""
    from augury.core import config

    settings = config.parse_assignments(arguments.assignments)
    flags = {name: getattr(arguments, name, None) for name in ("storage", "seeds")}
    return settings | {name: value for name, value in flags.items() if value is not None}


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Add `--set`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="assignments",
        help="override a setting by its dotted key; repeatable",
    )
    parser.add_argument(
        "--equal",
        action=_Equal,
        choices=["epochs", "updates", "tokens", "time"],
        help="what systems have as much of as the baseline: epochs over their own text (default), "
        "updates, target tokens, or minutes of training; as --set equal=...",
    )


class _Equal(argparse.Action):
    """Adds `equal=...` to the overridden settings."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.assignments = [*namespace.assignments, f"equal={values}"]


RESULTS = "results"
"""The usual storage."""
RUN_HELP = (
    "a run of --storage: EXPERIMENT/SYSTEM/SEED, or shorter where that says which; or its folder, "
    "or an address"
)


def add_storage(parser: argparse.ArgumentParser) -> None:
    """Add `--storage`, of runs that are given by name or address."""
    parser.add_argument(
        "--storage",
        default=RESULTS,
        help=f"storage of runs given by name or address (default: {RESULTS})",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a trained run."""
    parser.add_argument(
        "trained",
        metavar="RUN",
        help=RUN_HELP,
    )
    add_storage(parser)


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Add `--executor`, by default local."""
    parser.add_argument(
        "--executor",
        choices=["local", "ray", "auto"],
        default="local",
        help="local: in this process (default); ray: on Ray, joining or starting a cluster; "
        "auto: by the amount of work",
    )


def flag_of(setting: str) -> str:
    """Return the flag of a setting: `--n-best` for `n_best`."""
    return f"--{setting.replace('_', '-')}"


def flag_arguments(annotation: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` for a parameter of this type."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is tuple:
        return {"nargs": "+", "metavar": "VALUE"}
    if get_origin(annotation) is Literal:
        return {"choices": get_args(annotation)}
    if annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    return {"metavar": "VALUE"}


def open_storage(name: str) -> Store:
    """Return a storage; UserError, naming storages beside it, where there is none."""
    from augury.core.store import Store

    store = Store(name)
    root = Path(store.root)
    if "://" not in store.root and not root.is_dir():
        others = sorted(str(path.parent) for path in root.parent.glob("*/runs"))
        known = f"; there are {', '.join(others)}" if others else ""
        raise UserError(f"there is no storage {root}: give its directory{known}")
    return store


def open_run(name: str, storage: str) -> tuple[Store, Folder]:
    """Return the store and folder of a run given by name, path, URI or address; by default of its
    first seed."""
    from augury.core.store import Store
    from augury.reporting.find import find

    folder = find(name, storage)[0]
    return Store(folder.root), folder


def example_input(run: Folder) -> str:
    """Return a command that writes an input for a run: a held-out text, or its task's example."""
    from augury.experiments.run import Run
    from augury.experiments.task import find_task

    trained = Run.read(run)
    texts = [shlex.quote(text) for text in example_texts(trained)]
    if not texts:
        return find_task(trained.experiment.task).EXAMPLE
    return f"echo {texts[0]}" if len(texts) == 1 else " ".join([r"printf '%s\t%s\n'", *texts])


def example_texts(run: Run) -> list[str]:
    """Return the inputs of a held-out record, one for each column that a run reads.

    Of the first short one of a test set or else of the validation set; where none is short, of the
    shortest. Empty where there is no text.
    """
    from augury.corpora.corpus import input_columns

    shortest: list[str] = []
    for role in (*run.tests, "valid"):
        corpus = run.corpus(role)
        columns = input_columns(corpus.columns)
        for row in corpus.shard(corpus.shards[0], columns).slice(0, EXAMPLES).to_pylist():
            texts = [row[name] for name in columns]
            if not all(texts):
                continue
            if max(map(len, texts)) <= EXAMPLE_LENGTH:
                return texts
            if not shortest or sum(map(len, texts)) < sum(map(len, shortest)):
                shortest = texts
    return shortest


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


def read_file(path: Path, side: int = 1) -> list[str]:
    """Return the lines or segments of a text file, plain or compressed; UserError if it is none."""
    from augury.corpora.files import read_sentences

    return read_sentences(str(path), side)


def print_json(value: Any) -> None:
    """Print a JSON document to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")

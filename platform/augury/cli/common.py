"""What several verbs share: flags, finding a run, printing JSON."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.core.store import Folder, Store


def add_experiment(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The experiment file and its overrides."""
    parser.add_argument("experiment", nargs=None if required else "?", metavar="FILE", help="experiment file (YAML)")
    add_overrides(parser)


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Settings by their dotted keys."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="assignments",
        help="override a setting by its dotted key; may be repeated",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """A trained run."""
    parser.add_argument("trained", metavar="RUN", help="folder of a run and seed, or its address (with --storage)")
    parser.add_argument("--storage", default="results", help="where runs named by address lie (default: results)")


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Where the work is done: in this process unless Ray is asked for."""
    parser.add_argument(
        "--executor",
        choices=["local", "ray", "auto"],
        default="local",
        help="local: in this process (default); ray: on Ray, which is started or joined; auto: as the work suggests",
    )


def open_run(name: str, storage: str) -> tuple[Store, Folder]:
    """The store and folder of a run given as a path, a URI, or an address, `/seed-N` understood as the first seed."""
    from augury.core.store import Store
    from augury.experiments.runs import locate

    folder = locate(name, storage)
    return Store(folder.root), folder


def lines_of(stream: Any) -> list[str]:
    """The lines of a text stream as they are, without their ends; only LF and CR LF end a line."""
    try:
        text = stream.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"the input is not UTF-8: byte 0x{error.object[error.start]:02x} in line {line}") from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")

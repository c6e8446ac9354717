"""`augury list`: what there is to use, built in and installed, one line each."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from augury.augment.draw import TokenDraw
from augury.augment.operator import OPERATORS, Operator
from augury.cli.common import print_json
from augury.core.errors import UserError, unknown
from augury.core.naming import command
from augury.core.plugins import Registry
from augury.corpora import known
from augury.experiments.spec import TASKS
from augury.regimes.regime import REGIMES
from augury.scoring.registry import REGISTRY as METRICS
from augury.sweeping.declarations import SPACES, TABLES

EXAMPLE = """augury list operators
  augury list presets --json"""
TEXTS = ("source", "target", "premise", "hypothesis", "label", "text")
"""The columns of records that `augury list operators` names."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument("what", nargs="?", metavar="WHAT", help=f"{', '.join(KINDS)}")


def run(arguments: argparse.Namespace) -> int:
    if arguments.what is None:
        print("\n".join(command("augury", "list", kind) for kind in KINDS))
        return 0
    if arguments.what not in KINDS:
        raise unknown("list", arguments.what, KINDS)
    entries = KINDS[arguments.what]()
    if arguments.json:
        print_json([{"name": name, "what": what} for name, what in entries.items()])
        return 0
    width = max(map(len, entries), default=0)
    for name, what in entries.items():
        print(f"{name:<{width}}  {what}")
    return 0


def _summary(plugin: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = inspect.getdoc(plugin) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _plugins(
    registry: Registry, describe: Callable[[Any], str] = _summary
) -> Callable[[], dict[str, str]]:
    """Return a function that lists a registry; a plug-in that cannot be loaded says why."""

    def listed() -> dict[str, str]:
        entries = {}
        for name in registry.names():
            try:
                entries[name] = describe(registry.find(name))
            except UserError as error:
                entries[name] = f"cannot be loaded: {error}"
        return entries

    return listed


def _operator(operator: type[Operator]) -> str:
    """Return what an operator does, and which columns it reads."""
    reads = f"reads {', '.join(name for name in operator.READS if name in TEXTS)}"
    if issubclass(operator, TokenDraw):
        reads = "draws tokens in every epoch"
    elif operator.reads is not Operator.reads:
        reads = "for every task"
    return f"{_summary(operator)} ({reads})"


def _presets() -> dict[str, str]:
    entries = {}
    for name in REGIMES.names():
        for preset, settings in getattr(REGIMES.find(name), "PRESETS", {}).items():
            shown = ", ".join(f"{key}={value}" for key, value in settings.items())
            entries[f"{name}: {preset}"] = shown or "the defaults"
    return entries


def _corpora() -> dict[str, str]:
    sets = [*known.KNOWN.values(), *known.KNOWN_NLI.values()]
    return {
        corpus.name: f"{corpus.title}: {', '.join(corpus.languages)} ({corpus.licence})"
        for corpus in sets
    }


def _analyses() -> dict[str, str]:
    from augury.analysis.analysis import ANALYSES  # imports pandas

    return _plugins(ANALYSES)()


KINDS: dict[str, Callable[[], dict[str, str]]] = {
    "operators": _plugins(OPERATORS, _operator),
    "regimes": _plugins(REGIMES),
    "presets": _presets,
    "metrics": _plugins(METRICS, lambda metric: f"{metric.title}: {_summary(metric)}"),
    "spaces": _plugins(SPACES, lambda space: " ".join(space.question.split())),
    "tables": _plugins(TABLES, lambda table: f"{table.where}: {' '.join(table.question.split())}"),
    "corpora": _corpora,
    "tasks": _plugins(TASKS, lambda task: _summary(type(task))),
    "analyses": _analyses,
}

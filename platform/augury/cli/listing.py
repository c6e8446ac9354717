"""`augury list`: what there is to use, built in and installed, one line each."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from augury.cli.common import print_json
from augury.core.errors import UserError, unknown
from augury.core.naming import command

if TYPE_CHECKING:
    from augury.augment.operator import Operator
    from augury.core.plugins import Registry

HELP = "List operators, regimes, presets, metrics, spaces, tables, corpora, tasks or analyses."
EXAMPLE = """augury list operators
  augury list presets --json"""

TEXTS = ("source", "target", "premise", "hypothesis", "label", "text")
"""The columns of records that `augury list operators` names."""
Entry = tuple[str, str]
"""A name with what it stands for."""


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
        print_json([{"name": name, "what": what} for name, what in entries])
    else:
        width = max((len(name) for name, _ in entries), default=0)
        for name, what in entries:
            print(f"{name:<{width}}  {what}")
    return 0


def _operators() -> list[Entry]:
    from augury.augment.operator import OPERATORS

    return _plugins(OPERATORS, lambda operator: f"{_summary(operator)} ({_reads(operator)})")


def _reads(operator: type[Operator]) -> str:
    """Return the columns that an operator reads, for a list: `reads source, target`."""
    from augury.augment.draw import TokenDraw
    from augury.augment.operator import Operator

    if issubclass(operator, TokenDraw):
        return "draws tokens in every epoch"
    if operator.reads is not Operator.reads:
        return "for every task"
    return f"reads {', '.join(name for name in operator.READS if name in TEXTS)}"


def _regimes() -> list[Entry]:
    from augury.regimes.regime import REGIMES

    return _plugins(REGIMES, _summary)


def _presets() -> list[Entry]:
    from augury.regimes.regime import REGIMES

    entries = []
    for name in REGIMES.names():
        for preset, settings in getattr(REGIMES.find(name), "PRESETS", {}).items():
            shown = ", ".join(f"{key}={value}" for key, value in settings.items())
            entries.append((f"{name}: {preset}", shown or "the defaults"))
    return entries


def _metrics() -> list[Entry]:
    from augury.scoring.registry import REGISTRY

    return _plugins(REGISTRY, lambda metric: f"{metric.title}: {_summary(metric)}")


def _spaces() -> list[Entry]:
    from augury.sweeping.declarations import SPACES

    return _plugins(SPACES, lambda space: str(space.question))


def _tables() -> list[Entry]:
    from augury.sweeping.declarations import TABLES

    return _plugins(TABLES, lambda table: f"{table.paper}, {table.where}: {table.question}")


def _corpora() -> list[Entry]:
    from augury.corpora import known

    sets = [*known.KNOWN.values(), *known.KNOWN_NLI.values()]
    return [(of.name, f"{of.title}: {', '.join(of.languages)} ({of.licence})") for of in sets]


def _tasks() -> list[Entry]:
    from augury.experiments.spec import TASKS

    return _plugins(TASKS, lambda task: _summary(type(task)))


def _analyses() -> list[Entry]:
    from augury.analysis.analysis import ANALYSES

    return _plugins(ANALYSES, _summary)


KINDS: dict[str, Callable[[], list[Entry]]] = {
    "operators": _operators,
    "regimes": _regimes,
    "presets": _presets,
    "metrics": _metrics,
    "spaces": _spaces,
    "tables": _tables,
    "corpora": _corpora,
    "tasks": _tasks,
    "analyses": _analyses,
}


def _plugins(registry: Registry, describe: Callable[[Any], str]) -> list[Entry]:
    """Return the plug-ins of a registry; one that cannot be loaded says why."""
    entries = []
    for name in registry.names():
        try:
            entries.append((name, describe(registry.find(name))))
        except UserError as error:
            entries.append((name, f"cannot be loaded: {error}"))
    return entries


def _summary(plugin: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = inspect.getdoc(plugin) or ""
    return " ".join(text.partition("\n\n")[0].split())

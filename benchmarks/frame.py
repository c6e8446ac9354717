"""What benchmarks share: clocks, contenders in turn, a table, and JSON that says where it is from.

A benchmark is a module with a documentation that begins with its question, and a `main`:

    def main() -> None:
        parser = frame.parser(__doc__)
        parser.add_argument("--sizes", ...)
        arguments = parser.parse_args()
        frame.report(arguments, {"text": "Multi30k"}, rows)

Its rows are flat dictionaries, a contender or a size each; a pair of numbers is a value with its
error. `make bench` runs all of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from json import dumps
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, NamedTuple, TypeVar

from augury.core.machine import available_cores

T = TypeVar("T")
Row = dict[str, Any]

ROOT = Path(__file__).parents[1]
PACKAGES = ("numpy", "pyarrow", "torch", "transformers", "sentencepiece", "ctranslate2", "ray")


class Clock(NamedTuple):
    """Seconds; CPU seconds include those of processes that have ended."""

    cpu: float
    wall: float


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def clock(work: Callable[[], T]) -> tuple[Clock, T]:
    """Return the time that a call takes, and its result."""
    start, wall = cpu(), time.perf_counter()
    result = work()
    return Clock(cpu() - start, time.perf_counter() - wall), result


def rotated(names: Sequence[T], turn: int) -> list[T]:
    """Return the names, beginning with another one each turn: other load affects all equally."""
    turn %= len(names)
    return [*names[turn:], *names[:turn]]


def in_turn(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[Clock]]:
    """Return the time of every contender in every round, in which each runs once."""
    samples: dict[str, list[Clock]] = {name: [] for name in contenders}
    for turn in range(repeats):
        for name in rotated(list(contenders), turn):
            samples[name].append(clock(contenders[name])[0])
    return samples


def ratio(samples: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the median of the ratios to a baseline, each within one round."""
    return statistics.median(own / other for own, other in zip(samples, baseline, strict=True))


def compared(samples: Mapping[str, Sequence[Clock]], baseline: str) -> list[Row]:
    """Return a row for each contender: medians, and CPU time relative to that of the baseline."""
    rows: list[Row] = []
    cpu = {name: [clock.cpu for clock in clocks] for name, clocks in samples.items()}
    for name, clocks in samples.items():
        rows.append(
            {
                "name": name,
                "CPU s": statistics.median(cpu[name]),
                f"x {baseline}": ratio(cpu[name], cpu[baseline]),
                "wall s": statistics.median(clock.wall for clock in clocks),
            }
        )
    return rows


def parser(documentation: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark."""
    options = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    return options


def report(arguments: argparse.Namespace, setting: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Print the rows as a table or as JSON."""
    if arguments.json:
        result = {"setting": dict(setting), "rows": list(rows)}
        print(dumps({"origin": origin(sys.argv), "result": result}, indent=1, default=str))
        return
    print(", ".join(f"{name} {cell(value)}" for name, value in setting.items()))
    print(table(rows))


def origin(command: Sequence[str]) -> dict[str, Any]:
    """Return what figures depend on: the command, commit, time, machine and versions."""
    name, *options = command
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    information = Path("/proc/cpuinfo")
    text = information.read_text(encoding="utf-8") if information.exists() else ""
    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    processor = re.search(r"model name\s*:\s*(.*)", text)
    return {
        "command": " ".join(["python -m", f"benchmarks.{Path(name).stem}", *options]),
        "commit": commit or "unknown",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": {
            "processor": processor[1] if processor else platform.processor(),
            "cores": available_cores(),
            "GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "load": round(os.getloadavg()[0], 1),
        },
        "versions": {"python": platform.python_version(), **versions},
    }


def cell(value: Any) -> str:
    """Return a value as text: numbers with three digits, a pair as a value with its error."""
    match value:
        case None:
            return "-"
        case bool() | str():
            return str(value)
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        case [float() | int() as centre, float() | int() as error]:
            return f"{cell(centre)} ± {cell(error)}"
    return str(value)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text, a column for every key."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in cells:
        padded = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *padded]).rstrip())
    return "\n".join(lines)

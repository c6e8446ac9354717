"""The comparison of systems on a test set: scores with intervals, what each differs by, and what it cost."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.cells import cell_len

from augury.progress import duration
from augury.reporting.results import Cost, Estimate, SystemResult

TITLES = {"bleu": "BLEU", "chrf": "chrF", "multi_bleu": "multi-BLEU", "compound_bleu": "compound BLEU"}
MISSING = "–"


@dataclass(frozen=True)
class Row:
    """One system."""

    name: str
    address: str
    seeds: tuple[int, ...]
    """Seeds that are scored."""
    scores: dict[str, Estimate]
    difference: float | None
    """Of the first metric, to the baseline; None for the baseline itself and where it means nothing."""
    cost: Cost | None
    time_factor: float | None
    """Training time as a multiple of the baseline's."""


@dataclass(frozen=True)
class Table:
    """Systems on one test set, the baseline first."""

    test: str
    metrics: tuple[str, ...]
    """The first one decides."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """What must be known to read the numbers: signatures, sizes, seeds, and what cannot be compared."""

    def header(self) -> list[str]:
        """The titles of the columns."""
        first, *others = (title(metric) for metric in self.metrics)
        return ["system", "seeds", f"{first} [95 % interval]", "difference", *others,
                "data", "parameters", "tokens seen", "train time", "× baseline"]  # fmt: skip

    def cells(self, row: Row) -> list[str]:
        """The columns of one system."""
        first, *others = (row.scores.get(metric) for metric in self.metrics)
        cost = row.cost
        costs = [factor(cost.data_factor), amount(cost.parameters), amount(cost.target_tokens),
                 duration(cost.train_seconds), factor(row.time_factor)] if cost else [MISSING] * 5  # fmt: skip
        return [row.name, str(len(row.seeds)), interval(first), signed(row.difference),
                *(f"{score.value:.1f}" if score else MISSING for score in others), *costs]  # fmt: skip

    def text(self, width: int) -> str:
        """The table and its notes as plain lines; cost comes below the scores where `width` has no room for both."""
        lines = [self.header(), *(self.cells(row) for row in self.rows)]
        blocks = [_aligned(lines)]
        if cell_len(blocks[0][0]) > width:
            scores = 3 + len(self.metrics)
            blocks = [_aligned([cells[:scores] for cells in lines]),
                      _aligned([cells[:1] + cells[scores:] for cells in lines])]  # fmt: skip
        return "\n".join([self.test, *(line for block in blocks for line in (*block, "")), *self.notes]) + "\n"

    def markdown(self) -> str:
        """The table with its notes as GitHub's Markdown."""
        header = self.header()
        rule = ["---", *("---:" for _ in header[1:])]
        lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
                 for cells in (header, rule, *(self.cells(row) for row in self.rows))]  # fmt: skip
        return "\n".join([f"### {self.test}", "", *lines, "", *(f"- {note}" for note in self.notes)]) + "\n"

    def plain(self) -> dict[str, Any]:
        """The table as JSON-like values."""
        return asdict(self)


def text(results: Sequence[SystemResult], width: int | None = None) -> str:
    """The comparisons on all test sets as plain lines, fitted to the terminal if there is one."""
    columns = width or shutil.get_terminal_size(fallback=(200, 50)).columns
    return "\n".join(comparison(results, test).text(columns) for test in scored_sets(results))


def markdown(results: Sequence[SystemResult]) -> str:
    """The comparisons on all test sets as GitHub's Markdown."""
    return "\n".join(comparison(results, test).markdown() for test in scored_sets(results))


def scored_sets(results: Sequence[SystemResult]) -> list[str]:
    """The test sets that any system is scored on, those of the first system first."""
    return list(dict.fromkeys(test for result in results for test in result.tests))


def comparison(results: Sequence[SystemResult], test: str) -> Table:
    """The systems on one test set; the first is the baseline."""
    baseline = results[0]
    metrics = tuple(dict.fromkeys(metric for result in results for metric in result.tests.get(test, {})))
    rows = tuple(_row(result, baseline, test, metrics[0]) for result in results)
    return Table(test, metrics, rows, tuple([*_readings(results, test, metrics), *_warnings(results, test, metrics)]))


def _row(result: SystemResult, baseline: SystemResult, test: str, metric: str) -> Row:
    scores = dict(result.tests.get(test, {}))
    own, other = scores.get(metric), baseline.tests.get(test, {}).get(metric)
    difference = time_factor = None
    if own and other and result is not baseline and (own.signature, own.n) == (other.signature, other.n):
        difference = own.value - other.value
    if result.cost and baseline.cost and result.cost.device == baseline.cost.device:
        time_factor = result.cost.train_seconds / baseline.cost.train_seconds
    scored = tuple(seed for seed in result.runs if seed not in result.unscored)
    return Row(result.name, result.address, scored, scores, difference, result.cost, time_factor)


def _readings(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """How to read the numbers."""
    lines = []
    for metric in metrics:
        found = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        for signature, n in dict.fromkeys((one.signature, one.n) for one in found):
            lines.append(f"{title(metric)}: {signature}, n = {n:,}")
    seeds = {result.name: ", ".join(map(str, result.runs)) for result in results}
    listed = next(iter(seeds.values())) if len(set(seeds.values())) == 1 else "; ".join(
        f"{name} {numbers}" for name, numbers in seeds.items())  # fmt: skip
    lines.append(f"seeds: {listed}")
    several = any(len(result.runs) > 1 for result in results)
    lines.append("intervals: bootstrap over sentences" + (", with Student's t over seeds" if several else ""))
    return lines


def _warnings(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """What cannot be compared, and what is missing."""
    lines = [f"{result.name}: no scores yet for seed {', '.join(map(str, result.unscored))}"
             for result in results if result.unscored]  # fmt: skip
    for metric in metrics:
        found = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        if len({(one.signature, one.n) for one in found}) > 1:
            lines.append(f"{title(metric)} was not measured in the same way for all systems: do not compare it")
    if len({result.cost.device for result in results if result.cost}) > 1:
        lines.append("times were measured on different devices: do not compare them")
    return lines


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines in columns, the first one left-aligned, with a rule below the header."""
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    spaces = [[" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)] for line in lines]
    rows = []
    for line, space in zip(lines, spaces, strict=True):
        right = [gap + cell for gap, cell in zip(space[1:], line[1:], strict=True)]
        rows.append("   ".join([line[0] + space[0], *right]))
    return [rows[0], "─" * sum(widths, 3 * len(widths) - 3), *rows[1:]]


def title(metric: str) -> str:
    """The name of a metric in a table."""
    name, colon, option = metric.partition(":")
    return TITLES.get(name, name) + (f" ({option})" if colon else "")


def interval(estimate: Estimate | None) -> str:
    """`31.5 [29.0, 34.0]`."""
    return f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]" if estimate else MISSING


def signed(difference: float | None) -> str:
    """`+1.8`."""
    return MISSING if difference is None else f"{round(difference, 1) + 0.0:+.1f}"


def factor(value: float | None) -> str:
    """`1.9 ×`."""
    return MISSING if value is None else f"{value:.1f} ×"


def amount(count: float) -> str:
    """A count for people: `950`, `1.2k`, `36.7M`, `1.1G`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.1f}{unit}"
    return f"{count:.0f}"

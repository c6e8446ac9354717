"""The comparison of systems on a test set: scores with intervals, differences that are tested, and what it cost."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.cells import cell_len

from augury.core.progress import duration
from augury.regimes.regime import SOURCE
from augury.reporting.results import Cost, Estimate, SystemResult
from augury.scoring.bootstrap import SEED, Resampled
from augury.scoring.metrics import entry, lower_is_better, names, title
from augury.scoring.significance import TRIALS, Difference, Method, decide, holm

MISSING = "–"
WEIGHTS = {
    "averaged": "the mean of the last checkpoints",
    "last": "the last checkpoint",
    "best": "the best on validation",
}
MEAN = "mean"
"""What takes the place of a test set's name for the mean over test sets."""


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
    tested: Difference | None
    """The difference with its interval and p-value; None where the counts of sentences are not known any more."""
    corrected: float | None
    """The p-value after Holm's correction for all comparisons of the table."""
    cost: Cost | None
    time_factor: float | None
    """Training time as a multiple of the baseline's."""

    @property
    def mark(self) -> str:
        """`**` for a corrected p-value below 1 %, `*` below 5 %."""
        if self.corrected is None:
            return ""
        return "**" if self.corrected < 0.01 else "*" if self.corrected < 0.05 else ""


@dataclass(frozen=True)
class Table:
    """Systems on one test set, the baseline first."""

    test: str
    metrics: tuple[str, ...]
    """The first one decides."""
    rows: tuple[Row, ...]
    comparisons: int
    """Tests that the p-values are corrected for."""
    notes: tuple[str, ...]
    """What must be known to read the numbers: signatures, sizes, seeds, tests, and what cannot be compared."""

    @property
    def where(self) -> str:
        """The test set in a sentence."""
        return "the mean of the test sets" if self.test == MEAN else self.test

    @property
    def costed(self) -> bool:
        """Whether it is known of any system what it cost."""
        return any(row.cost for row in self.rows)

    @property
    def lower_is_better(self) -> bool:
        """Of the metric that decides."""
        return lower_is_better(self.metrics[0])

    def gain(self, row: Row) -> float | None:
        """The difference of a row to the baseline, above 0 where the row is better."""
        if row.difference is None:
            return None
        return -row.difference if self.lower_is_better else row.difference

    def header(self) -> list[str]:
        """The titles of the columns."""
        first, *others = (title(metric) for metric in self.metrics)
        seen = "examples seen" if self.metrics[0] in names("labels") else "tokens seen"
        costs = ["data", "parameters", "updates", "passes", seen, "train time", "× baseline"] if self.costed else []
        return ["system", "seeds", f"{first} [95 % interval]", "difference [95 %]", "p", *others, *costs]

    def cells(self, row: Row) -> list[str]:
        """The columns of one system."""
        first, *others = (row.scores.get(metric) for metric in self.metrics)
        costs = self._costs(row) if self.costed else []
        return [
            row.name,
            str(len(row.seeds)),
            interval(first),
            difference(row),
            probability(row),
            *(f"{score.value:.1f}" if score else MISSING for score in others),
            *costs,
        ]

    def _costs(self, row: Row) -> list[str]:
        cost = row.cost
        if cost is None:
            return [MISSING] * 7
        return [
            factor(cost.data_factor),
            amount(cost.parameters),
            f"{cost.updates:,.0f}",
            passes(cost.passes),
            amount(cost.target_tokens),
            duration(cost.train_seconds),
            factor(row.time_factor),
        ]

    def text(self, width: int) -> str:
        """The table and its notes as plain lines; cost comes below the scores where `width` has no room for both."""
        lines = [self.header(), *(self.cells(row) for row in self.rows)]
        blocks = [aligned(lines)]
        if self.costed and cell_len(blocks[0][0]) > width:
            scores = 4 + len(self.metrics)
            blocks = [
                aligned([cells[:scores] for cells in lines]),
                aligned([cells[:1] + cells[scores:] for cells in lines]),
            ]
        return "\n".join([self.where, *(line for block in blocks for line in (*block, "")), *self.notes]) + "\n"

    def plain(self) -> dict[str, Any]:
        """The table as JSON-like values."""
        return {**asdict(self), "lower_is_better": self.lower_is_better}


def fitted(tables: Sequence[Table], width: int | None = None) -> str:
    """Tables as plain lines, fitted to the terminal if there is one."""
    columns = width or shutil.get_terminal_size(fallback=(200, 50)).columns
    return "\n".join(table.text(columns) for table in tables)


def scored_sets(results: Sequence[SystemResult]) -> list[str]:
    """The test sets that any system is scored on, those of the first system first."""
    return list(dict.fromkeys(test for result in results for test in result.tests))


def comparison(results: Sequence[SystemResult], test: str, method: Method = "two-level") -> Table:
    """The systems on one test set; the first is the baseline."""
    baseline = results[0]
    metrics = tuple(dict.fromkeys(metric for result in results for metric in result.tests.get(test, {})))
    rows = [_row(result, baseline, test, metrics[0]) for result in results]
    rows = _with_tests(rows, [result.resampled.get(test, {}).get(metrics[0]) for result in results], metrics[0], method)
    notes = [*_readings(results, test, metrics), *_tests(rows, metrics[0], method), *_warnings(results, test, metrics)]
    notes += [*training_notes(results), *cautions(results)]
    return Table(test, metrics, tuple(rows), sum(row.tested is not None for row in rows), tuple(notes))


def _row(result: SystemResult, baseline: SystemResult, test: str, metric: str) -> Row:
    scores = dict(result.tests.get(test, {}))
    own, other = scores.get(metric), baseline.tests.get(test, {}).get(metric)
    difference = time_factor = None
    if own and other and result is not baseline and (own.measure, own.n) == (other.measure, other.n):
        difference = own.value - other.value
    if result.cost and baseline.cost and result.cost.device == baseline.cost.device:
        time_factor = result.cost.train_seconds / baseline.cost.train_seconds
    scored = tuple(seed for seed in result.runs if seed not in result.unscored)
    return Row(result.name, result.address, scored, scores, difference, None, None, result.cost, time_factor)


def _with_tests(rows: Sequence[Row], drawn: Sequence[Resampled | None], metric: str, method: Method) -> list[Row]:
    """The rows with their differences tested, and the p-values corrected for the number of tests."""
    baseline = drawn[0]
    found = [
        decide(baseline, own, entry(metric).value, method) if baseline and own and row.difference is not None else None
        for row, own in zip(rows, drawn, strict=True)
    ]
    corrected = iter(holm([one.p_value for one in found if one]))
    return [
        replace(row, tested=one, corrected=next(corrected)) if one else row
        for row, one in zip(rows, found, strict=True)
    ]


def _readings(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """How to read the numbers."""
    lines = []
    for metric in metrics:
        found = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        for signature, n in dict.fromkeys((one.signature, one.n) for one in found):
            least = ", lower is better" if lower_is_better(metric) else ""
            lines.append(f"{title(metric)}: {signature}, n = {n:,}{least}")
    seeds = {result.name: ", ".join(map(str, result.runs)) for result in results}
    listed = (
        next(iter(seeds.values()))
        if len(set(seeds.values())) == 1
        else "; ".join(f"{name} {numbers}" for name, numbers in seeds.items())
    )
    lines.append(f"seeds: {listed}")
    several = any(len(result.runs) > 1 for result in results)
    lines.append("intervals: bootstrap over sentences" + (", with Student's t over seeds" if several else ""))
    return lines


def _tests(rows: Sequence[Row], metric: str, method: Method) -> list[str]:
    """What the p-values are."""
    found = [row for row in rows if row.tested]
    if not found:
        return []
    alone = [row.name for row in found if row.tested and row.tested.over == "sentences"]
    both_levels = "two-level test over seeds and sentences"
    match method:
        case "bootstrap":
            how = "sacreBLEU's paired bootstrap"
        case "randomisation":
            how = f"sacreBLEU's approximate randomisation (ar:{TRIALS}|seed:{SEED})"
        case _ if not alone:
            how = f"{both_levels}, two-sided"
        case _ if len(alone) == len(found):
            how = "paired bootstrap over sentences, two-sided"
        case _:
            how = f"{both_levels}, two-sided; paired bootstrap over sentences for {', '.join(alone)}"
    family = f", with Holm's correction for {len(found)} comparisons" if len(found) > 1 else ""
    lines = [f"p of the difference to {rows[0].name}: {how}{family}; * p < 0.05, ** p < 0.01"]
    if alone:
        lines.append(f"one seed against one says nothing of other seeds: {', '.join(alone)}")
    seeds = rows[0].scores[metric].seeds
    lines += [
        f"{row.name}: the noise of one seed is taken to be that of the {max(seeds, own)} it is compared with"
        for row in found
        if min(seeds, own := row.scores[metric].seeds) == 1 < max(seeds, own)
    ]
    return lines


def _warnings(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """What cannot be compared, and what is missing."""
    lines = [
        f"{result.name}: no scores yet for seed {', '.join(map(str, result.unscored))}"
        for result in results
        if result.unscored
    ]
    scored = [result for result in results if metrics[0] in result.tests.get(test, {})]
    unknown = [result.name for result in scored if metrics[0] not in result.resampled.get(test, {})]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of sentences are gone: {', '.join(unknown)}; remove scores.json from "
            "the runs and give the command again that made them"
        )
    for metric in metrics:
        found = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        if len({(one.measure, one.n) for one in found}) > 1:
            lines.append(f"{title(metric)} was not measured in the same way for all systems: do not compare it")
    if len({result.cost.device for result in results if result.cost}) > 1:
        lines.append("times were measured on different devices: do not compare them")
    return lines


def training_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return what was held equal between the systems, and what of their training a reader must know."""
    costs = {result.name: result.cost for result in results if result.cost}
    if not costs:
        return []
    lines = [_budget(results), "passes: how often the plain text was read / each other view"]
    kinds = {name: " or ".join(WEIGHTS[kind] for kind in dict.fromkeys(cost.weights)) for name, cost in costs.items()}
    lines.append(f"weights: {_by_value(kinds)}")
    delayed = [f"{name} after update {cost.onset:,.0f}" for name, cost in costs.items() if cost.onset]
    if delayed:
        lines.append(f"divergence or attack acts in full: {'; '.join(delayed)}")
    pieces = {name: sum(cost.pieces.values()) for name, cost in costs.items()}
    lines.append("subwords of a plain record: " + _by_value({name: f"{count:.1f}" for name, count in pieces.items()}))
    return lines


def _budget(results: Sequence[SystemResult]) -> str:
    """What ends the training of the systems, if it is the same for all."""
    parameters = [result.facts["parameters"] for result in results if result.cost]
    ends = {unit: {settings.get(f"training.max_{unit}") for settings in parameters} for unit in ("passes", "updates")}
    equal = [f"at most {limit:,} {unit}" for unit, (limit, *others) in ends.items() if limit and not others]
    patience = {settings.get("training.patience") for settings in parameters}
    stops = f", or {patience.pop()} validations without gain" if len(patience) == 1 else ""
    return f"held equal: {' and '.join(equal)}{stops}" if equal else "held equal: nothing; budgets differ"


def _by_value(values: Mapping[str, str]) -> str:
    """A value that all systems share, or every system's."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return "; ".join(f"{name} {value}" for name, value in values.items())


def cautions(results: Sequence[SystemResult]) -> list[str]:
    """What must be known of the texts of any of the systems."""
    return list(dict.fromkeys(note for result in results for note in result.notes))


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines in columns, the first one left-aligned, with a rule below the header."""
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    spaces = [[" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)] for line in lines]
    rows = []
    for line, space in zip(lines, spaces, strict=True):
        right = [gap + cell for gap, cell in zip(space[1:], line[1:], strict=True)]
        rows.append("   ".join([line[0] + space[0], *right]))
    return [rows[0], "─" * sum(widths, 3 * len(widths) - 3), *rows[1:]]


def interval(estimate: Estimate | None) -> str:
    """`31.5 [29.0, 34.0]`."""
    return f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]" if estimate else MISSING


def signed(difference: float | None) -> str:
    """`+1.8`."""
    return MISSING if difference is None else f"{round(difference, 1) + 0.0:+.1f}"


def difference(row: Row) -> str:
    """`+1.8** [+0.4, +3.2]`; without interval and mark where it is not tested."""
    found = row.tested
    return (
        f"{signed(found.value)}{row.mark} [{signed(found.low)}, {signed(found.high)}]"
        if found
        else signed(row.difference)
    )


def probability(row: Row) -> str:
    """The corrected p-value: `0.012`."""
    if row.corrected is None:
        return MISSING
    return "< 0.001" if row.corrected < 0.001 else f"{row.corrected:.3f}"


def factor(value: float | None) -> str:
    """`1.9 ×`."""
    return MISSING if value is None else f"{value:.1f} ×"


def passes(by_view: Mapping[str, float]) -> str:
    """`40`, or `40 / 20` where each other view was read 20 times, or `40 / 20–30`."""
    plain, *others = [by_view.get(SOURCE, 0.0), *(count for view, count in by_view.items() if view != SOURCE)]
    shown = [f"{plain:.0f}"]
    if others:
        least, most = f"{min(others):.0f}", f"{max(others):.0f}"
        shown.append(least if least == most else f"{least}–{most}")
    return " / ".join(shown)


def amount(count: float) -> str:
    """A count for people: `950`, `1.2k`, `36.7M`, `1.1G`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.1f}{unit}"
    return f"{count:.0f}"

"""The report of outputs from the views of a source."""

from __future__ import annotations

import html
from collections.abc import Sequence

from augury.analysis.outputs import Outputs, ViewScore, outputs
from augury.analysis.system import System
from augury.reporting.analyses.analysis import Analysis, difference_cells, heading, test_label
from augury.reporting.figures import Figure, IntervalEnds, chart, system_traces, within_bounds
from augury.reporting.numbers import interval, p_text, share
from augury.reporting.report import Charts, Section, section
from augury.reporting.samples import Example
from augury.reporting.tables import Cell, Table, table
from augury.scoring.significance import holm


class OutputAnalysis(Analysis):
    """Scores and outputs by the view that is read."""

    TITLE = "Outputs by view"

    analysis: str = "outputs"

    def compute(self, systems: Sequence[System]) -> Sequence[Outputs]:
        """Return the results."""
        return outputs(systems)

    def answer(self, results: Sequence[Outputs], systems: Sequence[System]) -> str:
        """Return the score of every view, and how often outputs are equal."""
        summary = []
        for result in [result for result in results if len(result.views) > 1] or results:
            plain, *others = result.views
            head = f"{result.system} reaches BLEU {plain.value:.1f} from plain text"
            views = []
            tests = [view.against_plain for view in others if view.against_plain]
            corrected = holm([test.p_value for test in tests])
            for view, test, p_value in zip(others, tests, corrected, strict=True):
                real = "" if p_value < 0.05 else ", may be chance"
                certainty = f"{test.value:+.1f}, {p_text(p_value)}{real}"
                views.append(f"{view.value:.1f} from {view.view} ({certainty})")
            equal = f"all outputs are equal for {share(result.all_same / result.sentences)}"
            summary.append(
                f"{head}, {', '.join(views)}; {equal}"
                if others
                else f"{head} and has no other view"
            )
        return f"On {test_label(systems)}, {'. '.join(summary)}."

    def sections(self, results: Sequence[Outputs], systems: Sequence[System]) -> list[Section]:
        """Return the scores by view, and outputs side by side."""
        shown = [section("Scores by input view", Charts([_chart(results)]), _table(results))]
        for result, system in zip(results, systems, strict=True):
            examples = [
                Example(
                    heading(system, example.sentence),
                    {"source": example.source},
                    {"reference": example.reference},
                    example.outputs,
                )
                for example in result.examples
            ]
            of_system = f": {result.system}" if len(results) > 1 else ""
            differing = result.sentences - result.all_same
            text = f"Drawn from the {differing:,} sentences whose outputs are not all equal."
            if examples:
                shown.append(section(f"Outputs side by side{of_system}", text, *examples))
        return shown


def _ends(view: ViewScore) -> tuple[float, float, float]:
    """Return a score, and the ends of its interval."""
    return view.value, view.interval.low, view.interval.high


def _table(results: Sequence[Outputs]) -> Table:
    rows = []
    for result in results:
        for view in result.views:
            same = Cell(share(view.same_as_plain / result.sentences), view.same_as_plain)
            score = Cell(interval(*_ends(view)), view.value)
            name = f"{result.system}, {view.view}"
            rows.append([name, score, *difference_cells(view.against_plain), same])
    columns = ("input", "BLEU [95 %]", "difference to plain [95 %]", "p", "output as from plain")
    note = (
        f"{results[0].signature}; paired bootstrap over sentences, p not corrected for the views."
    )
    return table(columns, rows, title="BLEU by input view", notes=(note,))


def _chart(results: Sequence[Outputs]) -> Figure:
    series: dict[str, dict[str, IntervalEnds]] = {}
    for result in results:
        of_system = f", {result.system}" if len(results) > 1 else ""
        series[result.system] = {
            html.escape(f"{view.view}{of_system}"): _ends(view) for view in result.views
        }
    traces = system_traces(series, " from %{x}: %{y:.1f}", mode="markers", size=10)
    axis = within_bounds("bleu")
    drawing = chart(traces, "input view", "BLEU", xaxis_type="category", yaxis=axis)
    summary = ", ".join(
        f"{result.system} {view.view} {view.value:.1f}"
        for result in results
        for view in result.views
    )
    return Figure(
        "bleu", "BLEU by input view, with 95 % intervals", f"BLEU by input view: {summary}", drawing
    )


ANALYSIS = OutputAnalysis

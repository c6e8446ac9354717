"""The outputs of a model by view: the score of every view, and outputs side by side (CipherDAug,
figures 6 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.analysis.analysis import (
    Analysis,
    certainty,
    difference_cells,
    heading,
    test_label,
)
from augury.analysis.system import System
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.reporting.numbers import interval as interval_text
from augury.reporting.numbers import share
from augury.reporting.report import Section, section
from augury.reporting.samples import Example
from augury.reporting.tables import Cell, table
from augury.scoring.bootstrap import SAMPLES, resample
from augury.scoring.registry import metric, title
from augury.scoring.significance import Difference, Interval, compare, holm, interval

EXAMPLES = 8


@dataclass(frozen=True)
class ViewScore:
    """The translation of the test sentences from one view of their source."""

    view: str
    value: float
    """Of the corpus, in the metric."""
    interval: Interval
    against_plain: Difference | None
    """Paired bootstrap over sentences; None for the plain source itself."""
    same_as_plain: int
    """The number of sentences with the same output as from the plain source."""


@dataclass(frozen=True)
class Outputs:
    """The outputs of one system by view."""

    system: str
    sentences: int
    signature: str
    views: tuple[ViewScore, ...]
    all_same: int
    """The number of sentences with equal outputs from all views."""
    examples: Mapping[int, Mapping[str, str]]
    """A random sample of the others: index of a sentence -> its output by view."""


class OutputAnalysis(Analysis):
    """Scores and outputs by the view that is read."""

    TITLE = "Outputs by view"

    analysis: str = "outputs"
    metric: str = "bleu"
    """The metric of the scores."""

    def compute(self, systems: Sequence[System]) -> list[Outputs]:
        """Return the outputs of every system from every view, scored by the metric.

        Translates views x sentences.
        """
        results = []
        for system in systems:
            score, plain = metric(self.metric, system.language), system.outputs()
            by_view = {view: system.outputs(view) for view in system.views}
            views = []
            for view, lines in by_view.items():
                statistics = score.statistics(lines, system.references)
                resampled = resample([statistics], score.value, samples=SAMPLES)
                if view == PLAIN:
                    first = resampled
                test = None if view == PLAIN else compare(first, resampled)
                same = sum(map(str.__eq__, lines, plain))
                views.append(ViewScore(view, resampled.value, interval(resampled), test, same))
            sentences = range(len(plain))
            differing = [row for row in sentences if len({of[row] for of in by_view.values()}) > 1]
            random = generator("outputs", system.test, len(plain))
            chosen = differing
            if len(differing) > EXAMPLES:
                chosen = sorted(random.choice(differing, EXAMPLES, replace=False).tolist())
            shown = {row: {view: of[row] for view, of in by_view.items()} for row in chosen}
            same = len(plain) - len(differing)
            results.append(
                Outputs(system.name, len(plain), score.signature, tuple(views), same, shown)
            )
        return results

    def answer(self, results: Sequence[Outputs], systems: Sequence[System]) -> str:
        """Return the score of every view, and how often outputs are equal."""
        summary = []
        for result in results:
            plain, *others = result.views
            said = [
                f"{result.system} reaches {title(self.metric)} {plain.value:.1f} from plain text"
            ]
            tests = [view.against_plain for view in others if view.against_plain]
            corrected = holm([test.p_value for test in tests])
            for view, test, p_value in zip(others, tests, corrected, strict=True):
                difference = f"{test.value:+.1f}, {certainty(p_value)}"
                said.append(f"{view.value:.1f} from {view.view} ({difference})")
            equal = share(result.all_same / result.sentences)
            same = f"; all outputs are equal for {equal}" if others else ""
            summary.append(f"{', '.join(said)}{same}")
        return f"On {test_label(systems)}, {'. '.join(summary)}."

    def sections(self, results: Sequence[Outputs], systems: Sequence[System]) -> list[Section]:
        """Return the scores by view, and outputs side by side."""
        rows = []
        for result in results:
            for view in result.views:
                score = interval_text(view.value, view.interval.low, view.interval.high)
                same = share(view.same_as_plain / result.sentences)
                rows.append(
                    [
                        f"{result.system}, {view.view}",
                        Cell(score, view.value),
                        *difference_cells(view.against_plain),
                        Cell(same, view.same_as_plain),
                    ]
                )
        name = title(self.metric)
        columns = ["input", f"{name} [95 %]", "difference to plain [95 %]", "p"]
        columns += ["output as from plain"]
        note = f"{results[0].signature}; paired bootstrap over sentences, p not corrected for the "
        scores = table(columns, rows, title=f"{name} by input view", notes=(f"{note}views.",))
        shown = [section("Scores by input view", scores)]
        for result, system in zip(results, systems, strict=True):
            examples = [
                Example(
                    heading(system, row),
                    {"source": system.sources[row]},
                    {"reference": system.references[row]},
                    outputs,
                )
                for row, outputs in result.examples.items()
            ]
            differing = result.sentences - result.all_same
            text = f"Drawn from the {differing:,} sentences whose outputs are not all equal."
            if examples:
                shown.append(section(f"Outputs side by side: {result.system}", text, *examples))
        return shown


ANALYSIS = OutputAnalysis

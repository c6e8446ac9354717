"""The outputs of a model by view: the score of every view, and outputs side by side (CipherDAug,
figures 6 and 9)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from augury.analysis.analysis import (
    Analysis,
    certainty,
    example,
    result_table,
    test_label,
)
from augury.analysis.paired import difference, estimate
from augury.analysis.system import System
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.reporting.numbers import number
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns, plain_records
from augury.scoring.bootstrap import resample
from augury.scoring.registry import metric, title
from augury.scoring.significance import holm

EXAMPLES = 8


class OutputAnalysis(Analysis):
    """Scores and outputs by the view that is read."""

    TITLE = "Outputs by view"

    analysis: str = "outputs"
    metric: str = "bleu"
    """The metric of the scores."""

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return the score of every view of every system in the metric, its difference to that of
        the plain view, and the share of outputs that are as from plain text, and as from all views.

        Translates views x sentences.
        """
        rows = []
        for system in systems:
            scorer, resampled = metric(self.metric, system.language), {}
            outputs = {view: system.outputs(view) for view in system.views}
            equal = [len(set(of_views)) == 1 for of_views in zip(*outputs.values(), strict=True)]
            for view, lines in outputs.items():
                statistics = scorer.statistics(lines, system.references, sources=system.sources)
                resampled[view] = resample([statistics], scorer.value)
                row = {"system": system.name, "view": view, **estimate(resampled[view])}
                if view != PLAIN:
                    row |= difference(resampled[PLAIN], resampled[view])
                same = sum(map(str.__eq__, lines, outputs[PLAIN]))
                row |= {"as_plain": same / len(lines), "all_equal": sum(equal) / len(lines)}
                rows.append(row | {"signature": scorer.signature})
        return pd.DataFrame(rows)

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return the score of every view, and how often outputs are equal."""
        summary = []
        for name, of_system in results.groupby("system", sort=False):
            plain, *others = plain_records(of_system)
            said = [f"{name} reaches {title(self.metric)} {number(plain['value'])} from plain text"]
            corrected = holm([view["p"] for view in others])
            for view, p_value in zip(others, corrected, strict=True):
                gap = f"{number(view['difference'], 'difference')}, {certainty(p_value)}"
                said.append(f"{number(view['value'])} from {view['view']} ({gap})")
            equal = number(plain["all_equal"], "share")
            same = f"; all outputs are equal for {equal}" if others else ""
            summary.append(f"{', '.join(said)}{same}")
        return f"On {test_label(systems)}, {'. '.join(summary)}."

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the scores by view, and outputs side by side."""
        name = title(self.metric)
        columns: Columns = {
            f"{name} [95 %]": ("value", "score"),
            "difference to plain [95 %]": ("difference", "difference"),
            "p": ("p", "p"),
            "output as from plain": ("as_plain", "share"),
        }
        note = f"{results['signature'][0]}; paired bootstrap over sentences, p not corrected for "
        scores = result_table(
            results,
            columns,
            ("system", "view"),
            title=f"{name} by input view",
            notes=(f"{note}the views.",),
        )
        examples = [section for system in systems for section in _examples(system)]
        return [section("Scores by input view", scores), *examples]


def _examples(system: System) -> list[PageSection]:
    """Return a random sample of the sentences whose outputs are not equal from all views."""
    outputs = {view: system.outputs(view) for view in system.views}
    rows = range(len(system.sources))
    differing = [row for row in rows if len({lines[row] for lines in outputs.values()}) > 1]
    draw = generator("outputs", system.test, len(rows))
    chosen = differing
    if len(differing) > EXAMPLES:
        chosen = sorted(draw.choice(differing, EXAMPLES, replace=False).tolist())
    examples = [
        example(system, row, {view: lines[row] for view, lines in outputs.items()})
        for row in chosen
    ]
    text = f"Drawn from the {number(len(differing), 'count')} sentences whose outputs are not "
    text += "all equal."
    name = f"Outputs side by side: {system.name}"
    return [section(name, text, *examples)] if examples else []


ANALYSIS = OutputAnalysis

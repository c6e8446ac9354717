"""The length of translations as a multiple of that of the references."""

import pandas as pd

from augury.analysis.analysis import Analysis, result_table
from augury.reporting.report import section


class Lengths(Analysis):
    """Whether a system translates too short or too long."""

    TITLE = "Length of translations"

    analysis: str = "lengths"
    view: str = "plain"
    """The view that is translated."""

    def compute(self, systems):
        def words(lines):
            return sum(len(line.split()) for line in lines) / len(lines)

        rows = [
            {
                "system": system.name,
                "outputs": words(system.outputs(self.view)),
                "references": words(system.references),
            }
            for system in systems
        ]
        return pd.DataFrame(rows)

    def answer(self, results, systems):
        ratios = (results["outputs"] / results["references"]).map("{:.2f}".format)
        said = results["system"] + " " + ratios
        return f"Words of translations for one of the reference: {', '.join(said)}."

    def sections(self, results, systems):
        columns = {"words": ("outputs", "score"), "reference": ("references", "score")}
        return [section("Words of a sentence", result_table(results, columns))]


ANALYSIS = Lengths

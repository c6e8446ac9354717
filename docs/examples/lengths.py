"""The length of translations as a multiple of that of the references."""

from dataclasses import dataclass

from augury.analysis.analysis import Analysis
from augury.reporting.report import section
from augury.reporting.tables import cell, records


@dataclass(frozen=True)
class Length:
    """The mean words of a system's translations and of their references."""

    system: str
    outputs: float
    references: float


class Lengths(Analysis):
    """Whether a system translates too short or too long."""

    TITLE = "Length of translations"

    analysis: str = "lengths"
    view: str = "plain"
    """The view that is translated."""

    def compute(self, systems):
        def words(lines):
            return sum(len(line.split()) for line in lines) / len(lines)

        return [
            Length(system.name, words(system.outputs(self.view)), words(system.references))
            for system in systems
        ]

    def answer(self, results, systems):
        ratios = (f"{of.system} {of.outputs / of.references:.2f}" for of in results)
        return f"Words of translations for one of the reference: {', '.join(ratios)}."

    def sections(self, results, systems):
        rows = [
            {"system": of.system, "words": cell(of.outputs), "reference": cell(of.references)}
            for of in results
        ]
        return [section("Words of a sentence", records(rows))]


ANALYSIS = Lengths

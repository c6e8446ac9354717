"""The contract of an analysis of runs, its lookup, and how it is carried out.

An analysis is a plug-in: a file that sets `ANALYSIS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any, ClassVar

from augury.analysis.system import VALID, System
from augury.core import config, plugins
from augury.core.plugins import Extension, Registry
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.reporting import rendering, run_files
from augury.reporting.numbers import MISSING, interval, probability, signed
from augury.reporting.report import Report, Section, section
from augury.reporting.tables import Cell, Table, cell, records
from augury.scoring.significance import Difference

ANALYSES = Registry(
    "analysis",
    package="augury.reporting.analyses",
    attribute="ANALYSIS",
    contract="set ANALYSIS to a subclass of augury.reporting.analyses.analysis.Analysis",
)


class Analysis(Extension, ABC):
    """Settings of an analysis of runs, which are also its flags on the command line."""

    TITLE: ClassVar[str]

    analysis: str
    """The name of the analysis, or the path of its file."""

    @abstractmethod
    def compute(self, systems: Sequence[System]) -> Any:
        """Return the results: a dataclass for all systems, or a list with one for each."""

    @abstractmethod
    def answer(self, results: Any, systems: Sequence[System]) -> str:
        """Return what the results say, in a sentence that claims no more than they support."""

    @abstractmethod
    def sections(self, results: Any, systems: Sequence[System]) -> list[Section]:
        """Return the sections of the page; their tables are shown in a terminal too."""


def schema(name: str) -> type[Analysis]:
    """Return the class of the analysis called `name`, or at that path."""
    analysis, _ = plugins.resolve(ANALYSES, Analysis, "analysis", {"analysis": name})
    return analysis


def find(name: str, settings: Mapping[str, Any]) -> Analysis:
    """Return the analysis called `name`, or at that path, with its settings."""
    chosen, values = plugins.resolve(ANALYSES, Analysis, "analysis", {**settings, "analysis": name})
    return config.validate(chosen, values, f"analysis {values['analysis']}")


def analyse(analysis: Analysis, systems: Sequence[System]) -> Report:
    """Return the report of one analysis, and write it into the folder of every run."""
    first, results = systems[0], analysis.compute(systems)
    settings = analysis.to_dict()
    content = {
        "test": first.test,
        "lines": [row + 1 for row in first.rows],
        "runs": [
            {
                "name": system.name,
                "address": system.run.address,
                "seed": system.run.seed,
                "folder": system.run.folder.name,
            }
            for system in systems
        ],
        "settings": {
            **{key: settings[key] for key in settings if key not in ("analysis", plugins.FILE)},
            "decoding": first.decoding and first.decoding.to_dict(),
        },
        "results": [asdict(result) for result in results]
        if isinstance(results, list)
        else asdict(results),
    }
    title = f"{analysis.TITLE}: {', '.join(system.name for system in systems)} on {first.test}"
    answer, sections = analysis.answer(results, systems), analysis.sections(results, systems)
    report = report_of(title, answer, sections, content, _cautions(systems))
    sources = section("Where it comes from", _runs(systems))
    report = replace(report, sections=[*sections, sources])
    for system in systems:
        write(report, analysis.analysis, folder_of(systems, system))
    return report


def report_of(
    title: str,
    answer: str,
    sections: Sequence[Section],
    content: Mapping[str, Any],
    notes: Sequence[str],
) -> Report:
    """Return the report of an analysis, whose tables are those of its sections."""
    tables = [block for part in sections for block in part.blocks if isinstance(block, Table)]
    return Report(
        title=title,
        answer=answer,
        sections=sections,
        notes=notes,
        data=content,
        summary=[*tables, "\n".join([answer, *notes])],
        tables=tables,
    )


def write(report: Report, name: str, folder: Folder) -> None:
    """Write the page and the data of a report into a folder, as `NAME.html` and `NAME.json`."""
    content = {"analysis": name, "answer": report.answer, **report.data}
    folder.write_record(f"{name}.json", content)
    folder.write(f"{name}.html", rendering.page(report))


def folder_of(systems: Sequence[System], system: System) -> Folder:
    """Return the folder of a system's analyses in its run's: `TEST`, or `TEST-with-HASH` if
    compared with others.

    The hash is that of all systems in their order, as the first is the baseline.
    """
    names = [other.run.folder.name for other in systems]
    name = f"{system.test}-with-{config.address(names)[:8]}" if len(names) > 1 else system.test
    return system.run.folder.sub(f"{run_files.ANALYSES}/{name}")


def _cautions(systems: Sequence[System]) -> list[str]:
    """Return notes on the texts of the systems and on the choice of sentences."""
    first = systems[0]
    notes = (stored_runs.corpus_notes(item.run.folder, item.run.inputs) for item in systems)
    cautions = list(dict.fromkeys(chain.from_iterable(notes)))
    if first.test == VALID:
        cautions.append(
            "The sentences are those of the validation set, by which training was ended and "
            "weights were chosen."
        )
    if any(system.run.experiment.to_dict()["decoding"].get("views") for system in systems):
        cautions.append(
            "Sentences are translated from one view at a time, not from several as the runs' "
            "experiments do."
        )
    if len(systems) > 1:
        cautions.append(
            "Runs are compared, not methods: one training of each does not tell them apart from "
            "chance."
        )
    if len(first.rows) < (total := first.run.corpus(first.test).rows):
        cautions.append(
            f"{len(first.rows):,} of the {total:,} sentences of {first.test}, drawn at random."
        )
    return cautions


def _runs(systems: Sequence[System]) -> Table:
    rows = [
        {
            "system": system.name,
            "run": Cell(system.run.folder.name, code=True),
            "trained with": RunRecord.read(system.run.folder).trained_with,
        }
        for system in systems
    ]
    return records(rows, kind="words")


def test_label(systems: Sequence[System]) -> str:
    """Return the test set and the number of sentences analysed: `test2016 (1,000 sentences)`."""
    return f"{systems[0].test} ({len(systems[0].rows):,} sentences)"


def heading(system: System, sentence: int) -> str:
    """Return the heading of a sentence: its line in the test set."""
    return f"line {system.rows[sentence] + 1}"


def difference_cells(test: Difference | None, scale: float = 1.0) -> list[Cell]:
    """Return a difference with its interval, multiplied by `scale`, and its p-value.

    Dashes for None.
    """
    if test is None:
        return [Cell(MISSING)] * 2
    value, low, high = (scale * end for end in (test.value, test.low, test.high))
    return [Cell(interval(value, low, high, signed), value), cell(test.p_value, probability)]

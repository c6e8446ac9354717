"""The contract of an analysis of runs, its lookup, and how it is carried out.

An analysis is a plug-in: a file that sets `ANALYSIS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pandas as pd

from augury.analysis.system import System
from augury.core import config, plugins
from augury.core.plugins import Extension, Registry
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.reporting import rendering, run_files
from augury.reporting.numbers import number, p_text
from augury.reporting.report import PageSection, Report
from augury.reporting.samples import Example
from augury.reporting.tables import Columns, Table, plain_records, record_cells, table

ANALYSES = Registry(
    "analysis",
    package="augury.analysis",
    attribute="ANALYSIS",
    contract="set ANALYSIS to a subclass of augury.analysis.analysis.Analysis",
)


class Analysis(Extension, ABC):
    """Settings of an analysis of runs: `--set ANALYSIS.KEY=VALUE` on the command line."""

    TITLE: ClassVar[str]

    analysis: str
    """The name of the analysis, or the path of its file."""

    @abstractmethod
    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return the results with exact numbers, which are written to JSON: a row for every system,
        or for every part of it."""

    @abstractmethod
    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return what the results say, in a sentence that claims no more than they support."""

    @abstractmethod
    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the sections of the page; their tables are shown in a terminal too."""


def find(name: str, settings: Mapping[str, Any]) -> Analysis:
    """Return the analysis called `name`, or at that path, with its settings."""
    chosen, values = plugins.resolve(ANALYSES, Analysis, "analysis", {**settings, "analysis": name})
    return config.validate(chosen, values, f"analysis {values['analysis']}")


def analyse(analysis: Analysis, systems: Sequence[System]) -> Report:
    """Return the report of one analysis, and write it as `NAME.html` and `NAME.json` into the
    folder of every run."""
    names = ", ".join(system.name for system in systems)
    first = systems[0]
    notes = _warnings(systems)
    results = analysis.compute(systems)
    answer, sections = analysis.answer(results, systems), analysis.sections(results, systems)
    settings = analysis.to_dict()
    for known in ("analysis", plugins.FILE):
        settings.pop(known, None)
    runs = [
        {"name": system.name, "address": system.run.address, "seed": system.run.seed}
        for system in systems
    ]
    tables = [block for part in sections for block in part.blocks if isinstance(block, Table)]
    report = Report(
        title=f"{analysis.TITLE}: {names} on {first.test}",
        answer=answer,
        sections=sections,
        notes=notes,
        facts={system.name: system.run.folder.name for system in systems},
        data={
            "test": first.test,
            "lines": [row + 1 for row in first.rows],
            "runs": runs,
            "settings": settings,
            "results": plain_records(results),
        },
        summary=[*tables, "\n".join([answer, *notes])],
        tables=tables,
    )
    content = {"analysis": analysis.analysis, "answer": answer, **report.data}
    for system in systems:
        target = folder_of(systems, system)
        target.write_record(f"{analysis.analysis}.json", content)
        target.write(f"{analysis.analysis}.html", rendering.page(report))
    return report


def folder_of(systems: Sequence[System], system: System) -> Folder:
    """Return the folder of a system's analyses in its run's: `TEST`, or `TEST-with-HASH` if
    compared with others.

    The hash is that of all systems in their order, as the first is the baseline.
    """
    names = [other.run.folder.name for other in systems]
    name = f"{system.test}-with-{config.address(names)[:8]}" if len(names) > 1 else system.test
    return system.run.folder.sub(f"{run_files.ANALYSES}/{name}")


def _warnings(systems: Sequence[System]) -> list[str]:
    """Return notes on the texts of the systems, and a warning where there are several."""
    warnings = list[str]()
    for system in systems:
        warnings += stored_runs.corpus_notes(system.run.folder, system.run.inputs)
    if len(systems) > 1:
        warnings.append(
            "Runs are compared, not methods: one training of each does not tell them apart from "
            "chance."
        )
    return list(dict.fromkeys(warnings))


def test_label(systems: Sequence[System]) -> str:
    """Return the test set and the number of sentences analysed: `test2016 (1,000 sentences)`."""
    return f"{systems[0].test} ({number(len(systems[0].rows), 'count')} sentences)"


def example(system: System, sentence: int, outputs: Mapping[str, str]) -> Example:
    """Return a sentence with outputs for it, by what they are of."""
    return Example(
        f"{system.name}, line {system.rows[sentence] + 1}",
        {"source": system.sources[sentence]},
        {"reference": system.references[sentence]},
        outputs,
    )


def certainty(p_value: float) -> str:
    """Return a p-value, and whether a difference with it may be chance."""
    return p_text(p_value) if p_value < 0.05 else f"{p_text(p_value)}, may be chance"


def result_table(
    results: pd.DataFrame,
    columns: Columns,
    named_by: Sequence[str] = ("system",),
    **options: Any,
) -> Table:
    """Return the table of results. The first column has the name of a row, that of the columns
    `named_by`; `options` are fields of `Table`."""
    rows = [
        [", ".join(f"{result[name]}" for name in named_by), *record_cells(result, columns)]
        for result in plain_records(results)
    ]
    return table([", ".join(named_by), *columns], rows, **options)

"""The analyses of runs by name: their computation and their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from augury.analysis.system import VALID, System
from augury.core import config
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.reporting import run_files
from augury.reporting.analyses import buckets, correlation, hallucinations, outputs, rare_subwords
from augury.reporting.analyses.report import Analysis, Report
from augury.reporting.tables import Cell, Table, records

MODULES = (hallucinations, rare_subwords, correlation, buckets, outputs)
ANALYSES: Mapping[str, Analysis] = {module.ANALYSIS.name: module.ANALYSIS for module in MODULES}


def analyse(name: str, systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of one analysis, and write it into the folder of every run.

    Of `settings`, the analysis uses those that it names.
    """
    analysis, first = ANALYSES[name], systems[0]
    analysis_settings = {key: settings[key] for key in analysis.settings}
    results = analysis.compute(systems, **analysis_settings)
    content = {
        "test": first.test,
        "lines": [row + 1 for row in first.rows],
        "runs": [
            {
                "name": system.name,
                "address": run.address,
                "seed": run.seed,
                "folder": run.folder.uri,
            }
            for system, run in ((system, system.run) for system in systems)
        ],
        "settings": analysis_settings | {"decoding": first.decoding and first.decoding.to_dict()},
        "results": [asdict(result) for result in results]
        if isinstance(results, list)
        else asdict(results),
    }
    title = f"{analysis.title}: {', '.join(system.name for system in systems)} on {first.test}"
    answer, parts = (
        analysis.answer(results, systems),
        analysis.parts(results, systems, analysis_settings),
    )
    report = Report(name, title, answer, parts, content, _cautions(systems), _runs(systems))
    for system in systems:
        report.write(folder_of(systems, system))
    return report


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
    cautions = list(
        dict.fromkeys(
            note
            for system in systems
            for note in stored_runs.corpus_notes(system.run.folder, system.run.inputs)
        )
    )
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
    folders = {system.name: system.run.folder for system in systems}
    rows = [
        {
            "system": name,
            "run": Cell(run.name, code=True),
            "trained with": RunRecord.read(run).trained_with,
        }
        for name, run in folders.items()
    ]
    return records(rows, kind="words")

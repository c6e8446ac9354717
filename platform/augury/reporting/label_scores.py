"""The scores of systems on each label of a test set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from augury.core.store import Folder
from augury.corpora.corpus import KINDS
from augury.corpora.labelled import LABEL, label_counts
from augury.reporting import run_files
from augury.reporting.numbers import MISSING
from augury.reporting.results import SystemResult
from augury.reporting.tables import Cell, Table, table
from augury.scoring.f1 import MacroF1
from augury.scoring.stored import read_statistics

F1 = "macro_f1"


def label_table(results: Sequence[SystemResult], test: str) -> Table | None:
    """Return the F1 of every label of a test set, in percent, as the mean over each system's seeds.

    None for other tasks, and where macro F1 is not among the metrics or its statistics are gone.
    """
    scored = [result for result in results if F1 in result.tests.get(test, {})]
    runs = [run for result in scored for run in result.runs.values()]
    corpus = next(filter(None, (run_files.test_corpus(run, test) for run in runs)), None)
    if corpus is None or KINDS[corpus.kind].target != LABEL:
        return None
    counts = label_counts(corpus)
    by_system = {result.name: _f1(result, test) for result in scored}
    rows = []
    for index, label in enumerate(sorted(counts)):
        cells = [_cell(scores, index) for scores in by_system.values()]
        share = counts[label] / corpus.rows
        rows.append([label, Cell(f"{100 * share:.1f} %", share), *cells])
    if not any(by_system.values()):
        return None
    note = "F1 of each label on its own; the mean over each system's seeds"
    return table(["label", "share", *by_system], rows, notes=(note,))


def _f1(result: SystemResult, test: str) -> list[float]:
    """Return the F1 of every label in order, the mean over seeds; empty without statistics."""
    by_seed = [scores for run in result.runs.values() if (scores := _of_seed(run, test))]
    return [statistics.fmean(of_label) for of_label in zip(*by_seed, strict=True)]


def _of_seed(run: Folder, test: str) -> list[float]:
    sums = read_statistics(run, test).get(F1)
    if sums is None:
        return []
    totals = sums.sum(0).tolist()
    return [MacroF1.value(totals[start : start + 2]) for start in range(0, len(totals), 2)]


def _cell(scores: Sequence[float], index: int) -> Cell:
    return Cell(f"{scores[index]:.1f}", scores[index]) if scores else Cell(MISSING)

"""The analyses of runs by their names: how each is computed, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from augury.analysis import buckets, correlation, hallucination, outputs, rare_subwords
from augury.analysis.system import System
from augury.core import config
from augury.core.store import Folder
from augury.reporting.analyses import buckets as buckets_report
from augury.reporting.analyses import correlation as correlation_report
from augury.reporting.analyses import hallucinations as hallucinations_report
from augury.reporting.analyses import outputs as outputs_report
from augury.reporting.analyses import rare_subwords as rare_subwords_report
from augury.reporting.analyses.report import Report
from augury.reporting.run_files import ANALYSES as ANALYSES_FOLDER


class Analysis(NamedTuple):
    """An analysis of runs."""

    compute: Callable[..., Any]
    """From systems and settings to results."""
    report: Callable[..., Report]
    """From results, systems and settings to what is told."""
    settings: tuple[str, ...] = ()


ANALYSES: Mapping[str, Analysis] = {
    "hallucinations": Analysis(
        hallucination.hallucinations, hallucinations_report.report, ("subwords", "compare_to", "normalise_weights")
    ),
    "rare_subwords": Analysis(rare_subwords.rare_subwords, rare_subwords_report.report, ("pooled",)),
    "correlation": Analysis(correlation.correlations, correlation_report.report),
    "buckets": Analysis(buckets.buckets, buckets_report.report, ("counted_in",)),
    "outputs": Analysis(outputs.outputs, outputs_report.report),
}


def analyse(name: str, systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of one analysis, and write it into the folder of every run; it takes its own of `settings`."""
    analysis = ANALYSES[name]
    own = {key: settings[key] for key in analysis.settings}
    report = analysis.report(analysis.compute(systems, **own), systems, own)
    for folder in map(partial(folder_of, systems), systems):
        report.write(folder)
    return report


def folder_of(systems: Sequence[System], system: System) -> Folder:
    """Return where the analyses of a system lie: `TEST`, `TEST-with-HASH` beside others, in its run's folder."""
    others = [other.run.folder.name for other in systems if other is not system]
    name = f"{system.test}-with-{config.address(others)[:8]}" if others else system.test
    return system.run.folder.sub(f"{ANALYSES_FOLDER}/{name}")

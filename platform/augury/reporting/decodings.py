"""One configuration decoded in several ways, each of them a system to compare, and the time that decoding takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.progress import duration, say
from augury.core.store import Folder
from augury.corpora.corpus import COLUMNS
from augury.decoding.settings import Combination, Decoding, ViewDecoding
from augury.experiments import runs
from augury.experiments.redecoding import DecodingResult, decode_test_set
from augury.experiments.rendering import PLAIN, resolve_view
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from augury.reporting.numbers import factor
from augury.reporting.results import SystemResult, from_hypotheses
from augury.reporting.tables import Table, cell, records


@dataclass(frozen=True)
class DecodedSystem:
    """A configuration under one decoding: its scores, and what decoding all test sets takes, as mean over seeds."""

    result: SystemResult
    decoding: ViewDecoding
    seconds: float
    processor_seconds: float
    """Of this process alone: what Ray or a GPU does is not counted."""
    sentences: int

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as JSON-like values."""
        return {
            "name": self.result.name,
            "decoding": self.decoding.to_dict(),
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "sentences": self.sentences,
        }


def decode_systems(
    folders: Sequence[Folder], views: Sequence[str], combinations: Sequence[Combination], settings: Mapping[str, Any]
) -> list[DecodedSystem]:
    """Decode the test sets of a configuration's runs from the plain source, from each view, and from all combined.

    The plain source is first; `settings` are those of mbr. UserError where no run is finished or tested, and for views
    that there are not.
    """
    finished = [folder for folder in folders if folder.complete]
    if not finished:
        raise UserError(f"no run of {folders[0].name.rpartition('/')[0]} has finished: `augury train` goes on with it")
    if unfinished := [folder.name.rpartition("/")[2] for folder in folders if folder not in finished]:
        say(f"not finished, and left out: {', '.join(unfinished)}")
    of_seeds = [Run.read(folder) for folder in finished]
    first = of_seeds[0]
    if not first.tests:
        raise UserError(f"{first.folder.uri} has no test sets to decode: give the experiment corpus.tests")
    return [_decoded(of_seeds, name, decoding) for name, decoding in ways(first, views, combinations, settings).items()]


def ways(
    run: Run, views: Sequence[str], combinations: Sequence[Combination], settings: Mapping[str, Any]
) -> dict[str, ViewDecoding]:
    """Return the decodings to compare by their names: of every view alone, plain first, and of all views combined."""
    own = getattr(run.experiment, "decoding", None)
    if not isinstance(own, ViewDecoding):
        raise UserError(f"a run of task {run.experiment.task} is not decoded from views: take one of task nmt")
    search = {name: value for name, value in own.to_dict().items() if name in Decoding.model_fields}
    named = [PLAIN if resolve_view(run, view) == SOURCE else view for view in views]
    chosen: dict[str, dict[str, Any]] = {view: {"views": [view]} for view in (PLAIN, *named)}
    chosen |= {combine: {"views": named, "combine": combine, **settings} for combine in combinations}
    if len(chosen) == 1:
        raise UserError("--views plain is what the others are compared with: name another view, or --combine mbr")
    return {
        name: config.validate(ViewDecoding, {**search, **changes}, f"decoding {name}")
        for name, changes in chosen.items()
    }


def cost_table(systems: Sequence[DecodedSystem]) -> Table:
    """Return how long every system takes to decode the test sets, against the first."""
    rows, first = [], systems[0]
    against = f"× {first.result.name}"
    for system in systems:
        decoding = system.decoding
        together = decoding.combine == "average" and len(decoding.views) > 1
        row = {
            "system": system.result.name,
            "reads": ", ".join(decoding.views),
            "searched by": "transformers" if together else "CTranslate2",
            "time": cell(system.seconds, duration),
            against: cell(system.seconds / first.seconds, factor),
            "processor time": cell(system.processor_seconds, duration),
            f"processor {against}": cell(system.processor_seconds / first.processor_seconds, factor),
        }
        rows.append(row)
    note = (
        f"{first.sentences:,} sentences, beam {first.decoding.beam}; times of one seed, as they were measured beside "
        "whatever else this machine did; processor time is that of this process, not of Ray's workers or a GPU"
    )
    return records(rows, title="cost of decoding", notes=(note,))


def _decoded(of_seeds: Sequence[Run], name: str, decoding: ViewDecoding) -> DecodedSystem:
    """Return one decoding of all seeds on all test sets."""
    first = of_seeds[0]
    outputs: dict[int, dict[str, DecodingResult]] = {}
    for run in of_seeds:
        outputs[run.seed] = {test: decode_test_set(run, test, decoding) for test in first.tests}
    by_test = [
        _scored(of_seeds, name, test, {seed: of_seed[test] for seed, of_seed in outputs.items()})
        for test in first.tests
    ]
    result = replace(
        by_test[0],
        address=first.address,
        runs={run.seed: run.folder for run in of_seeds},
        tests={test: estimates for scored in by_test for test, estimates in scored.tests.items()},
        resampled={test: drawn for scored in by_test for test, drawn in scored.resampled.items()},
        notes=tuple(runs.corpus_notes(first.folder)),
    )
    sets = [decoded_set for of_seed in outputs.values() for decoded_set in of_seed.values()]
    count = len(of_seeds)
    return DecodedSystem(
        result,
        decoding,
        seconds=sum(of_set.seconds for of_set in sets) / count,
        processor_seconds=sum(of_set.processor_seconds for of_set in sets) / count,
        sentences=sum(len(of_set.outputs) for of_set in sets) // count,
    )


def _scored(of_seeds: Sequence[Run], name: str, test: str, outputs: Mapping[int, DecodingResult]) -> SystemResult:
    corpus, scoring = of_seeds[0].corpus(test), of_seeds[0].experiment.scoring
    columns = COLUMNS[corpus.kind]
    (language,) = set(corpus.column(columns.target_language))
    return from_hypotheses(
        name,
        {run.folder: outputs[run.seed].outputs for run in of_seeds},
        corpus.column(columns.target),
        test=test,
        language=language,
        metrics=scoring.metrics,
        sources=corpus.column(*columns.inputs),
        samples=scoring.bootstrap_samples,
    )

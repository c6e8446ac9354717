"""Compare one configuration under several decodings, each as a system, with the time that
decoding takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.progress import duration, say
from augury.core.store import Folder
from augury.corpora.corpus import KINDS
from augury.decoding.settings import PLAIN, Combination, Decoding, ViewDecoding
from augury.experiments import stored_runs
from augury.experiments.evaluate import decode_test_set
from augury.experiments.record import RunRecord
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from augury.reporting.numbers import factor
from augury.reporting.results import SystemResult, score_hypotheses
from augury.reporting.tables import Table, cell, records


@dataclass(frozen=True)
class DecodedSystem:
    """A configuration under one decoding: its scores, and the time to decode all test sets, as
    mean over seeds."""

    result: SystemResult
    decoding: ViewDecoding
    seconds: float
    processor_seconds: float
    """The processor time of this process, without Ray's workers and the GPU."""
    sentences: int

    @property
    def searches_jointly(self) -> bool:
        """Whether one beam searches over the mean of several views."""
        return self.decoding.combine == "average" and len(self.decoding.views) > 1

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
    folders: Sequence[Folder],
    views: Sequence[str],
    combinations: Sequence[Combination],
    settings: Mapping[str, Any],
) -> list[DecodedSystem]:
    """Decode the test sets of a configuration's runs from the plain source, from each view, and
    from all combined.

    The plain source is first; `settings` are those of mbr. UserError where no run is finished or
    tested, and for unknown views.
    """
    finished = [folder for folder in folders if folder.complete]
    if not finished:
        raise UserError(
            f"no run of {folders[0].name.rpartition('/')[0]} has finished: `augury train` goes on "
            "with it"
        )
    names = [folder.name.rpartition("/")[2] for folder in folders if folder not in finished]
    if names:
        say(f"not finished, and left out: {', '.join(names)}")
    seed_runs = [Run.read(folder) for folder in finished]
    first = seed_runs[0]
    if not first.tests:
        raise UserError(
            f"{first.folder.uri} has no test sets to decode: give the experiment corpus.tests"
        )
    return [
        _decode_system(seed_runs, name, decoding)
        for name, decoding in named_decodings(first, views, combinations, settings).items()
    ]


def named_decodings(
    run: Run, views: Sequence[str], combinations: Sequence[Combination], settings: Mapping[str, Any]
) -> dict[str, ViewDecoding]:
    """Return name -> decoding: from every single view, plain first, and from all views combined."""
    decoding = getattr(run.experiment, "decoding", None)
    if not isinstance(decoding, ViewDecoding):
        raise UserError(
            f"a run of task {run.experiment.task} is not decoded from views: take one of task nmt"
        )
    search = {
        name: value for name, value in decoding.to_dict().items() if name in Decoding.model_fields
    }
    named = [PLAIN if run.experiment.resolve_view(view) == SOURCE else view for view in views]
    settings_by_name: dict[str, dict[str, Any]] = {name: {"views": [name]} for name in named}
    settings_by_name = {PLAIN: {"views": [PLAIN]}, **settings_by_name}
    for combine in combinations:
        settings_by_name[combine] = {"views": named, "combine": combine, **settings}
    if len(settings_by_name) == 1:
        raise UserError(
            "--views plain is what the others are compared with: name another view, or --combine "
            "mbr"
        )
    return {
        name: config.validate(ViewDecoding, {**search, **changes}, f"decoding {name}")
        for name, changes in settings_by_name.items()
    }


def cost_table(systems: Sequence[DecodedSystem]) -> Table:
    """Return the time that every system takes to decode the test sets, also as a multiple of the
    first."""
    first = systems[0]
    relative_time = f"× {first.result.name}"
    rows = [
        {
            "system": system.result.name,
            "reads": ", ".join(system.decoding.views),
            "searched by": "transformers" if system.searches_jointly else "CTranslate2",
            "time": cell(system.seconds, duration),
            relative_time: cell(system.seconds / first.seconds, factor),
            "processor time": cell(system.processor_seconds, duration),
            f"processor {relative_time}": cell(
                system.processor_seconds / first.processor_seconds, factor
            ),
        }
        for system in systems
    ]
    note = (
        f"{first.sentences:,} sentences, beam {first.decoding.beam}; times of one seed, measured "
        "while other work may have run on this machine; processor time is that of this process, "
        "not of Ray's workers or a GPU"
    )
    return records(rows, title="cost of decoding", notes=(note,))


def _decode_system(seed_runs: Sequence[Run], name: str, decoding: ViewDecoding) -> DecodedSystem:
    """Decode all test sets with all seeds under one decoding."""
    first, count = seed_runs[0], len(seed_runs)
    tests, resampled, decoded = {}, {}, []
    for test in first.tests:
        of_seeds = [decode_test_set(run, test, decoding) for run in seed_runs]
        corpus, scoring = first.corpus(test), first.experiment.scoring
        columns = KINDS[corpus.kind]
        (language,) = set(corpus.column(columns.target_language))
        tests[test], resampled[test] = score_hypotheses(
            [of_seed.outputs for of_seed in of_seeds],
            corpus.column(columns.target),
            language=language,
            metrics=scoring.metrics,
            sources=corpus.column(*columns.inputs),
            samples=scoring.bootstrap_samples,
        )
        decoded += of_seeds
    result = SystemResult(
        name,
        first.address,
        runs={run.seed: run.folder for run in seed_runs},
        record=RunRecord(name=name, address=first.address, seed=1, task=None),
        tests=tests,
        resampled=resampled,
        notes=tuple(stored_runs.corpus_notes(first.folder, first.inputs)),
    )
    return DecodedSystem(
        result,
        decoding,
        seconds=sum(of_set.seconds for of_set in decoded) / count,
        processor_seconds=sum(of_set.processor_seconds for of_set in decoded) / count,
        sentences=sum(len(of_set.outputs) for of_set in decoded) // count,
    )

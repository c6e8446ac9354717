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
    runs = [Run.read(folder) for folder in folders if folder.complete]
    if not runs or not runs[0].tests:
        raise UserError(
            f"{folders[0].uri} is not finished, or has no test sets to decode: `augury train` goes "
            "on with it, and corpus.tests of its experiment names them"
        )
    if left_out := [folder.name for folder in folders if not folder.complete]:
        say(f"not finished, and left out: {', '.join(left_out)}")
    decoding = getattr(runs[0].experiment, "decoding", None)
    if not isinstance(decoding, ViewDecoding):
        raise UserError(
            f"a run of task {runs[0].experiment.task} is not decoded from views: take one of task "
            "nmt"
        )
    search = {name: getattr(decoding, name) for name in Decoding.model_fields}
    named = [PLAIN if runs[0].experiment.resolve_view(view) == SOURCE else view for view in views]
    changes: dict[str, dict[str, Any]] = {name: {"views": [name]} for name in (PLAIN, *named)}
    for combine in combinations:
        changes[combine] = {"views": named, "combine": combine, **settings}
    if len(changes) == 1:
        raise UserError(
            "--views plain is what the others are compared with: name another view, or --combine "
            "mbr"
        )
    return [
        _decode(runs, name, config.validate(ViewDecoding, {**search, **of}, f"decoding {name}"))
        for name, of in changes.items()
    ]


def _decode(runs: Sequence[Run], name: str, decoding: ViewDecoding) -> DecodedSystem:
    """Decode and score all test sets with all seeds under one decoding."""
    first, tests, resampled, decoded = runs[0], {}, {}, []
    for test in first.tests:
        of_seeds = [decode_test_set(run, test, decoding) for run in runs]
        corpus, scoring = first.corpus(test), first.experiment.scoring
        columns = KINDS[corpus.kind]
        tests[test], resampled[test] = score_hypotheses(
            [of_seed.outputs for of_seed in of_seeds],
            corpus.column(columns.target),
            language=corpus.column(columns.target_language)[0],
            metrics=scoring.metrics,
            sources=corpus.column(*columns.inputs),
            samples=scoring.bootstrap_samples,
        )
        decoded += of_seeds
    result = SystemResult(
        name,
        first.address,
        runs={run.seed: run.folder for run in runs},
        record=RunRecord(name=name, address=first.address, seed=1, task=None),
        tests=tests,
        resampled=resampled,
        notes=tuple(stored_runs.corpus_notes(first.folder, first.inputs)),
    )
    return DecodedSystem(
        result,
        decoding,
        seconds=sum(of_set.seconds for of_set in decoded) / len(runs),
        processor_seconds=sum(of_set.processor_seconds for of_set in decoded) / len(runs),
        sentences=sum(len(of_set.outputs) for of_set in decoded) // len(runs),
    )


def cost_table(systems: Sequence[DecodedSystem]) -> Table:
    """Return the time that every system takes to decode the test sets, also as a multiple of the
    first."""
    first, rows = systems[0], []
    for system in systems:
        decoding = system.decoding
        jointly = decoding.combine == "average" and len(decoding.views) > 1
        rows.append(
            {
                "system": system.result.name,
                "reads": ", ".join(decoding.views),
                "searched by": "transformers" if jointly else "CTranslate2",
                "time": cell(system.seconds, duration),
                f"× {first.result.name}": cell(system.seconds / first.seconds, factor),
                "processor time": cell(system.processor_seconds, duration),
            }
        )
    note = (
        f"{first.sentences:,} sentences, beam {first.decoding.beam}; times of one seed, measured "
        "while other work may have run on this machine; processor time is that of this process, "
        "not of Ray's workers or a GPU"
    )
    return records(rows, title="cost of decoding", notes=(note,))

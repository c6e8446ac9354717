"""Compare one configuration under several decodings, each as a system, with the time that
decoding takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.progress import duration, say
from augury.core.store import Folder
from augury.corpora.corpus import KINDS
from augury.decoding.settings import PLAIN, Combination, Decoding, ViewDecoding
from augury.experiments.redecoding import DecodingResult, decode_test_set
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from augury.reporting.numbers import factor
from augury.reporting.results import SystemResult, from_hypotheses
from augury.reporting.tables import Table, cell, records
from augury.runs import stored_runs


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
    finished = [folder for folder in folders if folder.complete]
    if not finished:
        raise UserError(
            f"no run of {folders[0].name.rpartition('/')[0]} has finished: `augury train` goes on "
            "with it"
        )
    if unfinished := [
        folder.name.rpartition("/")[2] for folder in folders if folder not in finished
    ]:
        say(f"not finished, and left out: {', '.join(unfinished)}")
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
    settings_by_name: dict[str, dict[str, Any]] = {
        view: {"views": [view]} for view in (PLAIN, *named)
    }
    settings_by_name |= {
        combine: {"views": named, "combine": combine, **settings} for combine in combinations
    }
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
    rows, first = [], systems[0]
    relative_time = f"× {first.result.name}"
    for system in systems:
        decoding = system.decoding
        joint_search = decoding.combine == "average" and len(decoding.views) > 1
        row = {
            "system": system.result.name,
            "reads": ", ".join(decoding.views),
            "searched by": "transformers" if joint_search else "CTranslate2",
            "time": cell(system.seconds, duration),
            relative_time: cell(system.seconds / first.seconds, factor),
            "processor time": cell(system.processor_seconds, duration),
            f"processor {relative_time}": cell(
                system.processor_seconds / first.processor_seconds, factor
            ),
        }
        rows.append(row)
    note = (
        f"{first.sentences:,} sentences, beam {first.decoding.beam}; times of one seed, measured "
        "while other work may have run on this machine; processor time is that of this process, "
        "not of Ray's workers or a GPU"
    )
    return records(rows, title="cost of decoding", notes=(note,))


def _decode_system(seed_runs: Sequence[Run], name: str, decoding: ViewDecoding) -> DecodedSystem:
    """Decode all test sets with all seeds under one decoding."""
    first = seed_runs[0]
    outputs: dict[int, dict[str, DecodingResult]] = {}
    for run in seed_runs:
        outputs[run.seed] = {test: decode_test_set(run, test, decoding) for test in first.tests}
    by_test = [
        _score_test(
            seed_runs, name, test, {seed: of_seed[test] for seed, of_seed in outputs.items()}
        )
        for test in first.tests
    ]
    result = replace(
        by_test[0],
        address=first.address,
        runs={run.seed: run.folder for run in seed_runs},
        tests={test: estimates for scored in by_test for test, estimates in scored.tests.items()},
        resampled={test: drawn for scored in by_test for test, drawn in scored.resampled.items()},
        notes=tuple(stored_runs.corpus_notes(first.folder, first.inputs)),
    )
    sets = [decoded_set for of_seed in outputs.values() for decoded_set in of_seed.values()]
    count = len(seed_runs)
    return DecodedSystem(
        result,
        decoding,
        seconds=sum(of_set.seconds for of_set in sets) / count,
        processor_seconds=sum(of_set.processor_seconds for of_set in sets) / count,
        sentences=sum(len(of_set.outputs) for of_set in sets) // count,
    )


def _score_test(
    seed_runs: Sequence[Run], name: str, test: str, outputs: Mapping[int, DecodingResult]
) -> SystemResult:
    corpus, scoring = seed_runs[0].corpus(test), seed_runs[0].experiment.scoring
    columns = KINDS[corpus.kind]
    (language,) = set(corpus.column(columns.target_language))
    return from_hypotheses(
        name,
        {run.folder: outputs[run.seed].outputs for run in seed_runs},
        corpus.column(columns.target),
        test=test,
        language=language,
        metrics=scoring.metrics,
        sources=corpus.column(*columns.inputs),
        samples=scoring.bootstrap_samples,
    )

"""The scores of runs, and of what else a storage has for a test set, on resampled sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.reporting import run_files
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import metric_class
from augury.scoring.stored import read_statistics

MOST_SYSTEMS = 8
"""Stored systems are enough for a variance; more take time."""
SAMPLES = 200
"""Bootstrap samples of stored systems: enough for a variance."""


def resample_runs(
    seeds: Sequence[tuple[Folder, RunRecord]], test: str, metric: str, samples: int
) -> Resampled | None:
    """Return the scores of a system's seeds on resampled sentences; None where statistics or the
    metric are gone."""
    by_seed = []
    for run, record in seeds:
        (sentences,) = (score.n for score in record.tests[test] if score.name == metric)
        drawn = _resample_run(run, record.evaluations.get(test), test, metric, sentences, samples)
        if drawn is None:
            return None
        by_seed.append(drawn)
    return Resampled(
        np.concatenate([drawn.scores for drawn in by_seed]),
        np.hstack([drawn.samples for drawn in by_seed]),
        tuple(drawn.statistics[0] for drawn in by_seed),
        labels=by_seed[0].labels,
    )


def stored_systems(
    store: Store, text: str, metric: str, *, train: str | None = None, without: Iterable[str] = ()
) -> list[Resampled]:
    """Return systems of several seeds that are scored on a test set, given by the address of its
    text.

    `train` is the address of a training corpus that they must have read, `without` are addresses of
    systems to leave out.
    """
    groups: dict[str, list[tuple[Folder, RunRecord]]] = {}
    names: dict[str, str] = {}
    scored = filter(run_files.is_scored, stored_runs.folders(store))
    for run, record in stored_runs.intact(scored, RunRecord.read).items():
        roles = {corpus.address: corpus.role for corpus in record.inputs}
        test = roles.get(text)
        elsewhere = train is not None and roles.get(train) != "train"
        if test is None or elsewhere or record.address in without:
            continue
        if any(score.name == metric for score in record.tests.get(test, ())):
            groups.setdefault(record.address, []).append((run, record))
            names[record.address] = test
    several = [address for address, group in groups.items() if len(group) > 1][:MOST_SYSTEMS]
    systems = [resample_runs(groups[of], names[of], metric, SAMPLES) for of in several]
    return [system for system in systems if system is not None]


@lru_cache(maxsize=1024)  # the page of a running sweep is rendered repeatedly
def _resample_run(
    run: Folder, evaluation: str | None, test: str, metric: str, sentences: int, samples: int
) -> Resampled | None:
    """Resample one run; `evaluation`, the hash of its scoring, is part of the cache key."""
    statistics = read_statistics(run, test).get(metric)
    if statistics is None or len(statistics) != sentences:
        return None
    try:
        scorer = metric_class(metric)
    except UserError:  # the file of a metric of one's own is gone
        return None
    labels = scorer.measures == "labels"
    return resample([statistics], scorer.value, samples=samples, labels=labels)

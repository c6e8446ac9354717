"""The scores of runs on resampled test sets, from the statistics of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.runs.record import RunRecord
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import metric_class
from augury.scoring.stored import read_statistics


def resample_runs(
    seeds: Sequence[tuple[Folder, RunRecord]], test: str, metric: str, samples: int
) -> Resampled | None:
    """Return the scores of a system's seeds on resampled sentences; None where statistics or the
    metric are gone."""
    by_seed = []
    for run, record in seeds:
        (sentences,) = (score.n for score in record.tests[test] if score.name == metric)
        resampled = _resample_run(run, record.evaluation, test, metric, sentences, samples)
        if resampled is None:
            return None
        by_seed.append(resampled)
    return Resampled(
        np.concatenate([resampled.scores for resampled in by_seed]),
        np.hstack([resampled.samples for resampled in by_seed]),
        tuple(resampled.statistics[0] for resampled in by_seed),
    )


@lru_cache(maxsize=1024)  # the page of a running sweep is rendered repeatedly
def _resample_run(
    run: Folder, evaluation: str | None, test: str, metric: str, sentences: int, samples: int
) -> Resampled | None:
    """Resample one run; `evaluation`, the hash of its scoring, is part of the cache key."""
    statistics = read_statistics(run, test).get(metric)
    if statistics is None or len(statistics) != sentences:
        return None
    try:
        value = metric_class(metric).value
    except UserError:  # the file of a metric of one's own is gone
        return None
    return resample([statistics], value, samples=samples)

"""The scores of runs on resampled test sets, from the counts of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from augury.core.store import Folder
from augury.reporting import run_files
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.metrics import metric_class
from augury.scoring.scores import read_statistics


def resampled(seeds: Sequence[Folder], test: str, metric: str, samples: int) -> Resampled | None:
    """Return the scores of the seeds of one system; None where the sentences of any are not known any more."""
    by_seed = []
    for run in seeds:
        content = run_files.scores(run)
        (sentences,) = (score["n"] for score in content["tests"][test] if score["name"] == metric)
        drawn = _resampled(run, content.get("evaluation"), test, metric, sentences, samples)
        if drawn is None:
            return None
        by_seed.append(drawn)
    return Resampled(
        np.concatenate([drawn.scores for drawn in by_seed]),
        np.hstack([drawn.samples for drawn in by_seed]),
        tuple(drawn.statistics[0] for drawn in by_seed),
    )


@lru_cache(maxsize=1024)  # pages of a running sweep are made again and again
def _resampled(
    run: Folder, evaluation: str | None, test: str, metric: str, sentences: int, samples: int
) -> Resampled | None:
    """Resample one run; `evaluation`, the address of what scored it, makes a run that is scored again another one."""
    statistics = read_statistics(run, test).get(metric)
    if statistics is None or len(statistics) != sentences:
        return None
    return resample([statistics], metric_class(metric).value, samples=samples)

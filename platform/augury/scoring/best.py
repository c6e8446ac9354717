"""The probability of each of several systems to be the best, over seeds and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from augury.scoring.bootstrap import SEED, Resampled
from augury.scoring.seed_variance import moderated, pool, sample_variance

REPEATS = 20
"""Draws of the noise of seeds for each bootstrap sample of sentences."""


def probability_best(
    systems: Sequence[Resampled], *, lower_is_better: bool = False
) -> npt.NDArray[np.float64] | None:
    """Return the probability of each system, (systems,), to have the best expected score; None
    where no system has two seeds, as nothing is known of others then.

    Sentences are those of the systems' shared bootstrap samples. Each mean over seeds is moved by
    Student's noise with the variance between seeds, shrunk to that of all systems, less the part
    that bootstrap samples contain already (`augury.scoring.significance`). The best of many is
    mostly one that was lucky: true scores are taken to be normal around the mean of the table, with
    the variance that its scores have beyond their noise (empirical Bayes; Efron and Morris, 1975,
    "Data Analysis Using Stein's Estimator and its Generalizations"), so that a score is drawn to
    that mean as far as it is noise. Ties are shared.
    """
    assert len({len(system.samples) for system in systems}) == 1, "samples are paired"
    sampled = [sample_variance(system) for system in systems]
    pooled = pool(sampled)
    if not pooled.dof:
        return None
    random = np.random.default_rng(SEED)
    values = np.array([system.value for system in systems])
    moves = np.empty((REPEATS, len(systems[0].samples), len(systems)))
    for number, (system, own) in enumerate(zip(systems, sampled, strict=True)):
        variance = moderated(own, pooled)
        deviation = np.sqrt(max(0.0, variance.total - variance.interaction) / system.seeds)
        noise = random.standard_t(max(variance.dof, 1.0), moves.shape[:2])
        moves[..., number] = system.samples.mean(1) - system.value + deviation * noise
    moves -= moves.mean(-1, keepdims=True)  # what moves all systems alike decides nothing
    error = moves.var((0, 1))
    between = max(0.0, float(values.var(ddof=1) - error.mean()))
    kept = between / np.maximum(between + error, 1e-12)
    centre = np.average(values, weights=1 / np.maximum(between + error, 1e-12))
    draws = centre + kept * (values - centre) + np.sqrt(kept) * moves
    if lower_is_better:
        draws = -draws
    leading = draws == draws.max(-1, keepdims=True)
    shares = leading / leading.sum(-1, keepdims=True)
    return np.asarray(shares.mean((0, 1)))

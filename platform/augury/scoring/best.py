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
) -> npt.NDArray[np.float64]:
    """Return the probability of each system, (systems,), to have the best expected score.

    Sentences are those of the systems' shared bootstrap samples. Each mean over seeds is moved by
    Student's noise with the variance between seeds, shrunk to that of all systems, less the part
    that bootstrap samples contain already (`augury.scoring.significance`). With one seed each,
    nothing is known of seeds, and the probability is that of these trainings. Ties are shared.
    """
    assert len({len(system.samples) for system in systems}) == 1, "samples are paired"
    sampled = [sample_variance(system) for system in systems]
    pooled = pool(sampled)
    random = np.random.default_rng(SEED)
    draws = np.empty((REPEATS, len(systems[0].samples), len(systems)))
    for number, (system, own) in enumerate(zip(systems, sampled, strict=True)):
        variance = moderated(own, pooled)
        deviation = np.sqrt(max(0.0, variance.total - variance.interaction) / system.seeds)
        noise = random.standard_t(max(variance.dof, 1.0), draws.shape[:2])
        draws[..., number] = system.samples.mean(1) + deviation * noise
    if lower_is_better:
        draws = -draws
    leading = draws == draws.max(-1, keepdims=True)
    shares = leading / leading.sum(-1, keepdims=True)
    return np.asarray(shares.mean((0, 1)))

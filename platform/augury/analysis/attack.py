"""The strength of an attack on a trained model: loss on clean and on perturbed embeddings, by
radius."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augury.core.errors import UserError
from augury.core.rng import generator
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.regimes.adversarial import Adversarial
from augury.regimes.regime import PerturbableModel, Progress

RADII = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Radii relative to the norm of an example's embeddings."""
RISE = 0.5
"""How much higher the loss under attack may be, in nats a row."""
BATCH = 32


@dataclass(frozen=True)
class Strength:
    """The effect of an attack with a radius (ε), in means over rows."""

    epsilon: float
    clean: float
    """The loss without perturbation."""
    attacked: float
    """The loss at the last perturbation."""
    perturbation: float
    """The norm of the perturbation, relative to that of the embeddings."""
    projected_steps: float
    """The share of steps that were projected onto the ball of the radius."""

    @property
    def rise(self) -> float:
        """How much higher the loss is under attack."""
        return self.attacked - self.clean


def calibrate(
    run: Run,
    radii: Sequence[float] = RADII,
    *,
    examples: int = 256,
    steps: int = 3,
    alpha_share: float = 1.0,
) -> list[Strength]:
    """Return the strength of PGD at each radius, relative to the embeddings, on training examples
    of a finished run.

    A sample of them, the same for all radii, without dropout. UserError for a task whose words
    cannot be perturbed.
    """
    import torch

    from augury.training.trained import load_weights

    model = find_task(run.experiment.task).learner(run)
    if not isinstance(model, PerturbableModel):
        raise UserError(
            f"task {run.experiment.task} does not let word embeddings be perturbed: give a run of "
            "nli or nmt"
        )
    load_weights(run.folder, model.module)
    chosen = np.sort(generator("attack", run.seed).permutation(model.group_rows[0])[:examples])
    batches = [
        model.load(rows, 1, torch.device("cpu")).batch
        for rows in np.array_split(chosen, -(-len(chosen) // BATCH))
    ]
    return [_strength(model, batches, radius, steps, alpha_share) for radius in sorted(radii)]


def choose(strengths: Sequence[Strength], rise: float = RISE) -> float | None:
    """Return the radius at which the loss rises by `rise`, log-linear between those measured.

    None if the smallest radius raises it more already; the largest if none does.
    """
    if strengths[0].rise > rise:
        return None
    for lower, upper in zip(strengths, strengths[1:], strict=False):
        if upper.rise > rise:
            share = (rise - lower.rise) / (upper.rise - lower.rise)
            return float(lower.epsilon * (upper.epsilon / lower.epsilon) ** share)
    return strengths[-1].epsilon


def _strength(
    task: Any, batches: Sequence[Any], radius: float, steps: int, alpha_share: float
) -> Strength:
    regime = Adversarial(
        epsilon=radius,
        relative=True,
        steps=steps,
        alpha_share=alpha_share,
        attack_dropout=False,
        label_smoothing=0.0,
    )
    sums, rows = Counter[str](), 0.0
    for batch in batches:
        losses = regime.loss(task, batch, Progress(0))
        rows += float(losses.rows)
        sums.update(
            {
                name: float(losses.metrics[name])
                for name in ("nll_before", "nll", "perturbation", "projected_steps")
            }
        )
    means = {name: value / rows for name, value in sums.items()}
    return Strength(
        radius, means["nll_before"], means["nll"], means["perturbation"], means["projected_steps"]
    )

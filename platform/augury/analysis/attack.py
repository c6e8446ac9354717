"""The strength of an attack on a trained model: loss on clean and on perturbed embeddings, by
radius, from which the radius of adversarial training is chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from augury.analysis.analysis import Analysis
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.rng import generator
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.regimes.adversarial import Adversarial
from augury.regimes.regime import PerturbableModel, Progress
from augury.reporting.report import Section, section
from augury.reporting.tables import cell, records

RADII = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
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


@dataclass(frozen=True)
class Attack:
    """The effect of an attack on one system."""

    system: str
    radii: tuple[Strength, ...]
    """By radius, the smallest first."""
    epsilon: float | None
    """The radius to take (see `choose`)."""


def choose(strengths: Sequence[Strength], rise: float) -> float | None:
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


class AttackAnalysis(Analysis):
    """The radius of adversarial training: loss with and without PGD, of runs without attack."""

    TITLE = "Attacks on word embeddings"
    OF_TEST = False

    analysis: str = "attack"
    radii: tuple[Annotated[float, Field(gt=0)], ...] = Field(RADII, min_length=1)
    """Radii ε, relative to the norm of an example's embeddings."""
    examples: int = Field(256, ge=1)
    """Number of training examples to attack."""
    steps: int = Field(3, ge=1)
    """Steps of PGD, K."""
    alpha_share: float = Field(1.0, gt=0)
    """Length of a step in units of ε / K; above 1, it projects."""
    rise: float = Field(0.5, gt=0)
    """How much higher the loss may be under attack, in nats a row."""

    def compute(self, systems: Sequence[System]) -> list[Attack]:
        """Return the results."""
        results = []
        for system in systems:
            strengths = self.strengths(system.run)
            results.append(Attack(system.name, strengths, choose(strengths, self.rise)))
        return results

    def strengths(self, run: Run) -> tuple[Strength, ...]:
        """Return the strength of PGD at each radius, on training examples of a finished run.

        A sample of them, the same for all radii, without dropout. UserError for a task whose words
        cannot be perturbed.
        """
        import torch

        from augury.training.trained import load_weights

        model = find_task(run.experiment.task).learner(run)
        if not isinstance(model, PerturbableModel):
            raise UserError(
                f"task {run.experiment.task} does not let word embeddings be perturbed: give a run "
                "of nli or nmt"
            )
        load_weights(run.folder, model.module)
        rows = generator("attack", run.seed).permutation(model.group_rows[0])[: self.examples]
        batches = [
            model.load(part, 1, torch.device("cpu")).batch
            for part in np.array_split(np.sort(rows), -(-len(rows) // BATCH))
        ]
        measured = []
        for radius in sorted(self.radii):
            regime = Adversarial(
                epsilon=radius,
                relative=True,
                steps=self.steps,
                alpha_share=self.alpha_share,
                label_smoothing=0.0,
            )
            sums: dict[str, float] = defaultdict(float)
            count = 0.0
            for batch in batches:
                losses = regime.loss(model, batch, Progress(0))
                count += float(losses.rows)
                for name in ("nll_before", "nll", "perturbation", "projected_steps"):
                    sums[name] += float(losses.metrics[name])
            measured.append(Strength(radius, *(total / count for total in sums.values())))
        return tuple(measured)

    def answer(self, results: Sequence[Attack], systems: Sequence[System]) -> str:
        """Return the radius at which the loss rises by what is allowed."""
        rise, said = f"{self.rise:g} nats", []
        for result in results:
            if result.epsilon is None:
                text = f"the smallest radius raises the loss by more than {rise}: give smaller "
                text += "radii (--set attack.radii=[...]), or a larger attack.rise"
            elif result.epsilon == result.radii[-1].epsilon:
                text = f"no radius raises the loss by more than {rise}: give larger ones "
                text += "(--set attack.radii=[...])"
            else:
                text = f"the loss rises by {rise} at ε = {result.epsilon:.2g}: regime: "
                text += f"{{name: adversarial, relative: true, epsilon: {result.epsilon:.2g}, "
                text += f"alpha_share: {self.alpha_share:g}, steps: {self.steps}}}"
            said.append(f"{result.system}: {text}")
        return "\n".join(said)

    def sections(self, results: Sequence[Attack], systems: Sequence[System]) -> list[Section]:
        """Return the losses by radius."""
        rows = [
            {
                "system, ε relative": f"{result.system}, {strength.epsilon:g}",
                "clean loss": cell(strength.clean, ".3f"),
                "attacked loss": cell(strength.attacked, ".3f"),
                "rise": cell(strength.rise, "+.3f"),
                "‖r‖ / ‖embeddings‖": cell(strength.perturbation, ".2%"),
                "steps projected": cell(strength.projected_steps, ".0%"),
            }
            for result in results
            for strength in result.radii
        ]
        note = "Of training examples, without dropout; the loss in nats a row."
        return [section("Loss by radius", records(rows, title="Loss by radius", notes=(note,)))]


ANALYSIS = AttackAnalysis

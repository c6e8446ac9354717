"""The strength of an attack on a trained model: loss on clean and on perturbed embeddings, by
radius, from which the radius of adversarial training is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field

from augury.analysis.analysis import Analysis, result_table
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.rng import generator
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.regimes.adversarial import Adversarial
from augury.regimes.regime import PerturbableModel, Progress
from augury.reporting.numbers import number
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns

RADII = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
BATCH = 32
METRICS = ["nll_before", "nll", "perturbation", "projected_steps"]
"""What the regime measures: the losses without and at the last perturbation, the norm of this
relative to that of the embeddings, and the share of steps projected onto the ball of the radius."""


COLUMNS: Columns = {
    "clean loss": ("nll_before", "exact"),
    "attacked loss": ("nll", "exact"),
    "rise": ("rise", "exact"),
    "‖r‖ / ‖embeddings‖": ("perturbation", "share"),
    "steps projected": ("projected_steps", "share"),
}


def choose(radii: Sequence[float], rises: Sequence[float], rise: float) -> float:
    """Return the radius at which the loss rises by `rise`, log-linear between those measured, the
    smallest first; at most the largest, at least the smallest."""
    return float(np.exp(np.interp(rise, np.maximum.accumulate(rises), np.log(radii))))


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

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return the strength of the attack on every system at each radius, the smallest first."""
        results = []
        for system in systems:
            results.append(self.strengths(system.run).assign(system=system.name))
        return pd.concat(results, ignore_index=True)

    def strengths(self, run: Run) -> pd.DataFrame:
        """Return the strength of PGD at each radius, on training examples of a finished run.

        A sample of them, the same for all radii, without dropout. Columns: the radius, `epsilon`;
        METRICS, in means over rows; the `rise` of the loss. UserError for a task whose words cannot
        be perturbed.
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
            sums, count = pd.Series(0.0, METRICS), 0.0
            for batch in batches:
                losses = regime.loss(model, batch, Progress(0))
                count += float(losses.rows)
                sums += [float(losses.metrics[name]) for name in METRICS]
            measured.append({"epsilon": radius, **(sums / count)})
        strengths = pd.DataFrame(measured)
        return strengths.assign(rise=strengths["nll"] - strengths["nll_before"])

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return the radius at which the loss rises by what is allowed."""
        rise, said = f"{self.rise:g} nats", []
        for name, of_system in results.groupby("system", sort=False):
            radii, rises = of_system["epsilon"].tolist(), of_system["rise"].tolist()
            epsilon, larger = choose(radii, rises, self.rise), f"more than {rise}"
            if rises[0] > self.rise:
                text = f"the smallest radius raises the loss by {larger}: give smaller radii "
                text += "(--set attack.radii=[...]), or a larger attack.rise"
            elif max(rises) < self.rise:
                text = f"no radius raises the loss by {larger}: give larger ones "
                text += "(--set attack.radii=[...])"
            else:
                radius = number(epsilon, "count")
                text = f"the loss rises by {rise} at ε = {radius}: regime: "
                text += f"{{name: adversarial, relative: true, epsilon: {radius}, "
                text += f"alpha_share: {self.alpha_share:g}, steps: {self.steps}}}"
            said.append(f"{name}: {text}")
        return "\n".join(said)

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the losses by radius."""
        note, title = "Of training examples, without dropout; the loss in nats a row.", "Loss by ε"
        shown = result_table(results, COLUMNS, ("system", "epsilon"), title=title, notes=(note,))
        return [section(title, shown)]


ANALYSIS = AttackAnalysis

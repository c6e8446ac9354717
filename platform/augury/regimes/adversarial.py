"""Adversarial training on word embeddings: fast gradient method and projected gradient descent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.errors import UserError
from augury.regimes.regime import (
    SOURCE,
    TARGET,
    Losses,
    PerturbableModel,
    Progress,
    ViewGroup,
    ViewModel,
    WarmupRegime,
    cross_entropy,
)

if TYPE_CHECKING:
    from torch import Tensor, nn


class Adversarial(WarmupRegime):
    """Cross-entropy at adversarially perturbed embeddings (Dong et al. 2021, equations 1 to 4).

    It is averaged over rows. Starting from zero, each of K steps moves the perturbation r of an
    example's words by α along the normalised gradient of the loss, and projects it onto the ball of
    radius ε. The model is then trained at r_K. Each view is an example of its own.
    """

    name: Literal["adversarial"] = "adversarial"
    attack: Literal["pgd", "fgm"] = "pgd"
    """pgd: K steps of length α within radius ε (Madry et al. 2018); fgm: one step of length ε
    (Miyato et al. 2017)."""
    epsilon: float | None = Field(None, gt=0)
    """Maximum norm of the perturbation (ε).

    None for no projection (equivalent to the paper, where ε is K·α).
    """
    alpha: float = Field(1.0, gt=0)
    """Step size of pgd (α)."""
    alpha_share: float | None = Field(None, gt=0)
    """Step size in units of ε/K, instead of alpha; above 1, the projection takes effect."""
    steps: int = Field(3, ge=1, le=1000)
    """Number of steps of pgd (K)."""
    relative: bool = False
    """Whether epsilon and alpha are relative to the norm of the example's embeddings."""
    clean_weight: float = Field(0.0, ge=0)
    """Weight of the loss without perturbation, added to the loss at r_K."""
    warmup_steps: int = Field(0, ge=0)
    """Optimizer steps before the attack starts (the paper: 0); a randomly initialised model or head
    learns little under attack."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"epsilon": 3.0, "alpha": 1.0, "steps": 3},
        "fgm": {"attack": "fgm", "epsilon": 3.0},
    }

    @model_validator(mode="after")
    def _consistent(self) -> Adversarial:
        if self.epsilon is None and (self.attack == "fgm" or self.alpha_share is not None):
            raise UserError(
                "attack fgm makes a step of epsilon, and alpha_share is a share of epsilon / "
                "steps: set epsilon; the paper uses 3"
            )
        return self

    def inactive(self) -> dict[str, str]:
        unused = super().inactive()
        if self.attack == "fgm":
            reason = "fgm takes one step of length epsilon"
            return unused | dict.fromkeys(("alpha", "alpha_share", "steps"), reason)
        if self.alpha_share is not None:
            return unused | {"alpha": "alpha_share sets the step size"}
        farthest = self.steps * self.alpha
        if self.epsilon is not None and farthest <= self.epsilon * (1 + 1e-9):
            reason = f"{self.steps} steps of {self.alpha:g} cannot exceed it: nothing is projected"
            return unused | {"epsilon": reason}
        return unused

    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        return [ViewGroup((view,), TARGET) for view in (SOURCE, *views)]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        if not isinstance(model, PerturbableModel):
            raise UserError(
                "regime adversarial perturbs word embeddings, which the model of this task does "
                "not support: use regime plain"
            )
        if self.in_warmup(progress):
            return super().loss(model, batch, progress)
        with _frozen(model.module):
            perturbation, metrics = self._attack(model, batch)
        losses = cross_entropy(model.rows(batch, [0], perturbation), self.label_smoothing)
        total = losses.total
        if self.clean_weight:
            total = total + self.clean_weight * super().loss(model, batch, progress).total
        return losses._replace(total=total, metrics={**losses.metrics, **metrics})

    def _attack(self, model: PerturbableModel, batch: Any) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the perturbation r_K, (examples, length, size), zero at pads, and the metrics of
        the attack.

        Metrics are the loss at r_0, ‖r_K‖ / ‖embeddings‖ and the share of steps of an example that
        a projection changed. Means over examples are multiplied by the number of rows, since
        metrics are divided by it.
        """
        import torch  # which takes seconds

        embedded = model.embedded(batch, 0)
        pads = ~embedded.mask.unsqueeze(-1)
        words = embedded.embeddings.float().masked_fill(pads, 0)
        norms = norm(words)
        unit = norms if self.relative else 1.0
        values = torch.zeros_like(words)
        projected_steps = words.new_zeros(())
        steps = 1 if self.attack == "fgm" else self.steps
        for number in range(steps):
            values.requires_grad_()
            rows = model.rows(batch, [0], values.masked_fill(pads, 0))
            losses = cross_entropy(rows, self.label_smoothing)
            (gradient,) = torch.autograd.grad(losses.total, values)
            values = step(values.detach(), gradient, self.step_length * unit)
            if self.epsilon is not None:
                values, changed = project(values, self.epsilon * unit)
                projected_steps = projected_steps + changed.float().mean() / steps
            if number == 0:
                before = losses.metrics["nll"]
        metrics = {
            "nll_before": before,
            "perturbation": (norm(values) / norms).mean() * losses.rows,
            "projected_steps": projected_steps * losses.rows,
        }
        return values, metrics

    @property
    def relative_cost(self) -> float:
        return 1.0 + (1 if self.attack == "fgm" else self.steps) + (self.clean_weight > 0)

    @property
    def step_length(self) -> float:
        """The step size (α)."""
        if self.epsilon is not None and self.attack == "fgm":
            return self.epsilon
        if self.epsilon is not None and self.alpha_share is not None:
            return self.alpha_share * self.epsilon / self.steps
        return self.alpha


ROUNDING = 1e-5
"""Relative tolerance of a radius, so that K steps in one direction with K·α = ε are not
projected."""


def norm(values: Tensor) -> Tensor:
    """Return the Euclidean norms of the examples of values (examples, length, size), in their
    shape (examples, 1, 1)."""
    return values.norm(dim=(1, 2), keepdim=True)


def step(values: Tensor, gradient: Tensor, length: float | Tensor) -> Tensor:
    """Return values + length · gradient / ‖gradient‖.

    There is no step where the norm is zero or not finite.
    """
    norms = norm(gradient)
    usable = norms.isfinite() & (norms > 0)
    return values + length * (gradient / norms).where(usable, 0)


def project(values: Tensor, radius: float | Tensor) -> tuple[Tensor, Tensor]:
    """Return values projected onto a ball, and which examples changed, (examples, 1, 1)."""
    norms = norm(values)
    beyond = norms > radius * (1 + ROUNDING)
    return (values * (radius / norms)).where(beyond, values), beyond


@contextmanager
def _frozen(module: nn.Module) -> Iterator[None]:
    """Freeze the parameters of a model, which saves the time for their gradients."""
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    try:
        for parameter in trained:
            parameter.requires_grad_(False)
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_()


REGIME = Adversarial

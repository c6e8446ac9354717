"""Co-regularised training: cross-entropy of two views and their divergence.

CipherDAug (equations 3 to 5) and R-Drop are special cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.errors import UserError
from augury.regimes.regime import (
    SOURCE,
    TARGET,
    Losses,
    Progress,
    ViewGroup,
    ViewModel,
    WarmupRegime,
    cross_entropy,
    no_views,
)


class CoRegularised(WarmupRegime):
    """α1·CE(plain) + α2·CE(view) + β·divergence(plain, view), divided by `norm` × targets.

    Targets are tokens or, of a classifier, examples.

    The view is one that an operator makes or, with `over: identity`, the plain source under another
    dropout mask. Each epoch pairs an example with one of its K views, and K epochs with all of
    them.
    """

    name: Literal["coregularised"] = "coregularised"
    over: Literal["ciphers", "identity"] = "ciphers"
    """View that is paired with the plain source (Kambhatla et al. 2022); `identity` is R-Drop
    (Liang et al. 2021)."""
    alpha1: float = Field(1.0, ge=0)
    """Weight of the plain source's cross-entropy (α1)."""
    alpha2: float = Field(1.0, ge=0)
    """Weight of the other view's cross-entropy (α2)."""
    beta: float = Field(5.0, ge=0)
    """Weight of the divergence (β)."""
    tau: float = Field(1.0, gt=0)
    """Temperature of the first argument of the divergence (τ)."""
    norm: float = Field(2.0, gt=0)
    """Divisor per target token: 2 in CipherDAug's released code, 1 in R-Drop's and in both papers'
    equations. It scales the whole loss, to which Adam's steps are invariant, so that it matters to
    clip_norm and adam_eps only."""
    warmup_steps: int = Field(2000, ge=0)
    """Optimizer steps before the divergence is added."""
    ramp_epochs: float = Field(0.0, ge=0)
    """Epochs after warmup_epochs during which the weight of the divergence rises linearly to
    beta."""
    warmup_views: Literal["both", "cipher"] = "both"
    """Views trained during the warm-up: both (the paper), or the enciphered view only, under plain
    cross-entropy without `norm` and `smoothing` (the released code)."""
    smoothing: Literal["others", "uniform"] = "others"
    """Distribution of the smoothed mass: over the other classes, ε/(V-1) (fairseq), or all, ε/V
    (R-Drop's code)."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {},
        "low_resource": {"beta": 1.0, "warmup_epochs": 10},
        "released_code": {"warmup_steps": 500, "warmup_views": "cipher"},
        "r_drop": {"over": "identity", "norm": 1.0, "warmup_epochs": 0, "smoothing": "uniform"},
    }

    @model_validator(mode="after")
    def _consistent(self) -> CoRegularised:
        if self.ramp_epochs and self.warmup_epochs is None:
            raise UserError(
                f"ramp_epochs={self.ramp_epochs:g} follows warmup_epochs, which is not set: set "
                "it, or ramp_epochs=0"
            )
        return self

    def inactive(self) -> dict[str, str]:
        if self.beta > 0:
            return super().inactive()
        warmup = ["warmup_steps", "warmup_epochs"] if self.warmup_views == "both" else []
        unused = ["tau", "ramp_epochs", *warmup]
        return super().inactive() | dict.fromkeys(unused, "beta=0 disables the divergence")

    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        if self.over == "identity":
            return [ViewGroup((SOURCE, SOURCE), TARGET)]
        if not views:
            raise no_views(self.name, "or set regime.over=identity for R-Drop")
        return [ViewGroup((SOURCE, view), TARGET) for view in views]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        from augury.regimes.objective import view_objective  # imports torch, which takes seconds

        if self.in_warmup(progress) and self.warmup_views == "cipher":
            return cross_entropy(model.rows(batch, [1]), self.label_smoothing)
        rows = model.rows(batch, [0, 1])
        terms = view_objective(
            *rows,
            weights=[self.alpha1, self.alpha2],
            label_smoothing=self.label_smoothing,
            smoothing_excludes_target=self.smoothing == "others",
            beta=self.beta_at(progress),
            tau=self.tau,
        )
        count = rows.labels.numel()
        metrics = {
            "nll": terms.nll[0],
            "nll_view": terms.nll[1],
            "divergence": terms.divergence,
            "correct": terms.correct[0],
        }
        return Losses(terms.total, self.norm * count, count, metrics)

    def beta_at(self, progress: Progress) -> float:
        """Return the weight of the divergence: 0 during the warm-up, then the ramp, then beta."""
        if self.in_warmup(progress):
            return 0.0
        if self.ramp_epochs == 0 or self.warmup_epochs is None:
            return self.beta
        return self.beta * min(1.0, (progress.epochs - self.warmup_epochs) / self.ramp_epochs)

    def onset(self, updates_per_epoch: float) -> float:
        if not self.beta:
            return 0
        return super().onset(updates_per_epoch) + self.ramp_epochs * updates_per_epoch


REGIME = CoRegularised

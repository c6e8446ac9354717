"""Co-regularised training: two views of an example must agree (CipherDAug, equations 3 to 5; R-Drop)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury import regimes
from augury.core.citations import CIPHERDAUG, R_DROP, Paper
from augury.core.errors import UserError
from augury.core.mutability import MUTABLE
from augury.regimes.agreement import Agreement, Detach, Divergence
from augury.regimes.regime import SOURCE, TARGET, VIEWS, Delayed, Draw, Losses, Progress, ViewModel


class CoRegularised(Delayed):
    """α1·CE(plain) + α2·CE(view) + β·divergence(plain, view), divided by `norm` × target tokens.

    The view is the source under each cipher key in turn, or (`over: identity`) the same source under another dropout
    mask. A pass reads every example once, with one of the keys; over K passes it is read with each of them once.
    """

    name: Literal["coregularised"] = "coregularised"
    over: Annotated[Literal["ciphers", "identity"], VIEWS] = "ciphers"
    """Which view is read beside the plain source; `identity` is R-Drop."""
    alpha1: Annotated[float, MUTABLE] = Field(1.0, ge=0)
    """Weight of the plain source's cross-entropy (α1)."""
    alpha2: Annotated[float, MUTABLE] = Field(1.0, ge=0)
    """Weight of the other view's cross-entropy (α2)."""
    beta: Annotated[float, MUTABLE] = Field(5.0, ge=0)
    """Weight of the divergence (β)."""
    tau: Annotated[float, MUTABLE] = Field(1.0, gt=0)
    """Temperature that flattens the first argument of each divergence (τ)."""
    divergence: Annotated[Divergence, MUTABLE] = "symmetric_kl"
    """symmetric_kl (the paper), js, or kl (plain source as the reference)."""
    detach: Annotated[Detach, MUTABLE] = "none"
    """`target` stops the gradient through the flattened argument."""
    norm: Annotated[float, MUTABLE] = Field(2.0, gt=0)
    """The divisor per target token: 2 in CipherDAug's released code, 1 in R-Drop's and in both papers' equations. It
    scales the whole loss, which Adam's steps do not depend on: it matters to clip_norm and adam_eps alone."""
    warmup_steps: Annotated[int, MUTABLE] = Field(2000, ge=0)
    """Optimizer steps before the divergence acts."""
    ramp_passes: Annotated[float, MUTABLE] = Field(0.0, ge=0)
    """Passes after warmup_passes over which the divergence's weight rises linearly to beta; 0: at once."""
    warmup_views: Annotated[Literal["both", "cipher"], MUTABLE] = "both"
    """What is trained before that: both views (the paper's wording) or the view alone (released code)."""
    smoothing: Annotated[Literal["others", "uniform"], MUTABLE] = "others"
    """Smoothed mass over the other classes, ε/(V-1) (fairseq), or over all, ε/V (R-Drop's code)."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {},
        "low_resource": {"beta": 1.0, "warmup_passes": 10},
        "released_code": {"warmup_steps": 500, "warmup_views": "cipher"},
        "r_drop": {"over": "identity", "norm": 1.0, "warmup_passes": 0, "smoothing": "uniform"},
    }

    @model_validator(mode="after")
    def _consistent(self) -> CoRegularised:
        if self.ramp_passes and self.warmup_passes is None:
            raise UserError(
                f"ramp_passes={self.ramp_passes:g} begins after warmup_passes, and there are none: set warmup_passes"
            )
        if self.divergence == "js" and (self.tau != 1 or self.detach == "target"):
            raise UserError("divergence js takes neither tau nor detach: set tau=1 and detach=none, or symmetric_kl")
        return self

    def inactive(self) -> dict[str, str]:
        if self.beta > 0:
            return super().inactive()
        warmup = ["warmup_steps", "warmup_passes"] if self.warmup_views == "both" else []
        unused = ["tau", "divergence", "detach", "ramp_passes", *warmup]
        return super().inactive() | dict.fromkeys(unused, "the divergence has the weight beta=0")

    def papers(self) -> tuple[Paper, ...]:
        return (R_DROP,) if self.over == "identity" else (CIPHERDAUG,)

    def draws(self, keys: Sequence[str]) -> list[Draw]:
        if self.over == "identity":
            return [Draw((SOURCE, SOURCE), TARGET)]
        if not keys:
            raise UserError(
                "regime coregularised reads views and there are none: add an operator that makes them to augment, as "
                "{operator: cipher, keys: [1, 2]} or {operator: bpe_dropout, use: view} on translation, or on sentence "
                "pairs {operator: eda, use: view} (reorder and draws have use: view too), or set "
                "regime.over=identity for R-Drop"
            )
        return [Draw((SOURCE, key), TARGET) for key in keys]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        if self.warming(progress) and self.warmup_views == "cipher":
            return regimes.cross_entropy(model.rows(batch, [1]), self.label_smoothing)
        rows = model.rows(batch, [0, 1])
        beta = self.beta_at(progress)
        terms = regimes.view_objective(
            rows.hidden,
            rows.weight,
            rows.bias,
            rows.labels,
            weights=[self.alpha1, self.alpha2],
            label_smoothing=self.label_smoothing,
            smoothing_excludes_target=self.smoothing == "others",
            agreement=Agreement(beta, self.tau, self.divergence, self.detach) if beta else None,
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
        """Return the weight of the divergence: 0 in the warm-up, then rising, then beta."""
        if self.warming(progress):
            return 0.0
        if self.ramp_passes == 0 or self.warmup_passes is None:
            return self.beta
        return self.beta * min(1.0, (progress.passes - self.warmup_passes) / self.ramp_passes)

    def onset(self, updates_per_pass: float) -> float:
        return super().onset(updates_per_pass) + self.ramp_passes * updates_per_pass if self.beta else 0


REGIME = CoRegularised

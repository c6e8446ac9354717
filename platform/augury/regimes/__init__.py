"""Training regimes: how the views of an example are combined in a loss; one module per regime.

Settings are parsed without importing torch: modules that compute with tensors are imported with the
first loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from augury.core.lazy import lazy_getattr

if TYPE_CHECKING:
    from augury.regimes.objective import cross_entropy as cross_entropy
    from augury.regimes.objective import view_objective as view_objective
    from augury.regimes.perturbation import PerturbationSpace as PerturbationSpace
    from augury.regimes.perturbation import in_bf16 as in_bf16

__getattr__ = lazy_getattr(
    __name__,
    {
        "PerturbationSpace": "perturbation",
        "cross_entropy": "objective",
        "in_bf16": "perturbation",
        "view_objective": "objective",
    },
)

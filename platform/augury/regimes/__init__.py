"""Regimes: how the losses over the views of an example combine; one file per regime, found by its name.

A regime's settings are read without torch: code that computes with tensors is imported with the first loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from augury.core.lazy import lazy_getattr

if TYPE_CHECKING:
    from augury.regimes.objective import cross_entropy as cross_entropy
    from augury.regimes.objective import view_objective as view_objective
    from augury.regimes.perturbation import Space as Space

__getattr__ = lazy_getattr(
    __name__, {"Space": "perturbation", "cross_entropy": "objective", "view_objective": "objective"}
)

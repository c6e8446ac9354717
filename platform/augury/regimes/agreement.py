"""The divergence between the views of an example, and its parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from augury.core.errors import UserError, unknown

Divergence = Literal["symmetric_kl", "js", "kl"]
Detach = Literal["none", "target"]


@dataclass(frozen=True)
class Agreement:
    """Weight and type of the divergence between the first view, the anchor, and each other view.

    With p the anchor, q another view and flat(softmax(z)) = softmax(z / tau),
        symmetric_kl = (KL(flat(p) || q) + KL(flat(q) || p)) / 2
            (CipherDAug, equations 4 and 5; R-Drop),
        kl = KL(flat(p) || q),
        js = (KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2.
    Only the first argument of a KL is flattened, without a factor tau^2; `detach="target"` stops
    its gradient. `js` supports neither: a temperature on one side has no established meaning, and
    its gradient flows through the first arguments only. Raises UserError for any other value.
    """

    beta: float
    tau: float = 1.0
    divergence: Divergence = "symmetric_kl"
    detach: Detach = "none"

    def __post_init__(self) -> None:
        if self.divergence not in get_args(Divergence):
            raise unknown("divergence", self.divergence, get_args(Divergence))
        if self.detach not in get_args(Detach):
            raise unknown("detach", self.detach, get_args(Detach))
        if not (math.isfinite(self.beta) and self.beta >= 0):
            raise UserError(f"beta is {self.beta}: the weight of the divergence must be 0 or more")
        if not (math.isfinite(self.tau) and self.tau > 0):
            raise UserError(
                f"tau is {self.tau}: the temperature must be more than 0; use 1 for none"
            )
        if self.divergence == "js" and self.tau != 1:
            raise UserError(
                f"tau is {self.tau}: divergence js has no temperature; set tau=1 or use "
                "symmetric_kl"
            )
        if self.divergence == "js" and self.detach == "target":
            raise UserError(
                "detach is target: divergence js would have no gradient; use none, or symmetric_kl"
            )

"""RAML: subwords of the target are replaced in labels and decoder input (Norouzi et al. 2016)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from augury.augment.switch_out import PieceDraw


class Raml(PieceDraw):
    """Replace random subwords of the target, in labels and decoder input (Norouzi et al. 2016).

    Together with `switch_out` or `word_drop`, the two sides change independently.
    """

    operator: Literal["raml"] = "raml"
    side: Literal["target"] = "target"
    """Only the target; `switch_out` changes the source."""
    use: Literal["text"] = "text"
    """A target cannot be a view."""
    tau: float = Field(0.95, gt=0)
    """λ, as that of `switch_out`: the larger, the fewer tokens change."""


OPERATOR = Raml

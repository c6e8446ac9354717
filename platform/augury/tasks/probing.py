"""Whether a model of `transformers` is read here as it reads itself."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TOLERANCE = 1e-3
"""Between two ways to the same logits, relative to the largest."""


def unlike(logits: Callable[[], Tensor], expected: Callable[[], Tensor]) -> str:
    """Return how logits are not the expected ones, or why they cannot be computed.

    Nothing where they are.
    """
    try:
        ours, right = logits(), expected()
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    near = torch.allclose(ours, right, rtol=0, atol=TOLERANCE * float(right.abs().max()))
    return "" if near else "the logits differ"

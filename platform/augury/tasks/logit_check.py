"""A check that a model of `transformers` gives the same logits here as by its forward pass."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TOLERANCE = 1e-3
"""The largest difference between two computations of the same logits, relative to the largest."""


def mismatch(logits: Callable[[], Tensor], expected: Callable[[], Tensor]) -> str:
    """Return why logits are not as expected or cannot be computed; empty where they agree."""
    try:
        ours, theirs = logits(), expected()
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    tolerance = TOLERANCE * float(theirs.abs().max())
    return "" if torch.allclose(ours, theirs, rtol=0, atol=tolerance) else "the logits differ"

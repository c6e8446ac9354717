"""Dropout on a CPU, with masks from a stream of random bits.

torch draws a number of the Mersenne twister for every element, which is a sixth of a training step
on a CPU; here 16 bits of SFC64 are compared with a threshold, at a tenth of that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

LEVELS = 2**16


class Dropout(TorchFunctionMode):
    """A context in which `functional.dropout` takes its masks from the stream of a seed.

    That is the dropout of modules too, whoever wrote them. Rates are rounded to 1/65,536 and
    results scaled by the rounded rate. A mask depends on the seed and on the calls before it, not
    on the number of threads; entered again, the stream goes on.
    """

    def __init__(self, seed: int):
        super().__init__()
        self._stream = np.random.SFC64(seed)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        called = self._dropout if function is functional.dropout else function
        return called(*args, **(kwargs or {}))

    def _dropout(
        self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        if not training or p == 0:
            return input
        count = input.numel()
        bits = self._stream.random_raw(-(-count // 4)).view(np.uint16)[:count]
        dropped = min(round(p * LEVELS), LEVELS - 1)
        # Whole bytes become floats much faster than truth values do.
        kept = torch.from_numpy((bits >= dropped).view(np.uint8)).view(input.shape)
        return input * kept.to(input.dtype).mul_(LEVELS / (LEVELS - dropped))

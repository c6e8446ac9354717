"""Reads of tensors by the host, for which it would wait for a GPU."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

READS = (
    torch.ops.aten._local_scalar_dense.default,  # item, float, bool
    torch.ops.aten.nonzero.default,
    torch.ops.aten.masked_select.default,
)


class NoReads(TorchDispatchMode):
    """Raises where the host reads a number of a tensor, or how many of its elements are true."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        assert function not in READS and not _by_mask(function, args), "reads a tensor"
        return function(*args, **(kwargs or {}))


def _by_mask(function: Any, args: Any) -> bool:
    """Whether elements are chosen by a mask, whose number is not known to the host."""
    if function is not torch.ops.aten.index.Tensor:
        return False
    return any(index is not None and index.dtype == torch.bool for index in args[1])

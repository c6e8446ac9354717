"""Compiled layers, for GPUs: a layer's kernels are fused, once for batches of most shapes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch._dynamo
from torch import nn

RECOMPILE_LIMIT = 64
"""Variants of a layer: torch's own limit of 8 is reached by encoder and decoder in training,
evaluation and attack, for sizes of 1 and above."""


def compile_layers(module: nn.Module, backend: str = "inductor") -> None:
    """Let `torch.compile` translate every layer of a model at its first call, in place.

    Layers, which a model keeps in lists, are compiled one by one: equal ones share their code, so
    that the time to compile does not grow with depth. Sizes above 1 are symbols of it, so that
    batches of other shapes need no other code; a size of 1, evaluation, and an attack do.
    """
    torch._dynamo.config.recompile_limit = max(
        RECOMPILE_LIMIT, torch._dynamo.config.recompile_limit
    )
    for layer in _layers(module):
        layer.compile(dynamic=True, backend=backend)


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of a model, and not the parts of a layer that are in lists themselves."""
    for child in module.children():
        if isinstance(child, nn.ModuleList):
            yield from child
        else:
            yield from _layers(child)

"""Compiled layers, for GPUs: a layer's kernels are fused, once for batches of all shapes."""

from __future__ import annotations

from torch import nn


def compile_layers(module: nn.Module, backend: str = "inductor") -> None:
    """Let `torch.compile` translate every layer of a model at its first call, in place.

    Layers, which a model keeps in lists, are compiled one by one: equal ones share their code, so
    that the time to compile does not grow with depth. Sizes are symbols of it, so that batches of
    other shapes need no other code.
    """
    for part in module.modules():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.compile(dynamic=True, backend=backend)

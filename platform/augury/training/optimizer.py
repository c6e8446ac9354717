"""The optimizer: Adam, or AdamW with weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from augury.training.settings import Training


def adam(parameters: Sequence[nn.Parameter], training: Training) -> torch.optim.Optimizer:
    """Return Adam over parameters, with the weight decay of the settings."""
    kind = torch.optim.AdamW if training.weight_decay else torch.optim.Adam
    return kind(
        _groups(parameters, training),
        lr=training.learning_rate,
        betas=training.adam_betas,
        eps=training.adam_eps,
        fused=True,
    )


def _groups(parameters: Sequence[nn.Parameter], training: Training) -> list[dict[str, Any]]:
    if not training.weight_decay or training.decayed == "all":
        return [{"params": list(parameters), "weight_decay": training.weight_decay}]
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": training.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]

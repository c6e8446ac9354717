"""The files of a finished training in a run's folder: its outcome and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from augury.core.errors import UserError
from augury.core.store import Folder

if TYPE_CHECKING:
    from torch import nn

WEIGHTS, OUTCOME = "weights.safetensors", "outcome.json"
"""The files that training writes to the run's folder when it ends."""
M = TypeVar("M", bound="nn.Module")


def load_weights(run: Folder, model: M) -> M:
    """Return `model` with the weights that the run reports on, dropout off.

    UserError where training has not ended.
    """
    from augury.training.checkpoint import load_parameters

    if not run.exists(WEIGHTS):
        raise UserError(
            f"{run.uri} has not finished training: run `augury train` again, it continues"
        )
    load_parameters(model, run.local() / WEIGHTS)
    return model.eval()

"""A run that has been trained: what it was prepared from, and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from augury.errors import UserError
from augury.store import Folder

if TYPE_CHECKING:
    from torch import nn

WEIGHTS, OUTCOME = "weights.safetensors", "outcome.json"
"""What training leaves in the run's folder when it ends."""
M = TypeVar("M", bound="nn.Module")


def described(run: Folder) -> dict[str, Any]:
    """`Prepared.config` of a run; UserError where the folder is none."""
    if not run.exists("prepared.json"):
        raise UserError(f"{run.uri} is not a run: give the folder of a seed, as `augury train` prints it")
    config: dict[str, Any] = run.read_json("prepared.json")
    return config


def load_weights(run: Folder, model: M) -> M:
    """Return `model` with the weights that the run reports on, dropout off; UserError where training has not ended."""
    from augury.training.checkpoint import load_parameters

    if not run.exists(WEIGHTS):
        raise UserError(f"{run.uri} has not finished training: run `augury train` again, it continues")
    load_parameters(model, run.local() / WEIGHTS)
    return model.eval()

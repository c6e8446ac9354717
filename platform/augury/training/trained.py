"""A run that has been trained: what it was prepared from, and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from augury.errors import UserError
from augury.store import Folder

if TYPE_CHECKING:
    from torch import nn

AVERAGED, OUTCOME = "averaged.safetensors", "outcome.json"
"""What training leaves in the run's folder when it ends."""
M = TypeVar("M", bound="nn.Module")


def described(run: Folder) -> dict[str, Any]:
    """`Prepared.config` of a run; UserError where the folder is none."""
    if not run.exists("prepared.json"):
        raise UserError(f"{run.uri} is not a run: give the folder of a seed, as `augury train` prints it")
    config: dict[str, Any] = run.read_json("prepared.json")
    return config


def averaged(run: Folder, model: M) -> M:
    """`model` with the parameters that training ended with, dropout off; UserError where it has not ended."""
    from augury.training.checkpoint import load_parameters

    if not run.exists(AVERAGED):
        raise UserError(f"{run.uri} has not finished training: run `augury train` again, it continues")
    load_parameters(model, run.local() / AVERAGED)
    return model.eval()

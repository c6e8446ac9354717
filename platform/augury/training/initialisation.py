"""Initialisation of a stage of training from the stage before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.training.trained import Outcome, load_weights

if TYPE_CHECKING:
    import torch
    from torch import nn

Carry = Literal["weights", "optimizer"]
"""What a stage takes over from the stage before: its reported weights, or also its optimizer and
step."""


class Initialisation(NamedTuple):
    """A finished run, and the state that training takes over from it."""

    run: Folder
    carry: Carry

    def load(self, module: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Initialise module and optimizer; return the step at which the schedule continues.

        The optimizer's state is that of the checkpoint with the weights, or of the last checkpoint
        in their mean; learning rate, betas and decay are those of `optimizer`. Raises UserError
        where the run has not ended, or has no such state.
        """
        load_weights(self.run, module)
        if self.carry == "weights":
            return 0
        from augury.training.checkpoint import Checkpoints

        update = max(Outcome.read(self.run).weights.updates)
        position, state = Checkpoints(self.run).state(update)
        groups = optimizer.state_dict()["param_groups"]
        if _group_sizes(groups) != _group_sizes(state["param_groups"]):
            raise UserError(
                f"{self.run.uri} was trained by another kind of optimizer (weight_decay decides): "
                "carry weights alone"
            )
        optimizer.load_state_dict({**state, "param_groups": groups})
        return position.start + position.update


def _group_sizes(groups: list[dict[str, list[int]]]) -> list[int]:
    return [len(group["params"]) for group in groups]

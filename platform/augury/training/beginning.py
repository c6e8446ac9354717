"""Initialisation of a stage of training from the stage before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.training.trained import OUTCOME, load_weights

if TYPE_CHECKING:
    import torch
    from torch import nn

Carry = Literal["weights", "optimizer"]
"""The state that a stage carries over: the weights that the stage before reports on, or also the
optimizer and the step of the schedule."""


class Beginning(NamedTuple):
    """A finished run, and what is taken over from it."""

    run: Folder
    carry: Carry

    def load(self, module: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Copy what is taken over into module and optimizer.

        Return the step after which the schedule goes on.

        The optimizer's state is that of the checkpoint that the weights come from, of several the
        last; its settings are those that it has been made with. UserError where the run has not
        ended, or has no such state.
        """
        load_weights(self.run, module)
        if self.carry == "weights":
            return 0
        from augury.training.checkpoint import Checkpoints

        update = max(self.run.read_json(OUTCOME)["weights"]["updates"])
        position, state = Checkpoints(self.run).state(update)
        settings = optimizer.state_dict()["param_groups"]
        if [len(group["params"]) for group in settings] != [
            len(group["params"]) for group in state["param_groups"]
        ]:
            raise UserError(
                f"{self.run.uri} was trained by another kind of optimizer (weight_decay decides): "
                "carry weights alone"
            )
        optimizer.load_state_dict({**state, "param_groups": settings})
        return position.start + position.update

"""A run as the loop sees it, and what a finished training leaves in its folder: its outcome and its
model, from which another training may start.

Imports no torch, so that stored runs are read quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from augury.core.config import typed
from augury.core.errors import UserError
from augury.core.integrity import Damaged
from augury.core.store import Folder

if TYPE_CHECKING:
    import torch
    from torch import nn

PREFIXES = "prefixes"
"""Kind of the folders that name the runs which differ only in their end."""
FAILURE = "failure.json"
"""The file of a run whose training failed: `kind` and `error`."""
WEIGHTS, OUTCOME = "weights.safetensors", "outcome.json"
"""The files that training writes to the run's folder when it ends."""
M = TypeVar("M", bound="nn.Module")
Carry = Literal["weights", "optimizer"]
"""What a stage takes over from the stage before: its reported weights, or also its optimizer and
step."""
OnValidation = Callable[[dict[str, float]], None]
"""Takes the metrics of a validation."""


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """The folder of a run, its seed, and the address of what determines it."""

    folder: Folder
    address: str
    seed: int
    prefix: str | None = None
    """The address of everything that determines training but its end, by which a longer run
    finds a shorter one."""


class Diverged(ArithmeticError):
    """A loss or a gradient is not finite.

    The message names the update, the records and the last good checkpoint.
    """


class Crashed(RuntimeError):
    """The workers of a run died more often than they may; its checkpoints are kept."""


@dataclass(frozen=True)
class ReportedWeights:
    """The weights that a run reports on."""

    kind: str
    """averaged, last or best."""
    updates: tuple[int, ...] = ()
    """The updates whose checkpoints they are the mean of."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Kind -> the validation score by which they were chosen."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one training came to, and what it took."""

    updates: int
    epochs: float
    onset: float
    """The number of updates after which the regime's loss acts in full."""
    rows: int
    """Target tokens, or examples, that were read."""
    train_seconds: float
    cpu_seconds: float | None = None
    """Processor time of all workers, over all threads; None where it was not measured."""
    best: float | None = None
    """The best validation that patience has seen."""
    stopped_by: str = ""
    """patience or schedule."""
    weights: ReportedWeights
    workers: int = 1
    device: str
    """`cpu`, or the name of the GPU."""
    processor: str | None = None
    parameters: int

    @property
    def device_hours(self) -> float:
        """The hours of all workers."""
        return self.train_seconds * self.workers / 3600

    @classmethod
    def read(cls, run: Folder) -> Outcome:
        """Return the outcome of a run whose training has ended."""
        return typed(cls, run.read_record(OUTCOME), run.location(OUTCOME))

    def write(self, run: Folder) -> None:
        """Write the outcome into a run's folder, with the checksum of the weights there."""
        files = [WEIGHTS] if run.exists(WEIGHTS) else []
        run.write_record(OUTCOME, asdict(self), files)


def load_weights(run: Folder, model: M) -> M:
    """Return `model` in evaluation mode with the weights that the run reports; UserError before its
    end, and where they are damaged."""
    from augury.training.checkpoint import load_parameters

    if not run.exists(WEIGHTS):
        raise UserError(
            f"{run.uri} is in training, or was interrupted: wait, or repeat the command that "
            "trains it, which continues"
        )
    if fault := run.damage(OUTCOME):
        raise Damaged(f"{fault}: remove {run.uri} and train it again")
    load_parameters(model, run.local(WEIGHTS, OUTCOME))
    return model.eval()


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
        groups, saved = optimizer.state_dict()["param_groups"], state["param_groups"]
        if [len(group["params"]) for group in groups] != [len(group["params"]) for group in saved]:
            raise UserError(
                f"{self.run.uri} was trained by another kind of optimizer (weight_decay decides): "
                "carry weights alone"
            )
        optimizer.load_state_dict({**state, "param_groups": groups})
        return position.start + position.update

"""The files of a finished training in a run's folder: its outcome and its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeVar

from augury.core.config import typed
from augury.core.errors import UserError
from augury.core.integrity import Damaged
from augury.core.store import Folder

if TYPE_CHECKING:
    from torch import nn

WEIGHTS, OUTCOME = "weights.safetensors", "outcome.json"
"""The files that training writes to the run's folder when it ends."""
M = TypeVar("M", bound="nn.Module")


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
            f"{run.uri} has not finished training: run `augury train` again, it continues"
        )
    try:
        run.vouched(OUTCOME, WEIGHTS)
    except Damaged as error:
        raise Damaged(f"{error}: remove {run.uri} and train it again") from error
    load_parameters(model, run.local(WEIGHTS))
    return model.eval()

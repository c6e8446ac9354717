"""How long a pass, the interval of validations and patience are in updates, before any text is
read."""

from __future__ import annotations

import math
from typing import NamedTuple

from augury.training.settings import Training


class TextSize(NamedTuple):
    """About how much a training text is."""

    rows: int
    tokens: float
    """Subwords of the longer side of a row, on average."""


class Pace(NamedTuple):
    """Numbers of updates; all are estimates but those that settings state."""

    batch: str
    """What an update reads at most."""
    updates_per_pass: int | None
    validate_every: int | None
    patience: int | None


def pace(training: Training, text: TextSize | None) -> Pace:
    """Return the pace of a training; what depends on an unknown text is None."""
    batches = training.workers * training.accumulation
    batch = f"{batches * training.max_tokens:,} tokens"
    if training.max_examples is not None:
        batch += f" or {batches * training.max_examples:,} examples"
    updates = None
    if text is not None:
        of_batch = min(training.max_tokens / text.tokens, training.max_examples or math.inf)
        updates = math.ceil(text.rows / (batches * of_batch))
    every = training.validate_every or (updates and training.validate_every_epochs * updates)
    return Pace(batch, updates, every, every and every * training.patience)

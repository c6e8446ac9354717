"""Runs that differ only in their end share their start: a longer one continues a shorter one.

Nothing before the end depends on the end, unless the learning rate does. So a run that is to be
longer takes over the checkpoints and the history of the shorter one that went farthest, and ends
with the parameters that it would have had from the start.
"""

from __future__ import annotations

from contextlib import suppress

import torch

from augury.core.directories import scratch
from augury.core.integrity import Damaged
from augury.core.messages import say
from augury.core.store import Folder, Store
from augury.training import history
from augury.training.checkpoint import STATE, Checkpoints, Position, best
from augury.training.schedule import Patience
from augury.training.settings import Training
from augury.training.trained import PREFIXES, TrainingRun


def take_over(run: TrainingRun, training: Training) -> None:
    """Start a new run with the state of the shorter one of its prefix and seed that went farthest,
    if there is one, and register it."""
    root = run.folder.root
    entries = Store(root).folder(PREFIXES, f"{run.prefix}/seed-{run.seed}")
    names = entries.names()
    if not Checkpoints(run.folder).begun:
        sources = []
        for entry in names:
            folder = Folder(root, entries.read(entry).decode())
            if entry != run.address and (position := _position(folder, training)):
                sources.append((folder, position))
        sources.sort(key=lambda source: source[1].update, reverse=True)
        for source, position in sources:
            if _copy(source, position, run):
                break
    if run.address not in names:
        entries.write(run.address, run.folder.name)


def _position(folder: Folder, training: Training) -> Position | None:
    """Return the last position of another run that a training of these settings would pass, with a
    validation there; None where there is none.

    At its end it would need the checkpoints of all last validations, and the other run may have
    dropped one of them for a later one.
    """
    checkpoints = Checkpoints(folder)
    with suppress(FileNotFoundError, Damaged):  # it may be training, and remove what is read
        for position in checkpoints.positions():
            if training.validates(position) and _passes(position, training, checkpoints):
                return position
    return None


def _passes(position: Position, training: Training, checkpoints: Checkpoints) -> bool:
    """Return whether a training of these settings goes on after a position and has the checkpoints
    until there."""
    begun = position.epochs + (position.in_epoch > 0)
    if training.max_epochs is not None and begun > training.max_epochs:
        return False
    if training.spent(position):
        return False
    patience = Patience(training.patience)
    for score in position.scores.values():
        patience.count(score)
        if patience.exhausted:
            return False
    # A later validation may have been better than one that is no longer kept; and of the mean,
    # in which at least one more comes, all have to be there.
    needed = {best(position.scores)} if training.weights in ("best", "chosen") else set[int]()
    if training.weights in ("averaged", "chosen") and training.average_last > 1:
        needed |= {*sorted(position.scores)[1 - training.average_last :]}
    return needed <= {*checkpoints.updates()}


def _copy(source: Folder, position: Position, run: TrainingRun) -> bool:
    """Copy history and checkpoints of another run to this run, until a position; return whether
    that succeeded.

    It fails where the other run is training and removes checkpoints meanwhile.
    """
    folder = run.folder
    with suppress(FileNotFoundError, Damaged):
        # Training drops the records after the position.
        folder.write(history.FILE, source.read(history.FILE, verified=False))
        for update in Checkpoints(source).updates():  # the latest comes last
            if update > position.update:
                break
            with scratch("extend") as directory:
                checkpoint = source.sub(f"checkpoints/{update:08d}")
                for file in checkpoint.files():
                    (directory / file).write_bytes(checkpoint.read(file))
                if (directory / STATE).exists():
                    state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
                    state["position"]["address"] = run.address
                    torch.save(state, directory / STATE)
                folder.sub("checkpoints").put(directory, f"{update:08d}")
    if Checkpoints(folder).begun:
        say(f"{folder.uri}: continues {source.uri} from update {position.update:,}")
        return True
    folder.remove("checkpoints")
    folder.remove(history.FILE)
    return False

"""Runs that differ only in their end share their start: a longer one continues a shorter one.

Nothing before the end depends on the end, unless the learning rate does. So a run that is to be
longer takes over the checkpoints and the history of the longest shorter one, and ends with the
parameters that it would have had from the start.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import NamedTuple

import torch

from augury.core.directories import scratch
from augury.core.integrity import Damaged
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.training import history
from augury.training.checkpoint import SNAPSHOT, STATE, Checkpoints, Position, best
from augury.training.schedule import Patience
from augury.training.settings import Training, is_shareable
from augury.training.trained import PREFIXES


class _Source(NamedTuple):
    """Another run, and the position from which it can be continued."""

    folder: Folder
    position: Position

    @property
    def between(self) -> bool:
        """Whether the position lies between validations of the run that continues."""
        return self.position.update not in self.position.scores


def take_over(
    run: Folder, name: str, address: str, seed: int, training: Training
) -> Position | None:
    """Start a new run with the state of the longest shorter one of the same seed, and register it;
    return the position that it goes on from, None where there is no such run, or this one has
    begun.

    `name` is the address of everything that determines training but its end.
    """
    taken, entries = None, _entries(run, name, seed)
    if not Checkpoints(run).begun:
        sources = []
        for entry in entries.names():
            folder = Folder(run.root, entries.read(entry).decode())
            if entry != address and (position := _position(folder, training)):
                sources.append(_Source(folder, position))
        sources.sort(key=lambda source: source.position.update, reverse=True)
        taken = next((source.position for source in sources if _copy(source, run, address)), None)
    if not entries.exists(address):
        entries.write(address, run.name)
    return taken


def _entries(run: Folder, name: str, seed: int) -> Folder:
    """Return the folder with the names of the runs of a prefix."""
    return Store(run.root).folder(PREFIXES, f"{name}/seed-{seed}")


def _position(folder: Folder, training: Training) -> Position | None:
    """Return the position after another run's end as a training of these settings would have it;
    None where it would not reach it, or where that cannot be told from them."""
    if not is_shareable(training):
        return None
    position = None
    checkpoints = Checkpoints(folder)
    with suppress(
        FileNotFoundError, Damaged
    ):  # the other run may be training, and remove what is read
        position = checkpoints.last_position()
    if position is None or _is_beyond(position, training):
        return None
    if not training.validates(position.update, position.epochs, position.in_epoch):
        # It was validated as it was the end. Where this run goes on from there, it was not.
        position.scores.pop(position.update, None)
        position.validations = len(position.scores)
        if training.spent(position.update, position.epochs):
            return None
    patience = Patience(training.patience, training.patience_mean)
    scores: list[float] = []
    for update, score in position.scores.items():
        scores.append(score)
        patience.count(scores)
        if patience.exhausted and update < position.update:  # where this run would have ended
            return None
    position.best, position.waited = patience.best, patience.waited
    if training.weights in ("best", "chosen") and position.scores:
        # The last validation may have been better than one that is no longer kept.
        return position if best(position.scores) in checkpoints.updates() else None
    return position


def _is_beyond(position: Position, training: Training) -> bool:
    """Return whether a position lies after the end of a training by its budgets."""
    epochs = position.epochs + (position.in_epoch > 0)
    return (training.max_updates is not None and position.update > training.max_updates) or (
        training.max_epochs is not None and epochs > training.max_epochs
    )


def _copy(source: _Source, run: Folder, address: str) -> bool:
    """Copy checkpoints and history of another run to this run; return whether that succeeded.

    It fails where the other run is training and removes checkpoints meanwhile.
    """
    with suppress(FileNotFoundError, Damaged):
        _copy_files(source, run, address)
    if Checkpoints(run).begun:
        update = source.position.update
        say(f"{run.uri}: continues {source.folder.uri} from update {update:,}")
        return True
    run.remove("checkpoints")
    run.remove(history.KIND)
    return False


def _copy_files(source: _Source, run: Folder, address: str) -> None:
    last = source.position.update
    _copy_history(source, run)
    for update in Checkpoints(source.folder).updates():  # the latest comes last
        if update > last:
            break
        with scratch("extend") as directory:
            checkpoint = source.folder.sub(f"checkpoints/{update:08d}")
            for file in checkpoint.files():
                (directory / file).write_bytes(checkpoint.read(file))
            if (directory / STATE).exists():
                state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
                if update == last:
                    state["position"] = asdict(source.position)
                state["position"]["address"] = address
                torch.save(state, directory / STATE)
            snapshot = SNAPSHOT if update == last and source.between else ""
            run.sub("checkpoints").put(directory, f"{snapshot}{update:08d}")


def _copy_history(source: _Source, run: Folder) -> None:
    """Copy the history, without a validation that the run that continues does not make."""
    records = source.folder.sub(history.KIND)
    for file in records.names():
        lines = records.read(file).decode().splitlines(keepends=True)
        if source.between:
            lines = [line for line in lines if not _is_validation(line, source.position.update)]
        if lines:
            run.sub(history.KIND).write(file, "".join(lines))


def _is_validation(line: str, update: int) -> bool:
    record = json.loads(line)
    return bool(record["update"] == update and "valid/loss" in record["metrics"])

"""Runs that differ only in their end share their start: a longer one continues a shorter one.

Nothing before the end depends on the end, unless the learning rate does. So a run that is to be
longer takes over the checkpoints and the history of the longest shorter one, and ends with the
parameters that it would have had from the start.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict

import torch

from augury.core.directories import scratch
from augury.core.integrity import Damaged
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.training import history
from augury.training.checkpoint import SNAPSHOT, STATE, Checkpoints, Position, best
from augury.training.schedule import Patience
from augury.training.settings import Training
from augury.training.trained import PREFIXES


def take_over(
    run: Folder, name: str, address: str, seed: int, training: Training
) -> Position | None:
    """Start a new run with the state of the longest shorter one of the same seed, and register it;
    return the position that it goes on from, None where there is no such run, or this one has
    begun.

    `name` is the address of everything that determines training but its end.
    """
    taken = None
    entries = Store(run.root).folder(PREFIXES, f"{name}/seed-{seed}")
    if not Checkpoints(run).begun:
        sources = []
        for entry in entries.names():
            folder = Folder(run.root, entries.read(entry).decode())
            if entry != address and (position := _position(folder, training)):
                sources.append((folder, position))
        sources.sort(key=lambda source: source[1].update, reverse=True)
        taken = next(
            (position for source, position in sources if _copy(source, position, run, address)),
            None,
        )
    if not entries.exists(address):
        entries.write(address, run.name)
    return taken


def _position(folder: Folder, training: Training) -> Position | None:
    """Return the position after another run's end as a training of these settings would have it;
    None where it would not reach it, or where that cannot be told from them."""
    position = None
    checkpoints = Checkpoints(folder)
    with suppress(
        FileNotFoundError, Damaged
    ):  # the other run may be training, and remove what is read
        position = checkpoints.last_position()
    if position is None:
        return None
    begun = position.epochs + (position.in_epoch > 0)
    if training.max_updates is not None and position.update > training.max_updates:
        return None
    if training.max_epochs is not None and begun > training.max_epochs:
        return None
    if not training.validates(position.update, position.epochs, position.in_epoch):
        # It was validated as it was the end. Where this run goes on from there, it was not.
        position.scores.pop(position.update, None)
        position.validations = len(position.scores)
        if training.spent(position.update, position.epochs):
            return None
    patience = Patience(training.patience)
    for update, score in position.scores.items():
        patience.count(score)
        if patience.exhausted and update < position.update:  # where this run would have ended
            return None
    position.best, position.waited = patience.best, patience.waited
    if training.weights in ("best", "chosen") and position.scores:
        # The last validation may have been better than one that is no longer kept.
        return position if best(position.scores) in checkpoints.updates() else None
    return position


def _copy(source: Folder, position: Position, run: Folder, address: str) -> bool:
    """Copy checkpoints and history of another run to this run, until a position; return whether
    that succeeded.

    It fails where the other run is training and removes checkpoints meanwhile.
    """
    # Whether the position lies between validations of the run that continues.
    between = position.update not in position.scores
    with suppress(FileNotFoundError, Damaged):
        _copy_history(source, run, position.update if between else None)
        for update in Checkpoints(source).updates():  # the latest comes last
            if update > position.update:
                break
            with scratch("extend") as directory:
                checkpoint = source.sub(f"checkpoints/{update:08d}")
                for file in checkpoint.files():
                    (directory / file).write_bytes(checkpoint.read(file))
                if (directory / STATE).exists():
                    state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
                    if update == position.update:
                        state["position"] = asdict(position)
                    state["position"]["address"] = address
                    torch.save(state, directory / STATE)
                snapshot = SNAPSHOT if update == position.update and between else ""
                run.sub("checkpoints").put(directory, f"{snapshot}{update:08d}")
    if Checkpoints(run).begun:
        say(f"{run.uri}: continues {source.uri} from update {position.update:,}")
        return True
    run.remove("checkpoints")
    run.remove(history.KIND)
    return False


def _copy_history(source: Folder, run: Folder, left_out: int | None) -> None:
    """Copy the history, without the validation after `left_out` updates, which the run that
    continues does not make."""
    records = source.sub(history.KIND)
    for file in records.names():
        lines = []
        for line in records.read(file).decode().splitlines(keepends=True):
            record = json.loads(line)
            if record["update"] != left_out or "valid/loss" not in record["metrics"]:
                lines.append(line)
        if lines:
            run.sub(history.KIND).write(file, "".join(lines))

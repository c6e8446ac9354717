"""Runs that differ only in their end share their start: a longer one continues a shorter one.

Nothing before the end depends on the end, unless the learning rate does. So a run that is to be
longer takes over the checkpoints and the history of the longest shorter one, and ends with the
parameters that it would have had from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import torch

from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.core.temporary import scratch
from augury.training import history
from augury.training.checkpoint import STATE, Checkpoints, Position
from augury.training.run import PREFIXES
from augury.training.settings import Training


def take_over(run: Folder, name: str, address: str, seed: int, training: Training) -> None:
    """Start a new run with the state of a shorter one of the same prefix and seed, and register it.

    `name` is the address of everything that determines training but its end.
    """
    entries = Store(run.root).folder(PREFIXES, f"{name}/seed-{seed}")
    if not Checkpoints(run).begun:
        names = [entries.read(entry).decode() for entry in entries.names() if entry != address]
        candidates = [
            (position.update, folder)
            for other in names
            if (position := _fitting(folder := Folder(run.root, other), training))
        ]
        for _, source in sorted(candidates, key=lambda pair: pair[0], reverse=True):
            if _copy(source, run, address):
                break
    if not entries.exists(address):
        entries.write(address, run.name)


def _fitting(folder: Folder, training: Training) -> Position | None:
    """Return the position of a run; None where these settings would not reach it, or where that
    cannot be told from them."""
    if training.equal != "epochs" or training.max_minutes is not None:
        return None
    position = None
    with suppress(FileNotFoundError):  # the other run may be training, and remove what is read
        position = Checkpoints(folder).last_position()
    if position is None:
        return None
    validated = training.validates(position.update, position.epochs, position.in_epoch)
    shorter = (training.max_updates is None or position.update <= training.max_updates) and (
        training.max_epochs is None or position.epochs <= training.max_epochs
    )
    return position if validated and shorter else None


def _copy(source: Folder, run: Folder, address: str) -> bool:
    """Copy checkpoints and history of another run to this run; return whether that succeeded.

    It fails where the other run is training and removes checkpoints meanwhile.
    """
    updates = Checkpoints(source).updates()
    with suppress(FileNotFoundError):
        _copy_files(source, run, address, updates)
    if Checkpoints(run).begun:
        say(f"{run.uri}: continues {source.uri}, which ended after update {updates[-1]:,}")
        return True
    run.remove("checkpoints")
    run.remove(history.KIND)
    return False


def _copy_files(source: Folder, run: Folder, address: str, updates: Sequence[int]) -> None:
    records = source.sub(history.KIND)
    for file in records.names():
        run.sub(history.KIND).write(file, records.read(file))
    for update in updates:  # the latest comes last
        with scratch("extend") as directory:
            # Undamaged, as `_fitting` has seen.
            checkpoint = source.sub(f"checkpoints/{update:08d}")
            checkpoint.copy_to(directory)
            if (directory / STATE).exists():
                state = torch.load(directory / STATE, map_location="cpu", weights_only=True)
                state["position"]["address"] = address
                torch.save(state, directory / STATE)
            run.sub("checkpoints").put(directory, f"{update:08d}")

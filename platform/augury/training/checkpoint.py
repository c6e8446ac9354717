"""Checkpoints: all that a resumed run needs, of the last validations and of the best one.

A checkpoint is a folder `checkpoints/<update>` with `model.safetensors`; the last two and the best
also have `state.pt` (optimizer, position in the plan, patience, cost so far). The random numbers of
an update are a function of (seed, update, rank), so the position is their state too.
`snapshot-<update>` is like a checkpoint between validations. Where a checkpoint is damaged,
training goes on from the one before.

They are saved on this machine and written from there: on object stores, which take requests and
time for each, at most every half minute and when training ends, however it ends.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from augury.core.directories import temporary_directory
from augury.core.errors import UserError
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.naming import is_whole
from augury.core.store import MANIFEST, Folder

MODEL, STATE, SNAPSHOT = "model.safetensors", "state.pt", "snapshot-"
WITH_STATE = 2
"""How many of the last checkpoints have a state: where one is damaged, there is another."""


@dataclass
class Position:
    """How far training has come, and what it has cost.

    `update` updates are made: `epochs` whole epochs and `in_epoch` updates of the next.
    """

    address: str
    seed: int
    world: int
    update: int = 0
    epochs: int = 0
    in_epoch: int = 0
    updates_per_epoch: int = 0
    rows: int = 0
    seconds: float = 0.0
    """Training time without interruptions."""
    cpu_seconds: float = 0.0
    """Processor time of this process."""
    start: int = 0
    """The step of the schedule at which this training starts: 0, but in a stage with its
    predecessor's optimizer."""
    scores: dict[int, float] = field(default_factory=dict)
    """The score of every validation, by its update; higher is better."""
    measured: dict[str, Any] = field(default_factory=dict)
    """The state of the meter between two records (`meter.Meter`); empty at a validation."""

    @property
    def all_epochs(self) -> float:
        """The epochs done, the present one in part."""
        return self.epochs + (self.in_epoch / self.updates_per_epoch if self.in_epoch else 0)

    def advance(self) -> None:
        """Count an update, and an epoch at its last one."""
        self.update, self.in_epoch = self.update + 1, self.in_epoch + 1
        if self.in_epoch == self.updates_per_epoch:
            self.epochs, self.in_epoch = self.epochs + 1, 0


def parameters(module: nn.Module) -> dict[str, Tensor]:
    """Return every tensor that determines a module: parameters, tied ones once, and its buffers."""
    tensors: dict[str, Tensor] = dict(module.named_parameters())
    persistent = module.state_dict()
    tensors |= {name: buffer for name, buffer in module.named_buffers() if name in persistent}
    return {name: tensor.detach() for name, tensor in tensors.items()}


def best(scores: Mapping[int, float]) -> int:
    """Return the update whose validation has the best score, the earliest in a tie."""
    return min(scores, key=lambda update: (-scores[update], update))


def load_parameters(module: nn.Module, file: Path) -> None:
    """Copy saved tensors into the module; raise UserError if names or shapes differ."""
    load_tensors(module, load_file(str(file)), str(file))


def load_tensors(module: nn.Module, saved: Mapping[str, Tensor], origin: str) -> None:
    """Copy tensors into a module's parameters and buffers; UserError if names or shapes differ."""
    own = parameters(module)
    shapes = {(name, tensor.shape) for name, tensor in own.items()}
    different = sorted(
        {name for name, _ in shapes ^ {(name, tensor.shape) for name, tensor in saved.items()}}
    )
    if different:
        raise UserError(
            f"{origin} belongs to another model: {len(different)} tensors differ, first "
            f"'{different[0]}'"
        )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def _updates(names: Iterable[str]) -> list[int]:
    return sorted(int(name) for name in names if is_whole(name))


class Checkpoints:
    """The checkpoints of a run: the last `keep`, at least two, and the best where wanted; training
    resumes from the last undamaged one."""

    def __init__(self, run: Folder, keep: int = 1, *, keep_best: bool = False):
        self.folder, self.keep, self.keep_best = run.sub("checkpoints"), keep, keep_best
        self._waiting: dict[str, Path] = {}
        """The local directories of checkpoints that are not written yet, in their order."""
        self._best: int | None = None
        """The update with the best score until then, where it is to be kept."""

    def save(
        self,
        module: nn.Module,
        optimizer: torch.optim.Optimizer,
        position: Position,
        *,
        snapshot: bool = False,
    ) -> None:
        """Save a checkpoint after a validation, or a snapshot, on this machine, until `write`."""
        name = f"{SNAPSHOT if snapshot else ''}{position.update:08d}"
        directory = self._local / name
        directory.mkdir(exist_ok=True)
        tensors = {key: tensor.cpu().contiguous() for key, tensor in parameters(module).items()}
        save_file(tensors, directory / MODEL)
        state = {"optimizer": optimizer.state_dict(), "position": asdict(position)}
        torch.save(state, directory / STATE)
        self._waiting[name] = directory
        if self.keep_best and position.scores:  # there may be a snapshot before any validation
            self._best = best(position.scores)

    @cached_property
    def _local(self) -> Path:
        return temporary_directory("checkpoints")

    def write(self) -> None:
        """Write what is saved to the folder, but what is old already, and drop what is there."""
        if not self._waiting:
            return
        listed = self._listed(complete=False) | dict.fromkeys(self._waiting, [MODEL, STATE])
        waiting = dict(self._waiting)
        old, without_state = self._older(listed, [*waiting][-1])
        for name, directory in waiting.items():
            if name in old:
                shutil.rmtree(directory)
            else:
                if name in without_state:
                    (directory / STATE).unlink()
                self.folder.put(directory, name)
            del self._waiting[name]  # one by one: what fails is written next time
        for name in old - waiting.keys():
            self.folder.remove(name)
        for name in without_state - waiting.keys():
            self.folder.sub(name).drop(STATE)

    def _older(self, listed: Mapping[str, list[str]], last: str) -> tuple[set[str], set[str]]:
        """Return which of the listed checkpoints are not needed after the last one, and of which
        the optimizer's state is not."""
        end, updates = int(last.removeprefix(SNAPSHOT)), _updates(listed)
        old = {name for name in listed if name.startswith(SNAPSHOT) and name != last}
        # Later ones are damaged, so that training has gone on from before them.
        old |= {f"{update:08d}" for update in updates if update > end}
        earlier = [update for update in updates if update <= end]
        kept = earlier[-max(self.keep, WITH_STATE) :]
        without_state = set[str]()
        for update in earlier[:-WITH_STATE]:
            name = f"{update:08d}"
            if update not in kept and update != self._best:
                old.add(name)
            elif update != self._best and STATE in listed[name]:
                without_state.add(name)
        return old, without_state

    @property
    def begun(self) -> bool:
        """True where there is an undamaged state to continue from."""
        return any(map(self._is_usable, self._names_with_state()))

    def _listed(self, *, complete: bool = True) -> dict[str, list[str]]:
        """Return the names of checkpoints and snapshots, with those of their files."""
        listed: dict[str, list[str]] = {}
        for file in self.folder.contents():
            name, _, below = file.partition("/")
            listed.setdefault(name, []).append(below)
        known = {name: files for name, files in listed.items() if MANIFEST in files}
        return known if complete else listed

    def updates(self) -> list[int]:
        """Return the updates after which a checkpoint was kept."""
        return _updates(self._listed())

    def last(self) -> list[int]:
        """Return the updates of the last `keep` checkpoints, or of all where there are fewer."""
        return self.updates()[-self.keep :]

    def positions(self) -> Iterator[Position]:
        """Yield the positions after checkpoints with a state, the last first; none where a
        checkpoint is damaged."""
        listed = self._listed()
        names = [f"{update:08d}" for update in _updates(listed)]
        if all(map(self._is_usable, names)):
            for name in reversed(names):
                if STATE in listed[name]:
                    yield Position(**self._state(name)["position"])

    def state(self, update: int) -> tuple[Position, dict[str, Any]]:
        """Return the position after an update and the optimizer's state; UserError where it was not
        kept."""
        name = f"{update:08d}"
        if not self.folder.exists(f"{name}/{STATE}"):
            raise UserError(
                f"{self.folder.uri} has no state of the optimizer after update {update:,}: carry "
                "weights alone, or remove the run and train it again"
            )
        state = self._state(name)
        return Position(**state["position"]), state["optimizer"]

    def restore(
        self, module: nn.Module, optimizer: torch.optim.Optimizer, start: Position
    ) -> Position:
        """Load the latest undamaged state into module and optimizer; `start` where there is none.

        Raises UserError if the state was written by another configuration, seed or, within an
        epoch, number of workers.
        """
        names = self._names_with_state()
        names.sort(key=lambda name: (int(name.removeprefix(SNAPSHOT)), name), reverse=True)
        name = next(filter(self._is_usable, names), None)
        if name is None:
            return start
        state = self._state(name)
        position = Position(**state["position"])
        where = self.folder.sub(name)
        if (position.address, position.seed) != (start.address, start.seed):
            raise UserError(
                f"{where.uri} was written by configuration {position.address}, seed "
                f"{position.seed}; this run is {start.address}, seed {start.seed}: remove the "
                "folder or use another storage"
            )
        if position.world != start.world and position.in_epoch:
            raise UserError(
                f"{where.uri} was written within an epoch planned for {position.world} workers, "
                f"and there are {start.world}: continue with training.workers={position.world}"
            )
        load_parameters(module, where.local(MODEL))
        optimizer.load_state_dict(state["optimizer"])
        position.world = start.world
        return position

    def _names_with_state(self) -> list[str]:
        return [name for name, files in self._listed().items() if {STATE, MODEL} <= {*files}]

    def _is_usable(self, name: str) -> bool:
        """Return whether a checkpoint is undamaged; a warning says once if it is not."""
        checkpoint = self.folder.sub(name)
        if fault := checkpoint.damage():
            say_once(
                f"warning: {fault}: training does not go on from it, but "
                "from the checkpoint before, or from the beginning where there is none"
            )
        return fault is None

    def _state(self, name: str) -> dict[str, Any]:
        file = io.BytesIO(self.folder.sub(name).read(STATE))
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        return state

    def average(self, updates: Sequence[int]) -> dict[str, Tensor]:
        """Return the mean of every tensor over the checkpoints of these updates.

        The mean is taken in fp64 and returned in fp32; that of whole numbers is rounded down.
        Raises Damaged where one of them is.
        """
        total: dict[str, Tensor] = {}
        for update in updates:
            checkpoint = self.folder.sub(f"{update:08d}")
            if fault := checkpoint.damage():
                raise Damaged(
                    f"{fault}, and the weights are to be a mean with it: "
                    f"remove {self.folder.uri} to train the run from the beginning"
                )
            tensors = load_file(str(checkpoint.local(MODEL)))
            for name, tensor in tensors.items():
                value = tensor.double() if tensor.is_floating_point() else tensor
                total[name] = total[name] + value if name in total else value
        return {
            name: (tensor / len(updates)).float()
            if tensor.is_floating_point()
            else tensor // len(updates)
            for name, tensor in total.items()
        }

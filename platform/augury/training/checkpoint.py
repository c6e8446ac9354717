"""Checkpoints: everything a resume needs, written whole; the mean of the last or the best ones.

A checkpoint is a folder `checkpoints/<update>` with `model.safetensors`; the latest one also has `state.pt`
(optimizer, position in the plan, patience, cost so far). The random numbers of an update are a function of
(seed, update, rank), so the position is their state too. `snapshot-<update>` is like a checkpoint between validations.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from augury.errors import UserError
from augury.store import Folder

MODEL, STATE, SNAPSHOT = "model.safetensors", "state.pt", "snapshot-"


@dataclass
class Position:
    """Where training stands: after `update` updates, `in_epoch` of them in epoch `epoch`, and what they cost."""

    address: str
    seed: int
    world: int
    update: int = 0
    epoch: int = 0
    in_epoch: int = 0
    best: float = -float("inf")
    waited: int = 0
    validations: int = 0
    rows: int = 0
    seconds: float = 0.0
    scores: dict[int, float] = field(default_factory=dict)
    """What every validation found, by its update; higher is better."""


def parameters(module: nn.Module) -> dict[str, Tensor]:
    """Every tensor that determines the module, tied ones once: parameters and persistent buffers."""
    tensors: dict[str, Tensor] = dict(module.named_parameters())
    persistent = module.state_dict()
    tensors |= {name: buffer for name, buffer in module.named_buffers() if name in persistent}
    return {name: tensor.detach() for name, tensor in tensors.items()}


def load_parameters(module: nn.Module, file: Path) -> None:
    """Copy saved tensors into the module; UserError if names or shapes differ."""
    saved, own = load_file(str(file)), parameters(module)
    if saved.keys() != own.keys() or any(saved[name].shape != own[name].shape for name in own):
        different = sorted(
            name
            for name in saved.keys() | own.keys()
            if name not in saved or name not in own or saved[name].shape != own[name].shape
        )
        raise UserError(f"{file} belongs to another model: {len(different)} tensors differ, first '{different[0]}'")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])


class Checkpoints:
    """The checkpoints of one run: `keep` of them, the last or the best, and the latest, from which training resumes."""

    def __init__(self, run: Folder, keep: int, select: Literal["last", "best"] = "last"):
        self.folder, self.keep, self.select = run.sub("checkpoints"), keep, select

    def save(
        self, module: nn.Module, optimizer: torch.optim.Optimizer, position: Position, *, snapshot: bool = False
    ) -> None:
        """Write a checkpoint after a validation, or a snapshot; older state is dropped afterwards."""
        name = f"{SNAPSHOT if snapshot else ''}{position.update:08d}"
        directory = Path(tempfile.mkdtemp(prefix="augury-checkpoint-"))
        save_file({key: tensor.cpu().contiguous() for key, tensor in parameters(module).items()}, directory / MODEL)
        torch.save({"optimizer": optimizer.state_dict(), "position": asdict(position)}, directory / STATE)
        self.folder.put(directory, name)
        for older in self._snapshots():
            if older != name:
                self.folder.remove(older)
        if not snapshot:
            chosen = self.chosen(position.scores)
            for update in self.updates()[:-1]:
                self.folder.remove(f"{update:08d}/{STATE}" if update in chosen else f"{update:08d}")

    @property
    def begun(self) -> bool:
        """Whether there is a state to continue from."""
        return bool(self._names_with_state())

    def updates(self) -> list[int]:
        """The updates after which a checkpoint was kept."""
        return [int(name) for name in self.folder.subfolders() if name.isdigit() and self.folder.holds(name)]

    def chosen(self, scores: Mapping[int, float]) -> list[int]:
        """The updates of the last or, by their `scores`, the best checkpoints; of equal ones the earlier is better."""
        updates = self.updates()
        if self.select == "best":
            updates = sorted(sorted(updates, key=lambda update: (-scores[update], update))[: self.keep])
        return updates[-self.keep :]

    def restore(self, module: nn.Module, optimizer: torch.optim.Optimizer, start: Position) -> Position:
        """Load the latest state into module and optimizer; `start` where there is none.

        UserError if the state was written by another configuration, seed or, within an epoch, number of workers.
        """
        states = [(self._state(name)["position"]["update"], name) for name in self._names_with_state()]
        if not states:
            return start
        _, name = max(states)
        state = self._state(name)
        position = Position(**state["position"])
        where = self.folder.sub(name)
        if (position.address, position.seed) != (start.address, start.seed):
            raise UserError(
                f"{where.uri} was written by configuration {position.address}, seed {position.seed}; this run "
                f"is {start.address}, seed {start.seed}: remove the folder or use another storage"
            )
        if position.world != start.world and position.in_epoch:
            raise UserError(
                f"{where.uri} stands within an epoch planned for {position.world} workers, and there are "
                f"{start.world}: continue with training.workers={position.world}"
            )
        load_parameters(module, where.local() / MODEL)
        optimizer.load_state_dict(state["optimizer"])
        position.world = start.world
        return position

    def _names_with_state(self) -> list[str]:
        names = [f"{update:08d}" for update in self.updates()]
        names += [name for name in self._snapshots() if self.folder.holds(name)]
        return [name for name in names if all(self.folder.exists(f"{name}/{file}") for file in (STATE, MODEL))]

    def _snapshots(self) -> list[str]:
        return [name for name in self.folder.subfolders() if name.startswith(SNAPSHOT)]

    def _state(self, name: str) -> dict[str, Any]:
        file = self.folder.sub(name).local() / STATE
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        return state

    def average(self, updates: Sequence[int]) -> dict[str, Tensor]:
        """The mean of every tensor over the checkpoints of these updates, in fp32 (whole numbers: floor)."""
        total: dict[str, Tensor] = {}
        for update in updates:
            tensors = load_file(str(self.folder.sub(f"{update:08d}").local() / MODEL))
            if total and tensors.keys() != total.keys():
                raise UserError(
                    f"checkpoints under {self.folder.uri} hold different tensors; remove the run and train again"
                )
            for name, tensor in tensors.items():
                value = tensor.double() if tensor.is_floating_point() else tensor
                total[name] = total[name] + value if name in total else value
        return {
            name: (tensor / len(updates)).float() if tensor.is_floating_point() else tensor // len(updates)
            for name, tensor in total.items()
        }

"""STUB until the real one."""
from __future__ import annotations
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

class Trial(NamedTuple):
    configuration: str
    seed: int
class Decision(NamedTuple):
    configuration: str
    action: str
    seeds: int
    mean: float
    low: float
    high: float
    cut: float
class Scheduler(Protocol):
    mode: Literal["max", "min"]
    decisions: Sequence[Decision]
    @property
    def best(self) -> str | None: ...
    @property
    def finished(self) -> bool: ...
    def work(self) -> list[Trial]: ...
    def tell(self, configuration: str, seed: int, value: float) -> None: ...
    def fail(self, configuration: str, seed: int) -> None: ...
class Listed:
    def __init__(self, trials, mode="max"):
        self.trials, self.mode, self.decisions, self.values = trials, mode, [], {}
    best = None
    def work(self): return [t for t in self.trials if t not in self.values]
    def tell(self, c, s, v): self.values[Trial(c, s)] = v
    def fail(self, c, s): self.values[Trial(c, s)] = None
    @property
    def finished(self): return not self.work()
def Confirmed(scheduler, reference, seeds): return scheduler
def Race(*a, **k): ...
def Rounds(*a, **k): ...
def net(v, p, m): return v - p
def price(f, w): return 0.0
TUNING_ROUNDS = 2
Propose = Standings = Any
combinations = None

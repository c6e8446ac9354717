"""Systems and their scores, read from run folders; the seeds of one configuration are one system."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from augury.store import Folder
from augury.tracking import runs

# Student's t, 97.5 %, for 1 to 30 degrees of freedom
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
     2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over seeds, with its 95 % interval."""

    value: float
    low: float
    high: float
    signature: str
    n: int
    """Sentences (or examples) of the test set."""
    seeds: int


@dataclass(frozen=True)
class Cost:
    """What one seed cost, as mean over seeds."""

    parameters: float
    data_factor: float
    """Training data, views and synthetic text included, as a multiple of the corpus."""
    updates: float
    target_tokens: float
    """Target tokens seen in training."""
    train_seconds: float
    device_hours: float
    device: str


@dataclass(frozen=True)
class SystemResult:
    """One configuration with all its seeds."""

    name: str
    address: str
    runs: Mapping[int, Folder]
    """The run folder of every seed."""
    facts: Mapping[str, Any]
    """The content of `run.json` of the first seed."""
    tests: Mapping[str, Mapping[str, Estimate]]
    """Test set -> metric -> estimate over the seeds that are scored."""
    cost: Cost | None
    unscored: tuple[int, ...]
    """Seeds without scores."""

    def plain(self) -> dict[str, Any]:
        """The system as JSON-like values."""
        return {
            "name": self.name, "address": self.address, "task": self.facts["task"],
            "runs": {str(seed): folder.uri for seed, folder in self.runs.items()}, "unscored": list(self.unscored),
            "tests": {test: {name: asdict(found) for name, found in metrics.items()}
                      for test, metrics in self.tests.items()},
            "cost": asdict(self.cost) if self.cost else None,
        }  # fmt: skip


def load(folders: Sequence[Folder]) -> list[SystemResult]:
    """The systems of these run folders, in the order in which they first occur."""
    groups: dict[str, dict[int, Folder]] = {}
    facts: dict[str, dict[str, Any]] = {}
    for folder in folders:
        described = folder.read_json(runs.DESCRIPTION)
        facts.setdefault(described["address"], described)
        groups.setdefault(described["address"], {})[described["seed"]] = folder
    names = [described["name"] for described in facts.values()]
    return [_system(address, described, groups[address], unique=names.count(described["name"]) == 1)
            for address, described in facts.items()]  # fmt: skip


def _system(address: str, facts: Mapping[str, Any], group: Mapping[int, Folder], unique: bool) -> SystemResult:
    seeds = sorted(group)
    scored = {seed: group[seed].read_json(runs.SCORES) for seed in seeds if group[seed].exists(runs.SCORES)}
    scores: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for content in scored.values():
        for test, found in content["tests"].items():
            for score in found:
                scores.setdefault(test, {}).setdefault(score["name"], []).append(score)
    return SystemResult(
        name=facts["name"] if unique else f"{facts['name']} {address[:4]}",
        address=address,
        runs={seed: group[seed] for seed in seeds},
        facts=facts,
        tests={test: {name: estimate(found) for name, found in metrics.items()} for test, metrics in scores.items()},
        cost=_cost([content["cost"] for content in scored.values()]),
        unscored=tuple(seed for seed in seeds if seed not in scored),
    )


def estimate(scores: Sequence[Mapping[str, Any]]) -> Estimate:
    """The mean of one metric's scores over seeds.

    One seed keeps its interval over sentences. With several, the seeds share the test set, so that the sentences'
    part of the uncertainty does not shrink with their number; the seeds' part is Student's interval of the mean. The
    two are independent and add in squares.
    """
    values = [score["value"] for score in scores]
    mean, count = statistics.fmean(values), len(values)
    spread = T[min(count - 1, len(T)) - 1] * statistics.stdev(values) / math.sqrt(count) if count > 1 else 0.0
    below = statistics.fmean(score["value"] - score["low"] for score in scores)
    above = statistics.fmean(score["high"] - score["value"] for score in scores)
    signature = " or ".join(dict.fromkeys(score["signature"] for score in scores))
    return Estimate(mean, mean - math.hypot(below, spread), mean + math.hypot(above, spread), signature,
                    scores[0]["n"], count)  # fmt: skip


def _cost(costs: Sequence[Mapping[str, Any]]) -> Cost | None:
    if not costs:
        return None
    fields = ("parameters", "data_factor", "updates", "target_tokens", "train_seconds", "device_hours")
    means = {field: statistics.fmean(cost[field] for cost in costs) for field in fields}
    return Cost(**means, device=", ".join(dict.fromkeys(cost["device"] for cost in costs)))

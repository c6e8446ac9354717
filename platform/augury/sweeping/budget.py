"""Estimate what a sweep costs, and leave out what a budget does not allow one seed of."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from augury.core.errors import UserError
from augury.core.machine import available_cores
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.execution.estimates import estimates, shared_seconds
from augury.execution.graph import Graph
from augury.experiments.cost import ERROR_FACTOR
from augury.experiments.spec import Experiment
from augury.runs.record import run_folder
from augury.sweeping.applied import LeftOut
from augury.sweeping.plan import Plan, Planned
from augury.sweeping.state import DEFINITION, KIND, earlier_record
from augury.training import history
from augury.training.trained import OUTCOME, Outcome


class Estimate(NamedTuple):
    """The estimated seconds of a sweep, side by side on this machine.

    What is trained, to its end or in part, costs nothing.
    """

    first_seed: float
    """One seed of every configuration, with the models that their operators use."""
    all_seeds: float
    trials_at_once: int

    def __str__(self) -> str:
        return (
            f"one seed of all: about {duration(self.first_seed)}; all seeds: at most about "
            f"{duration(self.all_seeds)}, {self.trials_at_once} at once; rough: {ERROR_FACTOR} "
            "times less or more"
        )


def estimate(plan: Plan, seeds: Sequence[int], at_once: int | None = None) -> Estimate | None:
    """Return the estimated cost of a plan; None where that of a model is not known."""
    costs = _costs(plan, seeds)
    if costs is None:
        return None
    parallel = _parallel(plan.base(), at_once)
    first = sum(cost.first_seed for cost in costs.values())
    everything = sum(cost.first_seed + cost.further_seeds for cost in costs.values())
    saved = _saved(plan)
    first -= saved.get(seeds[0], 0.0)
    everything -= sum(saved.values())
    return Estimate(first / parallel, everything / parallel, parallel)


def keep_within(
    plan: Plan, seeds: Sequence[int], budget: float, at_once: int | None = None, *, name: str = ""
) -> None:
    """Leave out the configurations that cost most until one seed of the others, the reference
    among them, takes `budget` seconds or less; note them in the plan.

    Those that an earlier command of the sweep `name` had stay: each command counts its budget anew.
    Raises UserError where nothing would be left to compare with the reference.
    """
    costs = _costs(plan, seeds)
    if not costs:  # not known, or all points are still to be suggested
        return
    parallel = _parallel(plan.base(), at_once)
    kept = _earlier(plan.store, name)
    reference, *others = plan.configurations
    needed = sum(cost.first_seed for cost in costs.values()) / parallel
    cheapest = min((costs[address].first_seed for address in others), default=0.0)
    least = (costs[reference].first_seed + cheapest) / parallel
    others = [address for address in others if address not in kept]
    if others and least > budget and kept.isdisjoint(plan.configurations):
        raise UserError(
            f"--budget {duration(budget)} leaves nothing to compare: one seed of "
            f"{plan.configurations[reference].name} and of the cheapest other takes about "
            f"{duration(least)}, one of all {duration(needed)}: raise it, take a smaller model"
            f"{_fewer_epochs(plan.configurations[reference].experiment, budget / needed)}"
        )
    reason = (
        f"one seed of all would take about {duration(needed)} more, and --budget is "
        f"{duration(budget)}: raise it"
    )
    for address in sorted(others, key=lambda address: -costs[address].first_seed):
        if needed <= budget:
            break
        needed -= costs[address].first_seed / parallel
        plan.left_out.append(LeftOut(plan.configurations.pop(address).name, reason))


def _earlier(store: Store, name: str) -> set[str]:
    """Return the addresses of the configurations that earlier commands of a sweep had."""
    sweep = store.folder(KIND, name) if name else None
    definition = earlier_record(sweep, DEFINITION) if sweep else {}
    return {entry["address"] for entry in definition.get("configurations", ())}


def _fewer_epochs(experiment: Experiment, share: float) -> str:
    """Return the epochs that this share of a training has, as advice."""
    epochs = experiment.training.max_epochs
    fewer = max(1, int(share * epochs)) if epochs else 0
    return f", or --set training.max_epochs={fewer} in place of {epochs:g}" if epochs else ""


def seed_seconds(plan: Plan, planned: Planned, seeds: Sequence[int]) -> float | None:
    """Return the estimated seconds of one seed of a configuration, with its share of the models
    that its operators use; None where they are not known."""
    parts = _parts(plan, planned, seeds)
    return parts and parts.of_seed + parts.models / len(seeds)


class _Parts(NamedTuple):
    of_seed: float
    models: float
    """The models that operators use, for all seeds."""


class _Seconds(NamedTuple):
    first_seed: float
    further_seeds: float


def _costs(plan: Plan, seeds: Sequence[int]) -> Mapping[str, _Seconds] | None:
    """Return the seconds that each configuration takes alone; None where one is not known."""
    known = {address: _parts(plan, item, seeds) for address, item in plan.configurations.items()}
    parts = {address: item for address, item in known.items() if item is not None}
    if len(parts) < len(known):
        return None
    costs, pace = {}, _pace(plan, parts, seeds)
    for address, own in parts.items():
        runs = {seed: run_folder(plan.store, address, seed) for seed in seeds}
        missing = {
            seed: max(pace * own.of_seed - _trained_seconds(run), 0.0)
            for seed, run in runs.items()
            if not run.complete
        }
        models = pace * own.models if seeds[0] in missing else 0.0
        first = missing.pop(seeds[0], 0.0)
        costs[address] = _Seconds(models + first, sum(missing.values()))
    return costs


def _trained_seconds(run: Folder) -> float:
    """Return the time that the training of a run that goes on has taken so far."""
    known = (record["metrics"].get("train/seconds", 0.0) for record in history.read(run))
    return max(known, default=0.0)


def _pace(plan: Plan, parts: Mapping[str, _Parts], seeds: Sequence[int]) -> float:
    """Return the median of measured over estimated time of the trainings that have ended, 1 before
    one has: processors differ, and so does what else runs on them."""
    measured = [
        Outcome.read(run).train_seconds / own.of_seed
        for address, own in parts.items()
        for seed in seeds
        if (run := run_folder(plan.store, address, seed)).exists(OUTCOME) and own.of_seed
    ]
    return statistics.median(measured) if measured else 1.0


def _parts(plan: Plan, planned: Planned, seeds: Sequence[int]) -> _Parts | None:
    experiment = planned.experiment
    threads = experiment.execution.threads or max(1, int(experiment.execution.cpus_per_worker))
    execution = experiment.execution.model_copy(update={"threads": threads})
    graph = Graph(plan.store)
    graph.add({planned.name: experiment}, seeds)
    parts = estimates(graph, execution)
    if any(cost is None for cost in parts.values()):
        return None
    scored = {planned.name, *graph.earlier_stages}
    return _Parts(
        sum(cost.seconds for name, cost in parts.items() if cost and name in scored),
        sum(cost.seconds for name, cost in parts.items() if cost and name not in scored),
    )


def _saved(plan: Plan) -> Mapping[int, float]:
    """Return the seconds that common beginnings save, by seed."""
    graph, saved = plan.graph, dict[int, float]()
    shared = shared_seconds(graph)
    made = {graph.beginnings[step]: -seconds for step, seconds in shared.items()}
    made = {beginning: cost for beginning, cost in made.items() if beginning not in graph.scored}
    for step, seconds in (*shared.items(), *made.items()):
        assert step.seed is not None
        saved[step.seed] = saved.get(step.seed, 0.0) + seconds
    return saved


def _parallel(base: Experiment, at_once: int | None) -> int:
    """Return how many trials this machine runs side by side."""
    per_trial = base.training.workers * max(1, int(base.execution.cpus_per_worker))
    fitting = max(1, available_cores() // per_trial)
    return at_once or min(fitting, base.execution.most_at_once or fitting)

"""Estimate what a sweep costs, and leave out what a budget does not allow one seed of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from augury.core.errors import UserError
from augury.core.progress import duration
from augury.core.store import Store
from augury.experiments.cost import (
    TotalEstimate,
    estimate_all,
    estimate_trials,
    remaining,
    trials_at_once,
)
from augury.experiments.graph import Graph, Step
from augury.sweeping import plan as plans
from augury.sweeping.applied import LeftOut
from augury.sweeping.plan import Planned, SweepOptions, SweepPlan
from augury.sweeping.space import Space
from augury.sweeping.state import DEFINITION, SWEEPS

RESERVED_AT_MOST = 0.5
"""The share of a budget that may be kept for confirmation."""


def estimate(
    plan: SweepPlan, seeds: Sequence[int], at_once: int | None = None
) -> TotalEstimate | None:
    """Return the estimated cost of a plan; None where that of a model is not known."""
    if not plan.configurations:
        return None
    return estimate_all(_graph(plan, seeds), plan.base(), at_once)


def make_plan(space: Space, options: SweepOptions) -> SweepPlan:
    """Return the configurations that a sweep begins with, within its budget; runs nothing."""
    made = plans.make(space, Store(options.storage), options.assignments)
    if options.budget is not None:
        keep_within(made, options)
    return made


def keep_within(plan: SweepPlan, options: SweepOptions) -> None:
    """Leave out the configurations that cost most until one seed of the others, the reference
    among them, takes what the budget leaves beside a confirmation; note them in the plan.

    Something stays that the reference is compared with. So do those that an earlier command of the
    sweep had: each command counts its budget anew. Raises UserError where nothing would be left to
    compare with the reference.
    """
    seeds, budget = options.seeds, options.budget
    assert budget is not None
    graph = _graph(plan, seeds)
    left = remaining(graph)
    if not plan.configurations or left is None:
        return
    parallel = trials_at_once(plan.base(), options.at_once)

    def needed(addresses: Iterable[str]) -> float:
        """Return the seconds of one seed of configurations, with what they need, each once."""
        steps = graph.missing(Step(address, seeds[0]) for address in addresses)
        return sum(left.get(step, 0.0) for step in steps) / parallel

    reference, *others = plan.configurations
    of_all, alone = needed(plan.configurations), {other: needed([other]) for other in others}
    least = needed([reference, *sorted(others, key=alone.__getitem__)[:1]])
    definition = plan.store.folder(SWEEPS, options.name).earlier_record(DEFINITION)
    kept = {entry["address"] for entry in definition.get("configurations", ())}
    removable = [address for address in others if address not in kept]
    if removable and least > budget and kept.isdisjoint(plan.configurations):
        raise UserError(
            f"--budget {duration(budget)} leaves nothing to compare: one seed of "
            f"{plan.configurations[reference].name} and of the cheapest other takes about "
            f"{duration(least)}, one of all {duration(of_all)}: raise it, or take a smaller model "
            "or less training"
        )
    for_choice = budget - min(len(options.fresh_seeds) * least, RESERVED_AT_MOST * budget)
    reason = (
        f"one seed of all would take about {duration(of_all)} more, and --budget leaves "
        f"{duration(for_choice)} for the choice: raise it"
    )
    removable.sort(key=alone.__getitem__)
    if kept.isdisjoint(others):
        removable = removable[1:]
    while removable and needed(plan.configurations) > for_choice:
        longest = plan.configurations.pop(removable.pop())
        plan.left_out.append(LeftOut(longest.name, reason))


def seed_seconds(plan: SweepPlan, planned: Planned, seeds: Sequence[int]) -> float | None:
    """Return the estimated seconds of one seed of a configuration, trained and scored, with its
    share of the models that its operators use; None where they are not known."""
    graph = Graph(plan.store)
    graph.add({planned.name: planned.experiment}, seeds)
    costs = estimate_trials(graph)
    return None if costs is None else sum(cost.seconds for cost in costs.values()) / len(seeds)


def _graph(plan: SweepPlan, seeds: Sequence[int]) -> Graph:
    """Return a graph of all configurations: that of the plan is to have those alone that stay."""
    graph = Graph(plan.store)
    configurations = plan.configurations.values()
    graph.add({planned.name: planned.experiment for planned in configurations}, seeds)
    return graph

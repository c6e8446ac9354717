"""The common beginnings of systems, trained once.

Systems that differ only after some update are one training until then: those that differ in what
follows the warm-up of their regime, in patience, or in budgets. Its shortest part is a model of
its own, which the systems continue bit for bit (`training.extend`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from augury.execution.estimates import seed_cost
from augury.execution.graph import Graph, Plan, Step
from augury.training.settings import Training, ending_by, has_free_end, is_shareable
from augury.training.trained import OUTCOME


def share(graph: Graph, validations: int | None = None) -> None:
    """Add what the models of a graph have in common and have not begun, seed by seed, as models
    that they continue.

    These end after `validations` at the latest. Nothing is shared that ends before the first
    validation, as such a model costs one itself.
    """
    steps = [step for step in graph.names if step in graph.scored and not _has_begun(graph, step)]
    # Equal regimes first: what they share is longer than a warm-up, and can share that in turn.
    for shared in (_whole, _warmup):
        groups: dict[tuple[str, int | None], dict[Step, Plan]] = {}  # by prefix and seed
        for step in steps:
            plan = shared(graph.plans[step.address])
            if step not in graph.beginnings and _can_end(plan.experiment.training, validations):
                groups.setdefault((plan.prefix, step.seed), {})[step] = plan
        for members in groups.values():
            beginning = _beginning(graph, members, validations) if len(members) > 1 else None
            if beginning and beginning not in steps and not _has_begun(graph, beginning):
                steps.append(beginning)


def _whole(plan: Plan) -> Plan:
    return plan


def _warmup(plan: Plan) -> Plan:
    return plan.warmup or plan


def _can_end(training: Training, validations: int | None) -> bool:
    """Return whether a part of a training can be one by itself; in a race, that ends where it is
    told to, and is none of its trials, which wait for each other."""
    return is_shareable(training) and (validations is None or has_free_end(training))


def _has_begun(graph: Graph, step: Step) -> bool:
    assert step.seed is not None
    run = graph.plans[step.address].run(step.seed)
    return run.exists(OUTCOME) or bool(run.sub("checkpoints").subfolders())


def _beginning(graph: Graph, members: Mapping[Step, Plan], validations: int | None) -> Step | None:
    """Add the model that others of one seed continue, given their common parts; return its step,
    which may be one of them, or None where it is too short."""
    experiments = [plan.experiment for plan in members.values()]
    training = _shortest([experiment.training for experiment in experiments], validations)
    experiment = experiments[0].model_copy(update={"training": training})
    cost = seed_cost(experiment, graph.store)
    if cost and cost.updates < _first_validation(training, cost.updates_per_epoch):
        return None
    plan, (seed, *_) = graph.plan(experiment), (step.seed for step in members)
    beginning = Step(plan.address, seed)
    names = [graph.names[step] for step in members]
    more = f"{len(names) - 1} others" if len(names) > 2 else names[1]
    name = f"common beginning of {names[0]} and {more}"
    graph.add_beginning(plan, name, beginning, members)
    return beginning


def _shortest(trainings: Sequence[Training], validations: int | None) -> Training:
    """Return the settings of a training that ends as soon as any of these ends."""
    training = trainings[0].model_copy(
        update={"patience": min(other.patience for other in trainings)}
    )
    for other in trainings:
        training = ending_by(training, other.max_updates, other.max_epochs)
    if validations is None:
        return training
    if training.validate_every is not None:
        return ending_by(training, validations * training.validate_every, None)
    return ending_by(training, None, validations * training.validate_every_epochs)


def _first_validation(training: Training, updates_per_epoch: int) -> int:
    return training.validate_every or training.validate_every_epochs * updates_per_epoch

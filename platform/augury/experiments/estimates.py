"""Estimate the cost of what is trained, before it is, from the texts and the size of the model.

The true time is likely within the factor `cost.ERROR_FACTOR`.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from augury.augment.operator import RECORDS, TextSubset
from augury.core.machine import available_cores
from augury.core.progress import duration
from augury.core.store import Store
from augury.corpora.corpus import KINDS, row_ranges
from augury.corpora.filters import word_counts
from augury.corpora.ingest import cached_corpus
from augury.experiments.cost import ERROR_FACTOR, Cost, Text, cost, pretrained_size
from augury.experiments.graph import Graph, Step
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.training import history
from augury.training.trained import OUTCOME, Outcome


def estimates(graph: Graph) -> dict[str, Cost | None]:
    """Return the cost of one seed of every training, by name, those of earlier stages and of the
    models that operators use among them."""
    return {
        graph.names[Step(address)]: seed_cost(plan.experiment, graph.store)
        for address, plan in graph.plans.items()
    }


class Estimate(NamedTuple):
    """The estimated cost of a graph's models, trained and scored side by side on this machine.

    What is trained, to its end or in part, costs no time.
    """

    first_seed: float
    """The seconds of one seed of every system, with the models that their operators use."""
    all_seeds: float
    bytes: int
    """On disk, if no other run shares them."""
    at_once: int

    def __str__(self) -> str:
        megabytes = self.bytes / 1e6
        disk = f"{megabytes:,.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:,.1f} GB"
        return (
            f"one seed of all: about {duration(self.first_seed)}; all seeds: at most about "
            f"{duration(self.all_seeds)}, {self.at_once} at once, and {disk} of disk; rough: "
            f"{ERROR_FACTOR} times less or more"
        )


def estimate(graph: Graph, base: Experiment, at_once: int | None = None) -> Estimate | None:
    """Return the estimated cost of the models of a graph; None where that of one is not known.

    As many run side by side as fit this machine, or `at_once`.
    """
    left, costs = remaining(graph), trial_costs(graph)
    if left is None or costs is None:
        return None
    parallel = trials_at_once(base, at_once)
    scored = [step for step in graph.names if step in graph.scored]
    firsts = {step.address: step for step in reversed(scored)}
    first = sum(left.get(step, 0.0) for step in graph.missing(firsts.values()))
    size = sum(cost.bytes for cost in costs.values())
    return Estimate(first / parallel, sum(left.values()) / parallel, size, parallel)


def trials_at_once(experiment: Experiment, at_once: int | None = None) -> int:
    """Return how many trials this machine runs side by side."""
    cores = experiment.training.workers * (experiment.execution.threads or 1)
    return at_once or max(1, available_cores() // cores)


def remaining(graph: Graph) -> dict[Step, float] | None:
    """Return the seconds that the models of a graph still take as trials: 0 where they are
    complete; None where those of one are not known.

    The pace is that of the trainings that have ended: processors differ, and so does what else
    runs on them.
    """
    costs = trial_costs(graph)
    if costs is None:
        return None
    plans = graph.plans
    runs = {step: plans[step.address].run(step.seed) for step in costs if step.seed is not None}
    ended = {step: Outcome.read(run) for step, run in runs.items() if run.exists(OUTCOME)}
    paces = [
        outcome.train_seconds / costs[step].training
        for step, outcome in ended.items()
        if costs[step].training
    ]
    pace, left = median(paces) if paces else 1.0, {}
    for step, run in runs.items():
        cost, left[step] = costs[step], 0.0
        if run.complete:
            continue
        if step not in ended:
            left[step] = max(pace * cost.training - history.trained_seconds(run), 0.0)
        left[step] += pace * cost.scoring
    return left


def trial_costs(graph: Graph) -> dict[Step, Cost] | None:
    """Return the cost of every model of a graph, without scores where it has none; None where that
    of one is not known."""
    of_plans: dict[str, Cost] = {}
    for address, plan in graph.plans.items():
        if (known := seed_cost(plan.experiment, graph.store)) is None:
            return None
        of_plans[address] = known
    return {
        step: of_plans[step.address] if step in graph.scored else of_plans[step.address].unscored()
        for step in graph.names
        if step.seed is not None
    }


def seed_cost(experiment: Experiment, store: Store) -> Cost | None:
    """Estimate the cost of one seed, trained and scored; None where the size of its model is not
    known."""
    first, task = experiment.first, find_task(experiment.task)
    size = pretrained_size(first.pretrained.name) if first.pretrained else task.size(first, store)
    if size is None:
        return None
    train, shares = cached_corpus(experiment.corpus, "train", store.root), experiment.corpus.shares
    rows = {name: end - start for name, start, end in row_ranges(train)}
    read = {name: shares[name].weight * count for name, count in rows.items()}
    middle = train.shard(train.shards[len(train.shards) // 2], KINDS[train.kind].sentences)
    words = [float(word_counts(column.combine_chunks()).mean()) for column in middle.columns]
    all_rows = sum(read.values())
    for operator in experiment.augment:
        if operator.makes() == RECORDS:
            subset = operator.of if isinstance(operator, TextSubset) else ()
            texts = {
                name: cached_corpus(spec, "train", store.root).rows
                for name, spec in operator.texts().items()
            }
            share = experiment.mixture.get(operator.name())
            counted = read if share is None else rows
            parents = sum(counted[name] for name in rows if name in subset or not subset)
            made = operator.expected_records(parents, texts)
            all_rows += made * (1 if share is None else share.weight)
    tests = [cached_corpus(experiment.corpus, name, store.root) for name in experiment.test_sets]
    text = Text(
        max(1, round(all_rows)),
        words if size.target else [sum(words)],
        sum(corpus.rows for corpus in tests),
    )
    return cost(experiment, size, text)

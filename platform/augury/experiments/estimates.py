"""Estimate the cost of what is trained, before it is, from the texts and the size of the model.

The true time is likely within the factor `cost.ERROR_FACTOR`.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, median
from typing import NamedTuple

from augury.augment.operator import RECORDS, Operator, TextSubset
from augury.core.machine import available_cores
from augury.core.progress import duration
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.filters import word_counts
from augury.corpora.ingest import cached_corpus
from augury.corpora.mixture import row_ranges
from augury.experiments.cost import ERROR_FACTOR, Cost, Text, cost
from augury.experiments.graph import Graph, Step
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.training import history
from augury.training.trained import OUTCOME, Outcome


def estimates(graph: Graph) -> dict[str, Cost | None]:
    """Return the cost of one seed of every system and stage before one, and of all seeds of the
    models that operators use.

    Trainings that systems share, with each other or with models, are counted once.
    """
    trained = graph.earlier_stages | graph.systems
    costs = {name: seed_cost(plan.experiment, graph.store) for name, plan in trained.items()}
    for address, seeds in graph.unscored.items():
        known = seed_cost(graph.plans[address].experiment, graph.store)
        costs[graph.names[Step(address, seeds[0])]] = known and known._replace(
            seconds=(known.seconds - known.scoring) * len(seeds),
            bytes=known.bytes * len(seeds),
            scoring=0.0,
        )
    return costs


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

    As many run side by side as `base` allows, or `at_once`.
    """
    left, costs = remaining(graph), _trial_costs(graph)
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
    execution = experiment.execution
    cores = experiment.training.workers * max(1, int(execution.cpus_per_worker))
    fitting = max(1, available_cores() // cores)
    return at_once or min(fitting, execution.most_at_once or fitting)


def seconds_of(graph: Graph) -> dict[Step, float] | None:
    """Return the estimated seconds of every model of a graph as a trial, trained and scored where
    it has scores; None where those of one are not known."""
    costs = _trial_costs(graph)
    return None if costs is None else {step: cost.seconds for step, cost in costs.items()}


def remaining(graph: Graph) -> dict[Step, float] | None:
    """Return the seconds that the models of a graph still take as trials: 0 where they are
    complete; None where those of one are not known.

    The pace is that of the trainings that have ended: processors differ, and so does what else
    runs on them.
    """
    costs = _trial_costs(graph)
    if costs is None:
        return None
    paces, left = [], {}
    for step, of_step in costs.items():
        assert step.seed is not None
        run, training = graph.plans[step.address].run(step.seed), of_step.seconds - of_step.scoring
        ended = run.exists(OUTCOME)
        if ended and training:
            paces.append(Outcome.read(run).train_seconds / training)
        if run.complete:
            left[step] = (0.0, 0.0, 0.0)
        else:
            done = history.trained_seconds(run)
            left[step] = (0.0 if ended else training, done, of_step.scoring)
    pace = median(paces) if paces else 1.0
    return {
        step: max(pace * training - done, 0.0) + pace * scoring
        for step, (training, done, scoring) in left.items()
    }


def _trial_costs(graph: Graph) -> dict[Step, Cost] | None:
    """Return the cost of every model of a graph, without scores where it has none; None where that
    of one is not known."""
    of_plans = {}
    for address, plan in graph.plans.items():
        known = seed_cost(plan.experiment, graph.store)
        if known is None:
            return None
        of_plans[address] = known
    costs = {step: of_plans[step.address] for step in graph.names if step.seed is not None}
    for step in costs.keys() - graph.scored:
        of_step = costs[step]
        costs[step] = of_step._replace(seconds=of_step.seconds - of_step.scoring, scoring=0.0)
    return costs


def seed_cost(experiment: Experiment, store: Store) -> Cost | None:
    """Estimate the cost of one seed, trained and scored; None where the size of its model is not
    known."""
    size = find_task(experiment.task).size(experiment.first, store)
    if size is None:
        return None
    train, shares = cached_corpus(experiment.corpus, "train", store.root), experiment.corpus.shares
    rows = {name: end - start for name, start, end in row_ranges(train)}
    read = {name: shares[name].weight * count for name, count in rows.items()}
    counts = _words(experiment, read, store)
    plain = sum(read.values())
    all_rows = plain + sum(
        _records(operator, experiment, rows, read, store) for operator in experiment.augment
    )
    words = counts if size.target else [sum(counts)]
    tests = [cached_corpus(experiment.corpus, name, store.root) for name in experiment.test_sets]
    text = Text(
        max(1, round(all_rows)), words, max(1, round(plain)), sum(corpus.rows for corpus in tests)
    )
    return cost(experiment, size, text)


def _words(experiment: Experiment, read: Mapping[str, float], store: Store) -> list[float]:
    """Estimate the mean words of each side of a row, from the middle shard of every text."""
    texts = experiment.corpus.mixture or {"train": experiment.corpus}
    corpora = [cached_corpus(texts[name], "train", store.root) for name in read]
    counts = [_mean_words(corpus) for corpus in corpora]
    weights = [*read.values()] if any(read.values()) else [1.0] * len(read)
    return [fmean(side, weights) for side in zip(*counts, strict=True)]


def _mean_words(corpus: Corpus) -> list[float]:
    """Return the mean words of each side of the middle shard."""
    shard = corpus.shard(corpus.shards[len(corpus.shards) // 2], KINDS[corpus.kind].sentences)
    return [float(word_counts(column.combine_chunks()).mean()) for column in shard.columns]


def _records(
    operator: Operator,
    experiment: Experiment,
    rows: Mapping[str, int],
    read: Mapping[str, float],
    store: Store,
) -> float:
    """Estimate the rows of an operator's records that an epoch reads, given those of the training
    texts."""
    if operator.makes() != RECORDS:
        return 0
    subset = operator.of if isinstance(operator, TextSubset) else ()
    of = [name for name in rows if name in subset or not subset]
    texts = {
        name: cached_corpus(spec, "train", store.root).rows
        for name, spec in operator.texts().items()
    }
    share = experiment.mixture.get(operator.name())
    parents = sum((read if share is None else rows)[name] for name in of)
    return operator.expected_records(parents, texts) * (1 if share is None else share.weight)

"""Estimate the cost of what is trained, before it is, from the texts and the size of the model.

The true time is likely within the factor `cost.ERROR_FACTOR`.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, median

from augury.augment import planning
from augury.augment.mixins import MakesRecords, TextSubset
from augury.augment.operator import RECORDS, Operator
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.filters import word_counts
from augury.corpora.ingest import cached_corpus
from augury.corpora.mixture import row_ranges
from augury.execution.graph import Graph, Step
from augury.experiments.cost import Cost, Text, cost
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.training import history
from augury.training.trained import OUTCOME, Outcome


def estimates(graph: Graph, execution: Execution | None = None) -> dict[str, Cost | None]:
    """Return the cost of one seed of every system and stage before one, and of all seeds of the
    models that operators use.

    Trainings that systems share, with each other or with models, are counted once. `execution`
    overrides that of the experiments.
    """
    trained = graph.earlier_stages | graph.systems
    costs = {
        name: seed_cost(plan.experiment, graph.store, execution) for name, plan in trained.items()
    }
    for address, seeds in graph.unscored.items():
        of_seed = seed_cost(graph.plans[address].experiment, graph.store, execution)
        costs[graph.names[Step(address, seeds[0])]] = of_seed and of_seed._replace(
            seconds=of_seed.seconds * len(seeds), bytes=of_seed.bytes * len(seeds)
        )
    return costs


def seconds_of(graph: Graph) -> dict[Step, float] | None:
    """Return the estimated seconds of every model of a graph as a trial, with its scores where it
    has some; None where those of one are not known."""
    parts = _trial_seconds(graph)
    if parts is None:
        return None
    return {step: training + scoring for step, (training, scoring) in parts.items()}


def remaining(graph: Graph) -> dict[Step, float] | None:
    """Return the seconds that the models of a graph still take as trials: 0 where they are
    complete; None where those of one are not known.

    The pace is that of the trainings that have ended: processors differ, and so does what else
    runs on them.
    """
    parts = _trial_seconds(graph)
    if parts is None:
        return None
    paces, left = [], {}
    for step, (training, scoring) in parts.items():
        assert step.seed is not None
        run = graph.plans[step.address].run(step.seed)
        ended = run.exists(OUTCOME)
        if ended and training:
            paces.append(Outcome.read(run).train_seconds / training)
        if run.complete:
            left[step] = (0.0, 0.0, 0.0)
        else:
            left[step] = (0.0 if ended else training, history.trained_seconds(run), scoring)
    pace = median(paces) if paces else 1.0
    return {
        step: max(pace * training - done, 0.0) + pace * scoring
        for step, (training, done, scoring) in left.items()
    }


def _trial_seconds(graph: Graph) -> dict[Step, tuple[float, float]] | None:
    """Return the seconds of training and of scoring of every model of a graph, on the cores of a
    trial."""
    costs = {}
    for address, plan in graph.plans.items():
        execution = plan.experiment.execution
        threads = execution.threads or max(1, int(execution.cpus_per_worker))
        execution = execution.model_copy(update={"threads": threads})
        known = seed_cost(plan.experiment, graph.store, execution)
        if known is None:
            return None
        costs[address] = known
    parts = {}
    for step in graph.names:
        if step.seed is not None:
            known = costs[step.address]
            scoring = known.scoring if step in graph.scored else 0.0
            parts[step] = (known.seconds - known.scoring, scoring)
    return parts


def seed_cost(
    experiment: Experiment, store: Store, execution: Execution | None = None
) -> Cost | None:
    """Estimate the cost of one seed, trained and scored; None where the size of its model is not
    known."""
    if execution is not None:
        experiment = experiment.model_copy(update={"execution": execution})
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
    if operator.makes() != RECORDS or not isinstance(operator, MakesRecords):
        return 0
    subset = operator.of if isinstance(operator, TextSubset) else ()
    of = [name for name in rows if name in subset or not subset]
    texts = {
        name: cached_corpus(spec, "train", store.root).rows
        for name, spec in planning.extra_texts(operator).items()
    }
    share = experiment.mixture.get(operator.name())
    parents = sum((read if share is None else rows)[name] for name in of)
    return operator.expected_records(parents, texts) * (1 if share is None else share.weight)

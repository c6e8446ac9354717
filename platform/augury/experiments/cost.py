"""Estimate the cost of what is trained, before it is, from the texts and the size of the model.

The true time is likely within the factor `ERROR_FACTOR`.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.augment.operator import RECORDS, TextSubset
from augury.core.execution import Execution
from augury.core.machine import available_cores
from augury.core.progress import duration
from augury.core.store import Store
from augury.core.words import is_unspaced
from augury.corpora.corpus import row_ranges
from augury.corpora.filters import word_counts
from augury.corpora.ingest import cached_corpus
from augury.decoding.settings import Decoding
from augury.experiments.graph import Graph, Step
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.models.sizes import Size, pretrained_size
from augury.training import history
from augury.training.schedule import last_update
from augury.training.settings import Training
from augury.training.trained import OUTCOME, Outcome

SUBWORDS_PER_WORD = 1.4
FLOPS_PER_PARAMETER = 6  # of a parameter and a piece, forward and backward
PRODUCT_SHARE = 0.4
"""What small models reach of the speed of products of matrices in the cache: 0.4 to 0.6 were
measured of larger ones, which are 1.38 times slower."""
PRODUCTS, PRODUCT_SIZE, PRODUCT_REPEATS = 64, 48, 40
GPU_FLOPS = 2e13  # FLOP/s; an assumption
UPDATE_SECONDS = 0.01  # seconds of an update, however small the model is
OVERHEAD = 1.2  # validation and checkpoints on top of training
DECODING_SHARE = 0.4
"""The time of decoding as a share of that of its products: 50 sentences a CPU second were measured
with the model `small` and a beam of 5, and 2 with T5-base."""
SCORING_SECONDS = 3  # of the conversion of the model and of the metrics, however small all is
ERROR_FACTOR = 3
"""The true time is likely between the estimate divided by this factor and multiplied by it."""


class TrainingEstimate(NamedTuple):
    """The estimated cost of one run."""

    parameters: int
    updates: int
    """The maximum: training may end before."""
    seconds: float
    """Of training and scoring."""
    bytes: int
    """On disk."""
    updates_per_epoch: int
    scoring: float = 0.0
    """Those of the seconds that scoring takes."""

    @property
    def training(self) -> float:
        """The seconds of training alone."""
        return self.seconds - self.scoring

    def unscored(self) -> TrainingEstimate:
        """Return the cost of training alone."""
        return self._replace(seconds=self.training, scoring=0.0)


def estimate_training(
    experiment: Experiment, size: Size, rows: int, words: Sequence[float], test_rows: int = 0
) -> TrainingEstimate:
    """Estimate the cost of one seed of an experiment, trained on `rows` rows and scored on the
    `test_rows` of all test sets; `words` are the mean ones of source and target, or of all sides
    together for a model that reads them as one."""
    training, groups = experiment.training, experiment.view_groups()
    pieces = [SUBWORDS_PER_WORD * count for count in words]
    fitting = max(1.0, training.max_tokens / max(1.0, *pieces))
    read = min(fitting, training.max_examples or fitting, rows)
    read *= training.workers * training.accumulation
    per_epoch = math.ceil(rows / read)
    updates = last_update(training, per_epoch)
    views = max(len(group.views) for group in groups)
    passed = sum(count * parameters for count, parameters in zip(pieces, size[1:], strict=False))
    work = FLOPS_PER_PARAMETER * updates * read * views * passed * experiment.regime.relative_cost
    speed = _speed(experiment.execution, training)
    seconds = OVERHEAD * (work / speed + UPDATE_SECONDS * updates)
    # The checkpoints of the mean, at least two, the model reported on, its form for decoding; and
    # the two moments of the optimizer in each of the last two checkpoints.
    kept = max(training.average_last, 2) + 2 + 2 * 2
    scoring = 0.0
    if test_rows:
        decoding = getattr(experiment, "decoding", None)
        beam = decoding.beam if isinstance(decoding, Decoding) else 1
        passed = pieces[0] * size.source + (beam * pieces[-1] * size.target if size.target else 0)
        # A third of the products of training, which go backward too.
        work = FLOPS_PER_PARAMETER / 3 * passed * test_rows
        scoring = SCORING_SECONDS + DECODING_SHARE * work / speed
    return TrainingEstimate(
        parameters=size.parameters,
        updates=updates,
        seconds=seconds + scoring,
        bytes=4 * size.parameters * kept,
        updates_per_epoch=per_epoch,
        scoring=scoring,
    )


def uses_gpu(execution: Execution) -> bool:
    """Return whether training would run on GPUs, without querying them."""
    return execution.device == "cuda" or (
        execution.device == "auto" and Path("/dev/nvidia0").exists()
    )


@functools.cache
def core_flops() -> float:
    """Return the FLOP/s that small models reach on a core of this machine, by the best of some
    products of matrices, which take 10 ms.

    Cores differ by a factor of five. The products are so small that they run on one core, and
    processor time is the same on a busy machine.
    """
    stack = np.ones((PRODUCTS, PRODUCT_SIZE, PRODUCT_SIZE), np.float32)
    product = np.empty_like(stack)  # memory that is new each time takes longer than the products
    seconds = []
    for _ in range(PRODUCT_REPEATS):
        start = time.thread_time()
        np.matmul(stack, stack[0], out=product)
        seconds.append(time.thread_time() - start)
    return PRODUCT_SHARE * 2 * PRODUCTS * PRODUCT_SIZE**3 / min(seconds)


def _speed(execution: Execution, training: Training) -> float:
    """Return the FLOP/s that one of several trials has."""
    if uses_gpu(execution):
        return GPU_FLOPS * training.workers
    threads = training.workers * (execution.threads or 1)
    return core_flops() * min(available_cores(), threads) ** 0.8


class TotalEstimate(NamedTuple):
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


def estimate_all(
    graph: Graph, base: Experiment, at_once: int | None = None
) -> TotalEstimate | None:
    """Return the estimated cost of the models of a graph; None where that of one is not known.

    As many run side by side as fit this machine, or `at_once`.
    """
    left, costs = remaining(graph), estimate_trials(graph)
    if left is None or costs is None:
        return None
    parallel = trials_at_once(base, at_once)
    scored = [step for step in graph.names if step in graph.scored]
    firsts = {step.address: step for step in reversed(scored)}
    first = sum(left.get(step, 0.0) for step in graph.missing(firsts.values()))
    size = sum(cost.bytes for cost in costs.values())
    return TotalEstimate(first / parallel, sum(left.values()) / parallel, size, parallel)


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
    costs = estimate_trials(graph)
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


def estimate_trials(graph: Graph) -> dict[Step, TrainingEstimate] | None:
    """Return the cost of every model of a graph, without scores where it has none; None where that
    of one is not known."""
    of_plans: dict[str, TrainingEstimate] = {}
    for address, plan in graph.plans.items():
        if (known := estimate_seed(plan.experiment, graph.store)) is None:
            return None
        of_plans[address] = known
    return {
        step: of_plans[step.address] if step in graph.scored else of_plans[step.address].unscored()
        for step in graph.names
        if step.seed is not None
    }


def _mean_words(texts: pa.Array) -> float:
    """Return the mean number of words of texts; without spaces, two characters count as one."""
    if is_unspaced(texts.slice(0, 100).to_pylist()):
        return float(pc.mean(pc.utf8_length(texts)).as_py()) / 2
    return float(word_counts(texts).mean())


def estimate_seed(experiment: Experiment, store: Store) -> TrainingEstimate | None:
    """Estimate the cost of one seed, trained and scored; None where the size of its model is not
    known."""
    first, task = experiment.first, find_task(experiment.task)
    size = pretrained_size(first.pretrained.name) if first.pretrained else task.size(first, store)
    if size is None:
        return None
    train, shares = cached_corpus(experiment.corpus, "train", store.root), experiment.corpus.shares
    rows = {name: end - start for name, start, end in row_ranges(train)}
    read = {name: shares[name].weight * count for name, count in rows.items()}
    middle = train.shard(train.shards[len(train.shards) // 2], train.kind.sentences)
    words = [_mean_words(column.combine_chunks()) for column in middle.columns]
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
    test_rows = sum(corpus.rows for corpus in tests)
    read_together = words if size.target else [sum(words)]
    return estimate_training(experiment, size, max(1, round(all_rows)), read_together, test_rows)

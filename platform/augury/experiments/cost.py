"""Estimate what runs cost, trained and scored: from the size of a model, its texts and its budget
that of one, and from a graph that of a command."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from augury.augment import planning
from augury.augment.mixins import MakesRecords, TextSubset
from augury.augment.operator import RECORDS, Operator
from augury.core.execution import Execution
from augury.core.machine import available_cores
from augury.core.paths import expanded
from augury.core.progress import duration
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.filters import word_counts
from augury.corpora.ingest import cached_corpus
from augury.corpora.mixture import row_ranges
from augury.decoding.settings import Decoding
from augury.experiments.graph import Graph, Step
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
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
BF16_SPEEDUP = 2  # of products in bfloat16 on a CPU made for them: 1.4 to 2.0 were measured
GPU_FLOPS = 2e13  # FLOP/s; an assumption
UPDATE_SECONDS = 0.01  # seconds of an update, however small the model is
OVERHEAD = 1.2  # validation and checkpoints on top of training
DECODING_SHARE = 0.4
"""The time of decoding as a share of that of its products: 50 sentences a CPU second were measured
with the model `small` and a beam of 5, and 2 with T5-base."""
SCORING_SECONDS = 3  # of the conversion of the model and of the metrics, however small all is
ERROR_FACTOR = 3
"""The true time is likely between the estimate divided by this factor and multiplied by it."""
SIZES = (
    ("hidden_size", "d_model", "dim"),
    ("num_hidden_layers", "num_layers", "n_layers", "encoder_layers"),
    ("intermediate_size", "d_ff", "encoder_ffn_dim", "hidden_dim"),
    ("vocab_size",),
)
"""The names under which configurations have hidden size, layers, feed-forward size and
vocabulary size."""


class Size(NamedTuple):
    """The parameters of a model, and those that a subword of the source and of the target passes
    through."""

    parameters: int
    source: int
    target: int = 0
    """The output layer included."""


class Text(NamedTuple):
    """The size of the texts of a run: training rows, and mean words of each side of a row."""

    rows: int
    words: Sequence[float]
    """The mean words of source and target, or of all sides together for a model that reads them
    as one."""
    plain_rows: int | None = None
    """Those of the rows that operators did not make; None: all."""
    test_rows: int = 0
    """Those of all test sets."""


class Cost(NamedTuple):
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


def cost(experiment: Experiment, size: Size, text: Text) -> Cost:
    """Estimate the cost of one seed of an experiment, trained and scored."""
    training, groups = experiment.training, experiment.view_groups()
    pieces = [SUBWORDS_PER_WORD * words for words in text.words]
    rows = max(1.0, training.max_tokens / max(1.0, *pieces))
    rows = (
        min(rows, training.max_examples or rows, text.rows)
        * training.workers
        * training.accumulation
    )
    per_epoch = math.ceil(text.rows / rows)
    plain = text.plain_rows if training.equal != "epochs" else None
    counted = per_epoch if plain is None else math.ceil(plain / rows)
    updates = last_update(training, counted)
    views = max(len(group.views) for group in groups)
    passed = sum(count * parameters for count, parameters in zip(pieces, size[1:], strict=False))
    work = FLOPS_PER_PARAMETER * updates * rows * views * passed * experiment.regime.relative_cost
    speed = _speed(experiment.execution, training)
    seconds = OVERHEAD * (work / speed + UPDATE_SECONDS * updates)
    if training.max_minutes is not None and 60 * training.max_minutes < seconds:
        updates = max(1, round(updates * 60 * training.max_minutes / seconds))
        seconds = 60 * training.max_minutes
    # The checkpoints of the mean, at least two, the model reported on, its form for decoding; and
    # the two moments of the optimizer in each of the last two checkpoints.
    kept = max(training.average_last, 2) + 2 + 2 * 2
    scoring = _scoring(experiment, size, text, pieces, speed) if text.test_rows else 0.0
    return Cost(
        parameters=size.parameters,
        updates=updates,
        seconds=seconds + scoring,
        bytes=4 * size.parameters * kept,
        updates_per_epoch=per_epoch,
        scoring=scoring,
    )


def _scoring(
    experiment: Experiment, size: Size, text: Text, pieces: Sequence[float], speed: float
) -> float:
    """Estimate the seconds in which the test sets get outputs and scores."""
    decoding = getattr(experiment, "decoding", None)
    beam = decoding.beam if isinstance(decoding, Decoding) else 1
    passed = pieces[0] * size.source + (beam * pieces[-1] * size.target if size.target else 0)
    # A third of the products of training, which go backward too.
    work = FLOPS_PER_PARAMETER / 3 * passed * text.test_rows
    return SCORING_SECONDS + DECODING_SHARE * work / speed


def transformer(
    entries: int,
    hidden: int,
    feedforward: int,
    encoder_layers: int,
    decoder_layers: int = 0,
    *,
    matrices: int = 1,
) -> Size:
    """Return the size of a transformer, biases and normalisation left out.

    `entries` are those of its vocabulary, `matrices` the matrices that embed them; without a
    decoder it is an encoder.
    """
    embeddings, encoder = entries * hidden, _layers(encoder_layers, hidden, feedforward)
    if not decoder_layers:
        return Size(embeddings + encoder, encoder)
    decoder = _layers(decoder_layers, hidden, feedforward, attentions=2)
    return Size(matrices * embeddings + encoder + decoder, encoder, decoder + embeddings)


def pretrained_size(name: str) -> Size | None:
    """Return the size of a model in a directory; None where it is a name on a hub, or its sizes
    have other names."""
    try:
        sizes = json.loads((expanded(name) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    hidden, count, feedforward, vocabulary = (
        next((sizes[key] for key in keys if isinstance(sizes.get(key), int)), None)
        for keys in SIZES
    )
    if hidden is None or count is None or feedforward is None:
        return None
    decoder = 0
    if sizes.get("is_encoder_decoder"):
        decoder = sizes.get("decoder_layers") or sizes.get("num_decoder_layers") or count
    return transformer(vocabulary or 0, hidden, feedforward, count, decoder)


def uses_gpu(execution: Execution) -> bool:
    """Return whether training would run on GPUs, without querying them."""
    return execution.device == "cuda" or (
        execution.device == "auto" and Path("/dev/nvidia0").exists()
    )


def cpu_is_fast_in_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor of this machine multiplies bfloat16 faster than float32, as far
    as Linux tells.

    Intel's AVX-512 instructions alone do not: they were measured at half the rate of float32.
    """
    try:
        flags = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return (
        "amx_bf16" in flags
        or " bf16" in flags
        or ("avx512_bf16" in flags and "AuthenticAMD" in flags)
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
    if uses_gpu(execution):
        return GPU_FLOPS * training.workers
    faster = BF16_SPEEDUP if training.precision == "bf16" and cpu_is_fast_in_bfloat16() else 1
    return core_flops() * faster * _cores(execution, training.workers) ** 0.8


def _cores(execution: Execution, workers: int) -> int:
    """Return the cores that one of several trials has."""
    threads = execution.threads or max(1, int(execution.cpus_per_worker))
    return min(available_cores(), workers * threads)


def _layers(count: int, hidden: int, feedforward: int, *, attentions: int = 1) -> int:
    return count * (4 * attentions * hidden**2 + 2 * hidden * feedforward)


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

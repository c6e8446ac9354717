"""Estimate the size of a model from its settings or files, and the cost of a training from that
size, the size of its text and its budget."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from augury.core.execution import Execution
from augury.core.machine import available_cores
from augury.core.paths import expanded
from augury.core.progress import duration
from augury.experiments.spec import Experiment
from augury.training.schedule import last_update
from augury.training.settings import Training

SUBWORDS_PER_WORD = 1.4
FLOPS_PER_PARAMETER = 6  # of a parameter and a piece, forward and backward
PRODUCT_SHARE = 0.4
"""What small models reach of the speed of products of matrices in the cache: 0.4 to 0.6 were
measured of larger ones, which are 1.38 times slower."""
PRODUCTS, PRODUCT_SIZE, PRODUCT_REPEATS = 64, 48, 40
BF16_SPEEDUP = 2  # of products in bfloat16 on a CPU made for them: 1.4 to 2.0 were measured
GPU_FLOPS = 2e13  # FLOP/s; an assumption
UPDATE_SECONDS = 0.01  # seconds of an update, however small the model is
OVERHEAD = 1.2  # validation, checkpoints and decoding on top of training
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
    """The size of a training text: rows, and mean words of each side of a row."""

    rows: int
    words: Sequence[float]
    """The mean words of source and target, or of all sides together for a model that reads them
    as one."""
    plain_rows: int | None = None
    """Those of the rows that operators did not make; None: all."""


class Cost(NamedTuple):
    """The estimated cost of one run."""

    parameters: int
    updates: int
    """The maximum: training may end before."""
    seconds: float
    bytes: int
    """On disk."""
    updates_per_epoch: int
    shared: float = 0.0
    """Seconds of a beginning that is trained for several, and has an entry of its own."""


class Total(NamedTuple):
    """The estimated cost of all runs together."""

    seconds: float | None
    """Wall time; None where a part is not known."""
    bytes: float | None
    where: str
    """The devices, for people."""
    unknown: tuple[str, ...]
    """The models whose cost is not known."""

    def __str__(self) -> str:
        if self.seconds is None or self.bytes is None:
            return f"not known before the models of {', '.join(self.unknown)} are fetched"
        size = self.bytes / 1e6
        disk = f"{size:,.0f} MB" if size < 1000 else f"{size / 1000:,.1f} GB"
        return (
            f"about {duration(self.seconds)} on {self.where} and {disk} of disk at most, if no "
            f"other run shares them; rough: {ERROR_FACTOR} times less or more"
        )


def total(
    costs: Mapping[str, Cost | None], seeds: Mapping[str, int], execution: Execution, workers: int
) -> Total:
    """Return the cost of `seeds` runs of each system.

    Those without an entry, such as an operator's model, run once.
    """
    where, at_once = devices(execution, workers)
    known = [(cost, seeds.get(name, 1)) for name, cost in costs.items() if cost is not None]
    unknown = tuple(name for name, cost in costs.items() if cost is None)
    seconds = sum((cost.seconds - cost.shared) * count for cost, count in known) / at_once
    size = sum(cost.bytes * count for cost, count in known)
    return Total(None if unknown else seconds, None if unknown else size, where, unknown)


def cost(experiment: Experiment, size: Size, text: Text) -> Cost:
    """Estimate the cost of one seed of an experiment."""
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
    seconds = OVERHEAD * (work / _speed(experiment.execution, training) + UPDATE_SECONDS * updates)
    if training.max_minutes is not None and 60 * training.max_minutes < seconds:
        updates = max(1, round(updates * 60 * training.max_minutes / seconds))
        seconds = 60 * training.max_minutes
    # The checkpoints of the mean, at least two, the model reported on, its form for decoding; and
    # the two moments of the optimizer in each of the last two checkpoints.
    kept = max(training.average_last, 2) + 2 + 2 * 2
    return Cost(size.parameters, updates, seconds, 4 * size.parameters * kept, per_epoch)


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


def devices(execution: Execution, workers: int) -> tuple[str, int]:
    """Return where training would run on this machine, for people, and how many runs would share
    it side by side."""
    if uses_gpu(execution):
        return f"{workers * execution.at_once} GPUs", execution.at_once
    cores_of_run, cores = _cores(execution, workers), available_cores()
    at_once = max(1, min(execution.at_once, cores // cores_of_run))
    return f"{at_once * cores_of_run} of {cores} cores", at_once


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
    available = available_cores()
    return min(available, workers * execution.threads) if execution.threads else available


def _layers(count: int, hidden: int, feedforward: int, *, attentions: int = 1) -> int:
    return count * (4 * attentions * hidden**2 + 2 * hidden * feedforward)

"""Estimate the size of a model from its settings or files, and from that, its texts and its budget
the cost of a run, trained and scored."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from augury.core.execution import Execution
from augury.core.machine import available_cores
from augury.core.paths import expanded
from augury.decoding.settings import Decoding
from augury.experiments.spec import Experiment
from augury.training.schedule import last_update
from augury.training.settings import Training

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

    @property
    def training(self) -> float:
        """The seconds of training alone."""
        return self.seconds - self.scoring

    def unscored(self) -> Cost:
        """Return the cost of training alone."""
        return self._replace(seconds=self.training, scoring=0.0)


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
    updates = last_update(training, per_epoch)
    views = max(len(group.views) for group in groups)
    passed = sum(count * parameters for count, parameters in zip(pieces, size[1:], strict=False))
    work = FLOPS_PER_PARAMETER * updates * rows * views * passed * experiment.regime.relative_cost
    speed = _speed(experiment.execution, training)
    seconds = OVERHEAD * (work / speed + UPDATE_SECONDS * updates)
    # The checkpoints of the mean, at least two, the model reported on, its form for decoding; and
    # the two moments of the optimizer in each of the last two checkpoints.
    kept = max(training.average_last, 2) + 2 + 2 * 2
    scoring = 0.0
    if text.test_rows:
        decoding = getattr(experiment, "decoding", None)
        beam = decoding.beam if isinstance(decoding, Decoding) else 1
        passed = pieces[0] * size.source + (beam * pieces[-1] * size.target if size.target else 0)
        # A third of the products of training, which go backward too.
        work = FLOPS_PER_PARAMETER / 3 * passed * text.test_rows
        scoring = SCORING_SECONDS + DECODING_SHARE * work / speed
    return Cost(
        parameters=size.parameters,
        updates=updates,
        seconds=seconds + scoring,
        bytes=4 * size.parameters * kept,
        updates_per_epoch=per_epoch,
        scoring=scoring,
    )


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


def _layers(count: int, hidden: int, feedforward: int, *, attentions: int = 1) -> int:
    return count * (4 * attentions * hidden**2 + 2 * hidden * feedforward)

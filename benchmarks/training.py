"""Compare the engine's training speed with a plain loop around the same Hugging Face model.

    python -m benchmarks.training [--precision fp32 bf16] [--repeats 5] [--json]

    engine          augury.training.loop as `augury train` runs it: unpadded rows, the objective
                    with a chunked gradient, dropout of its own, a single division, gradient norm,
                    a check for non-finite values, fused Adam, history
    plain loop      model(...).logits, torch.nn.functional.cross_entropy, backward,
                    torch.optim.Adam; with co-regularisation one forward pass per view, and the
                    divergence as in R-Drop's code, with softmax and log-softmax of the logits

Both train a copy of the same model (architecture `small`, vocabulary 8,000) on the same batches,
planned and loaded by the engine (at most 4,096 tokens: sentences times the longest side), in two
threads. Loading is timed; validation and checkpoints are not. The text is Multi30k de-en if
AUGURY_DATA is the directory of the corpora, else the built-in corpus. The plain regime reads the
source, the co-regularised one the source and one of two ciphers.

The contenders alternate, so that other load affects them equally; a round is one batch. Figures are
medians over rounds; ratios are medians of the ratios within a round. A target token counts once,
however many views it is predicted from; `src+tgt` counts all tokens that pass through the model.
`padding` is the share of padding among the model's positions; `shapes` are those of an epoch's
batches (rows, longest source and target), for each of which a GPU would compile a graph.

First, the losses of both on the first batch without dropout must be equal. The engine distributes
the smoothing mass ε over the other V - 1 classes, like fairseq, torch over all V: ε V / (V - 1) in
torch is ε = 0.1 in the engine. The plain loop passes the decoder's input and no labels, as Hugging
Face's collator does: with labels, the model would compute a second, unused loss.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import copy
import functools
import itertools
import math
import statistics
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers.models.marian.modeling_marian import shift_tokens_right

from augury.core.store import Store
from augury.experiments import make
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.regimes.coregularised import CoRegularised
from augury.regimes.regime import Progress
from augury.training.loop import Trainer
from augury.training.settings import Training
from benchmarks import frame
from trainables.nmt.translation import Batch, Translation

VOCABULARY, MAX_TOKENS, BUILTIN_SENTENCES = 8_000, 4_096, 29_000  # the size of Multi30k
CPU = torch.device("cpu")
REGIMES: dict[str, dict[str, Any]] = {
    "plain": {"regime": "plain", "vocabulary": {"size": VOCABULARY}},
    "co-regularised": {
        "regime": {"name": "coregularised", "warmup_steps": 0},
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "vocabulary": {"size": VOCABULARY // 2, "size_per_key": VOCABULARY // 4},
    },
}


class PlainLoop:
    """A tutorial-style training loop with a copy of the engine's model."""

    def __init__(self, task: Translation, training: Training, device: torch.device = CPU):
        self.task, self.regime, self.device = task, task.regime, device
        self.model = copy.deepcopy(task.module).to(device)
        self.pad, self.eos = task.vocabulary.pad, task.vocabulary.eos
        classes = len(task.vocabulary)
        self.smoothing = self.regime.label_smoothing * classes / (classes - 1)
        self.bf16 = training.precision == "bf16"
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=training.learning_rate,
            betas=training.adam_betas,
            eps=training.adam_eps,
        )

    def step(self, examples: np.ndarray) -> None:
        batch = self.task.load(examples, 0, self.device).batch
        self.model.train()
        self.optimizer.zero_grad()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            loss = self._loss(batch)
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def loss(self, batch: Batch) -> float:
        self.model.eval()
        return float(self._loss(batch))

    def _loss(self, batch: Batch) -> Tensor:
        if isinstance(self.regime, CoRegularised):
            return self._coregularised(batch, self.regime)
        return self._cross_entropy(self._logits(batch.sources[0], batch.labels), batch.labels)

    def _logits(self, source: Tensor, labels: Tensor) -> Tensor:
        shifted = shift_tokens_right(labels, self.pad, self.eos)
        output = self.model(
            input_ids=source,
            attention_mask=source != self.pad,
            decoder_input_ids=shifted,
            use_cache=False,
        )
        return output.logits

    def _cross_entropy(self, logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            ignore_index=self.pad,
            label_smoothing=self.smoothing,
        )

    def _coregularised(self, batch: Batch, regime: CoRegularised) -> Tensor:
        first, second = (self._logits(source, batch.labels) for source in batch.sources)
        likelihood = sum(self._cross_entropy(logits, batch.labels) for logits in (first, second))
        pads = batch.labels == self.pad
        divergences = [
            F.kl_div(F.log_softmax(q, dim=-1), F.softmax(p, dim=-1), reduction="none")
            .masked_fill(pads.unsqueeze(-1), 0.0)
            .sum()
            for p, q in ((first, second), (second, first))
        ]
        agreement = sum(divergences) / 2 / (~pads).sum()
        return (likelihood + regime.beta * agreement) / regime.norm


def prepare(regime: str, precision: str, store: Store) -> Run:
    """Return a prepared run of a regime."""
    languages = {"source_language": "de", "target_language": "en"}
    builtin = {
        "train": {"builtin": BUILTIN_SENTENCES},
        "valid": {"builtin": 100},
        "tests": {"test": {"builtin": 100}},
    }
    experiment = parse(
        {
            "name": "benchmark",
            "task": "nmt",
            "storage": store.root,
            "corpus": languages
            | ({"known": "multi30k"} if "AUGURY_DATA" in os.environ else builtin),
            "model": {"architecture": "small"},
            "training": {"max_tokens": MAX_TOKENS, "precision": precision},
            "execution": {"executor": "local"},
            **REGIMES[regime],
        }
    )
    return make.prepare(experiment, store)


def measure(run: Run, repeats: int) -> Iterator[frame.Row]:
    """Yield the figures of both contenders in `repeats` rounds after a warm-up round."""
    task = Translation(run)
    assert len(task.vocabulary) == VOCABULARY
    trainer = Trainer(task, run.experiment.training, run, device=CPU)
    plain = PlainLoop(task, run.experiment.training)
    steps: dict[str, Callable[[np.ndarray], object]] = {
        "engine": lambda examples: trainer.step([examples]),
        "plain loop": plain.step,
    }
    batches = [examples for update in trainer.rest_of_epoch() for examples in update]
    lengths, rows = task.lengths, [examples % len(task.lengths.targets) for examples in batches]
    shapes = {
        (len(batch), lengths.sources[batch].max(), lengths.targets[batch].max()) for batch in rows
    }
    first = task.load(batches[0], 0, CPU).batch
    losses = {"engine": loss(task, first), "plain loop": plain.loss(first)}
    assert math.isclose(*losses.values(), rel_tol=1e-5), losses
    samples: dict[str, list[frame.Clock]] = {name: [] for name in steps}
    targets, tokens, positions = [], [], []
    for number, examples in enumerate(batches[: repeats + 1]):
        loaded = task.load(examples, 0, CPU)
        clocks = {
            name: frame.clock(functools.partial(steps[name], examples))[0]
            for name in frame.rotated(list(steps), number)
        }
        if number == 0:
            continue
        for name, clock in clocks.items():
            samples[name].append(clock)
        targets.append(int((loaded.batch.labels != task.vocabulary.pad).sum()))
        tokens.append(loaded.tokens)
        positions.append(loaded.positions)
    cpu = {name: [clock.cpu for clock in clocks] for name, clocks in samples.items()}
    wall = {name: [clock.wall for clock in clocks] for name, clocks in samples.items()}
    for name in steps:
        yield {
            "name": name,
            "CPU s": statistics.median(cpu[name]),
            "wall s": statistics.median(wall[name]),
            "target/s": frame.ratio(targets, wall[name]),
            "src+tgt/s": frame.ratio(tokens, wall[name]),
            "target/CPU s": frame.ratio(targets, cpu[name]),
            "x plain loop": frame.ratio(wall["plain loop"], wall[name]),
            "by CPU": frame.ratio(cpu["plain loop"], cpu[name]),
            "loss": f"{losses[name]:.6f}",
            "padding": 1 - sum(tokens) / sum(positions),
            "batches": len(batches),
            "shapes": len(shapes),
        }


@torch.no_grad()
def loss(task: Translation, batch: Batch) -> float:
    """Return the engine's loss without dropout."""
    task.module.eval()
    losses = task.loss(batch, Progress(0))
    return float(losses.total) / losses.divisor


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="batches of each regime (default 5)")
    parser.add_argument(
        "--precision",
        nargs="+",
        choices=["fp32", "bf16"],
        default=["fp32"],
        help="precisions to train in (default fp32)",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    rows: list[frame.Row] = []
    with tempfile.TemporaryDirectory() as root:
        for precision, regime in itertools.product(arguments.precision, REGIMES):
            run = prepare(regime, precision, Store(root))
            rows += [
                {"regime": regime, "precision": precision, **row}
                for row in measure(run, arguments.repeats)
            ]
    text = "Multi30k de-en" if "AUGURY_DATA" in os.environ else "built-in corpus"
    frame.report(arguments, {"text": text, "repeats": arguments.repeats, "threads": 2}, rows)


if __name__ == "__main__":
    main()

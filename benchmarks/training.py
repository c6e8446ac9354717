"""Compare the engine's training speed with a plain loop around the same Hugging Face model.

    python -m benchmarks.training [--precision fp32 bf16] [--repeats 5]
        [--json]

    engine          augury.training.loop as `augury train` runs it: unpadded rows, the objective
                    with a chunked gradient, dropout of its own, a single division, gradient norm,
                    a check for non-finite values, fused Adam, history
    plain loop      model(...).logits, torch.nn.functional.cross_entropy, backward,
                    torch.optim.Adam; with co-regularisation one forward pass per view, and the
                    divergence as in R-Drop's code, with softmax and log-softmax of the logits
    JoeyNMT         its model of the same sizes and its loss in the plain loop, if it is installed
                    (`benchmarks/peers/joeynmt_model.py`), under the plain regime

Both train a copy of the same model (architecture `small`, vocabulary 8,000) on the same batches,
planned and loaded by the engine (at most 4,096 tokens: sentences times the longest side), in two
threads. Loading is timed; validation and checkpoints are not. The text is Multi30k de-en if
AUGURY_DATA is the directory of the corpora, else the built-in corpus. The plain regime reads the
source, the co-regularised one the source and one of two ciphers.

The contenders alternate, so that other load affects them equally; a round is one batch. Figures are
medians over rounds; ratios are medians of the ratios within a round. CPU seconds are those of this
process. A target token counts once, however many views it is predicted from; `src+tgt` counts all
tokens that pass through the model. `padding` is the share of padding among the model's positions;
`shapes` are those of an epoch's batches (rows, longest source and target), for each of which a GPU
would compile a graph.

First, the losses of both on the first batch without dropout must be equal. The engine distributes
the smoothing mass ε over the other V - 1 classes, like fairseq, torch over all V: ε V / (V - 1) in
torch is ε = 0.1 in the engine. The plain loop passes the decoder's input and no labels, as Hugging
Face's collator does: with labels, the model would compute a second, unused loss.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import argparse
import copy
import itertools
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
import transformers
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
from trainables.nmt.config import resolve
from trainables.nmt.translation import Translation
from trainables.sequence import Batch

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


class Sample(NamedTuple):
    """One update of one contender."""

    cpu: float
    wall: float


class Round(NamedTuple):
    """One batch: its target tokens, all tokens and positions of the model, and the cost for each
    contender."""

    targets: int
    tokens: int
    positions: int
    samples: dict[str, Sample]


class Engine:
    """Augury's training loop, one update at a time."""

    def __init__(self, task: Translation, run: Run):
        self.task = task
        self.trainer = Trainer(task, task.experiment.training, run, device=CPU)

    def batches(self) -> Iterator[np.ndarray]:
        """Return the examples of every update."""
        return (examples for update in self.trainer.rest_of_epoch() for examples in update)

    def shapes(self) -> tuple[int, int]:
        """Return how many batches an epoch has, and how many shapes of plain text."""
        sources, targets = self.task.lengths.sources, self.task.lengths.targets
        batches = [examples % len(targets) for examples in self.batches()]
        shapes = {(len(rows), sources[rows].max(), targets[rows].max()) for rows in batches}
        return len(batches), len(shapes)

    def step(self, examples: np.ndarray) -> None:
        self.trainer.step([examples])

    @torch.no_grad()
    def loss(self, batch: Batch) -> float:
        self.task.module.eval()
        losses = self.task.loss(batch, Progress(0))
        return float(losses.total) / losses.divisor


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


class JoeyNmt:
    """The plain loop around JoeyNMT's model, in 32-bit floats."""

    def __init__(self, task: Translation):
        from benchmarks.peers import joeynmt_model

        sizes = resolve(task.experiment.transformer)
        self.task, self.loss = task, joeynmt_model.loss
        self.model = joeynmt_model.model_of(
            len(task.vocabulary),
            sizes.encoder_layers,
            sizes.hidden_size,
            sizes.feedforward_size,
            sizes.attention_heads,
            sizes.dropout,
        ).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=6e-4, betas=(0.9, 0.98))

    def step(self, examples: np.ndarray) -> None:
        batch = self.task.load(examples, 0, CPU).batch
        self.optimizer.zero_grad()
        self.loss(self.model, batch.sources[0], batch.labels, self.task.vocabulary.pad).backward()
        self.optimizer.step()


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


def peers(task: Translation) -> dict[str, Callable[[np.ndarray], None]]:
    """Return the steps of other toolkits that are installed, where they can take them."""
    plain = task.regime.name == "plain" and task.experiment.training.precision == "fp32"
    return {"JoeyNMT": JoeyNmt(task).step} if plain and find_spec("joeynmt") else {}


def measure(engine: Engine, plain: PlainLoop, repeats: int) -> tuple[dict[str, float], list[Round]]:
    """Return both losses on the first batch, and `repeats` rounds after a warm-up round."""
    steps: dict[str, Callable[[np.ndarray], None]] = {
        "engine": engine.step,
        "plain loop": plain.step,
        **peers(engine.task),
    }
    losses, rounds = {}, []
    for number, examples in enumerate(itertools.islice(engine.batches(), repeats + 1)):
        loaded = engine.task.load(examples, 0, CPU)
        if number == 0:
            losses = {"engine": engine.loss(loaded.batch), "plain loop": plain.loss(loaded.batch)}
            assert math.isclose(*losses.values(), rel_tol=1e-5), losses
        samples = {}
        for name in list(steps)[:: 1 if number % 2 else -1]:
            wall, cpu = time.perf_counter(), time.process_time()
            steps[name](examples)
            samples[name] = Sample(time.process_time() - cpu, time.perf_counter() - wall)
        targets = int((loaded.batch.labels != engine.task.vocabulary.pad).sum())
        rounds.append(Round(targets, loaded.tokens, loaded.positions, samples))
    return losses, rounds[1:]


def summary(rounds: list[Round]) -> dict[str, dict[str, float]]:
    def row(name: str) -> dict[str, float]:
        samples = [(batch, batch.samples[name], batch.samples["plain loop"]) for batch in rounds]
        return {
            "cpu_seconds": statistics.median(own.cpu for _, own, _ in samples),
            "wall_seconds": statistics.median(own.wall for _, own, _ in samples),
            "target_tokens_per_second": statistics.median(
                batch.targets / own.wall for batch, own, _ in samples
            ),
            "tokens_per_second": statistics.median(
                batch.tokens / own.wall for batch, own, _ in samples
            ),
            "target_tokens_per_cpu_second": statistics.median(
                batch.targets / own.cpu for batch, own, _ in samples
            ),
            "times_plain_loop": statistics.median(
                plain.wall / own.wall for _, own, plain in samples
            ),
            "times_plain_loop_cpu": statistics.median(
                plain.cpu / own.cpu for _, own, plain in samples
            ),
        }

    return {name: row(name) for name in rounds[0].samples}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5, help="batches of each regime (default 5)")
    parser.add_argument(
        "--precision",
        nargs="+",
        choices=["fp32", "bf16"],
        default=frame.precisions(),
        help="precisions to train in (default both, or fp32 where the processor emulates bf16)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(2)

    results = {}
    with tempfile.TemporaryDirectory() as root:
        store = Store(root)
        for precision, regime in itertools.product(arguments.precision, REGIMES):
            run = prepare(regime, precision, store)
            task = Translation(run)
            assert len(task.vocabulary) == VOCABULARY
            engine = Engine(task, run)
            batches, shapes = engine.shapes()
            losses, rounds = measure(
                engine, PlainLoop(task, task.experiment.training), arguments.repeats
            )
            results[f"{regime}, {precision}"] = {
                "batches": batches,
                "shapes": shapes,
                "padding": 1
                - sum(batch.tokens for batch in rounds) / sum(batch.positions for batch in rounds),
                "losses": losses,
                "contenders": summary(rounds),
            }
    text = "Multi30k de-en" if "AUGURY_DATA" in os.environ else "built-in corpus"
    setting = {"text": text, "repeats": arguments.repeats, "threads": torch.get_num_threads()}
    if arguments.json:
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        print(json.dumps({**setting, **versions, "regimes": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    for regime, result in results.items():
        report(regime, result)


def report(regime: str, result: dict[str, Any]) -> None:
    losses = ", ".join(f"{name} {loss:.6f}" for name, loss in result["losses"].items())
    print(f"\n{regime}: padding {result['padding']:.1%}; loss of the first batch: {losses}")
    print(f"an epoch's {result['batches']} batches have {result['shapes']} shapes")
    titles = "CPU s", "wall s", "target/s", "src+tgt/s", "target/CPU s", "x plain loop", "by CPU"
    forms = ".2f", ".2f", ",.0f", ",.0f", ",.0f", ".2f", ".2f"
    print(f"{'':10}" + "".join(f"{title:>13}" for title in titles))
    for name, row in result["contenders"].items():
        print(
            f"{name:10}"
            + "".join(f"{value:>13{form}}" for value, form in zip(row.values(), forms, strict=True))
        )


if __name__ == "__main__":
    main()

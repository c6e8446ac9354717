"""Measure the CPU time that token draws add to a training step.

    python -m benchmarks.draws [--repeats 60] [--json]

A step is one update of the engine under the plain regime, including loading: architecture `tiny`
with hidden size 192 and feed-forward size 768, a vocabulary of 4,000, batches of 1,500 tokens, one
thread. The text is the first 5,000 pairs of Multi30k de-en if AUGURY_DATA is the directory of the
corpora, else of the built-in corpus.

A round is one batch: a step, then the same batch loaded without and with each draw, in rotating
order, in this process. `ms` is the median over rounds of the time that a draw adds to loading;
`share` is the median of its ratio to the step of the same round; `tokens` is the ratio of tokens
read with and without the draw. No state is kept between epochs that would make later epochs faster.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import itertools
import statistics
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from augury.core.store import Store
from augury.experiments import make
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.training.loop import Trainer
from benchmarks import frame
from trainables.nmt.translation import Translation

PAIRS, MAX_TOKENS, GOAL = 5_000, 1_500, 0.05
CPU = torch.device("cpu")
SEGMENT = {"operator": "bpe_dropout"}
DRAWS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "WordDrop (source)": [{"operator": "word_drop"}],
    "SwitchOut (source)": [{"operator": "switch_out"}],
    "SwitchOut (both)": [{"operator": "switch_out", "side": "both"}],
    "RAML": [{"operator": "raml"}],
    "RAML + SwitchOut": [{"operator": "raml"}, {"operator": "switch_out"}],
    "RAML + WordDrop": [{"operator": "raml"}, {"operator": "word_drop"}],
    "BPE-dropout (source)": [SEGMENT],
    "BPE-dropout (both)": [{**SEGMENT, "side": "both"}],
}


class Round(NamedTuple):
    """One batch: CPU seconds of a step, and of loading with every draw; tokens with every draw."""

    step: float
    loading: dict[str, float]
    tokens: dict[str, int]


def prepare(operators: list[dict[str, Any]], store: Store) -> Run:
    """Return a prepared run with these operators."""
    languages = {"source_language": "de", "target_language": "en"}
    known = {"known": "multi30k", "train": {"first": PAIRS}}
    builtin = {
        "train": {"builtin": PAIRS},
        "valid": {"builtin": 100},
        "tests": {"test": {"builtin": 100}},
    }
    content = {
        "name": "benchmark",
        "task": "nmt",
        "storage": store.root,
        "corpus": languages | (known if "AUGURY_DATA" in os.environ else builtin),
        "vocabulary": {"size": 4_000 if "AUGURY_DATA" in os.environ else "auto"},
        "model": {
            "architecture": "tiny",
            "hidden_size": 192,
            "feedforward_size": 768,
            "dropout": 0.3,
        },
        "training": {"max_tokens": MAX_TOKENS},
        "execution": {"executor": "local"},
        "augment": operators,
        "baseline": False,
    }
    return make.prepare(parse(content), store)


def batches(trainer: Trainer) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the epoch and the examples of every update."""
    for number in itertools.count():
        trainer.position.epochs = number
        for update in trainer.rest_of_epoch():
            yield number, update[0]


def measure(trainer: Trainer, tasks: dict[str, Translation], repeats: int) -> list[Round]:
    """Return `repeats` rounds after three warm-up rounds."""
    rounds, names = [], list(tasks)
    for turn, (number, examples) in enumerate(itertools.islice(batches(trainer), repeats + 3)):
        step, _ = frame.clock(lambda examples=examples: trainer.step([examples]))
        loading, tokens = {}, {}
        for name in frame.rotated(names, turn):
            load = tasks[name].load
            spent, loaded = frame.clock(
                lambda load=load, number=number, examples=examples: load(examples, number, CPU)
            )
            loading[name], tokens[name] = spent.cpu, loaded.tokens
        rounds.append(Round(step.cpu, loading, tokens))
    return rounds[3:]


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=60, help="batches (default 60)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    with tempfile.TemporaryDirectory() as root:
        store = Store(root)
        runs = {name: prepare(operators, store) for name, operators in DRAWS.items()}
        tasks = {name: Translation(run) for name, run in runs.items()}
        plain = Translation(runs["none"])
        trainer = Trainer(plain, plain.experiment.training, runs["none"], device=CPU)
        rounds = measure(trainer, tasks, arguments.repeats)
    without = sum(batch.tokens["none"] for batch in rounds)
    rows = []
    for name in list(DRAWS)[1:]:
        extras = [batch.loading[name] - batch.loading["none"] for batch in rounds]
        shares = [extra / batch.step for extra, batch in zip(extras, rounds, strict=True)]
        rows.append(
            {
                "name": name,
                "ms": 1000 * statistics.median(extras),
                "share": statistics.median(shares),
                "tokens": sum(batch.tokens[name] for batch in rounds) / without,
            }
        )
    setting = {
        "text": "Multi30k de-en" if "AUGURY_DATA" in os.environ else "built-in corpus",
        "batches": arguments.repeats,
        "step ms": 1000 * statistics.median(batch.step for batch in rounds),
        "share, at most": GOAL,
    }
    frame.report(arguments, setting, rows)


if __name__ == "__main__":
    main()

"""After training: labels and scores of test sets, of free text, of what operators make; export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

import numpy as np
import torch

from augury import pretrained
from augury.corpora.corpus import LABELS, Corpus
from augury.corpora.filters import clean_lines
from augury.corpora.nli import NliFilter
from augury.errors import UserError
from augury.execution import ExecutorName, choose
from augury.experiment import parse
from augury.progress import Stage
from augury.store import Folder, Store
from augury.text import learned
from augury.trainable import Exported
from augury.training.batching import Lengths, padded, plan_pass
from augury.training.launch import uses_cuda
from augury.training.trained import described, load_weights
from trainables.nli.architecture import Pretrained
from trainables.nli.config import Config
from trainables.nli.model import Reader, empty
from trainables.nli.pieces import Pieces, pairs

TASK_PAIRS = 2048
PAIRS_PER_SECOND = 30  # that one core classifies with XLM-R base

Pair = tuple[str, str]


def outputs(experiment: Config, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
    """Labels of a test set by the run's weights."""
    both = list(zip(corpus.column("premise"), corpus.column("hypothesis"), strict=True))
    executor = _experiment(run).execution.executor
    return classify(run, store, both, executor=executor, name=f"classify {test}")


def classify(
    run: Folder, store: Store, given: Sequence[Pair], *, executor: ExecutorName = "local", name: str = "classify"
) -> list[str]:
    """Return the label of every pair (premise, hypothesis) by a finished run."""
    execution = _experiment(run).execution
    runs = choose(executor, len(given) / PAIRS_PER_SECOND, name, execution.address)
    chunks = [given[start : start + TASK_PAIRS] for start in range(0, len(given), TASK_PAIRS)]
    on_ray = runs.name == "ray"
    gpus = execution.gpus_per_worker if on_ray and uses_cuda(execution) else 0
    task = _Classify(run, store, 1 if on_ray else execution.threads)
    with Stage(name, len(given), "pairs") as stage:
        parts = runs.map(task, chunks, stage, size=len, cpus=execution.cpus_per_worker, gpus=gpus)
    return [LABELS[label] for part in parts for label in part]


def probabilities(run: Folder, store: Store, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
    """The probability of every label, (pairs, labels) float32 in the order of LABELS, by a finished run.

    The model is loaded once per process, and computes on a GPU where the run may and there is one.
    """
    return _loaded(run.root, run.name).probabilities(premises, hypotheses)


def translate(run: Folder, store: Store, texts: Sequence[str], *, executor: ExecutorName = "local") -> list[str]:
    """Return the label of each `premise<TAB>hypothesis`, cleaned as training text is; UserError for other lines."""
    lines = [text.split("\t") for text in texts]
    for number, line in enumerate(lines, 1):
        if len(line) != 2:
            raise UserError(f"line {number} has {len(line) - 1} tabs: give premise<TAB>hypothesis on every line")
    cleaning = NliFilter.model_validate(described(run)["preparation"])
    premises, hypotheses = (clean_lines([line[side] for line in lines], cleaning) for side in (0, 1))
    return classify(run, store, list(zip(premises, hypotheses, strict=True)), executor=executor)


def export(run: Folder, store: Store, form: str, directory: Path) -> Exported:
    """Write the model and its tokenizer; AutoModelForSequenceClassification and AutoTokenizer read the directory."""
    if form != "hf":
        raise UserError(f"a classifier has no form '{form}': export --to takes hf")
    loaded, experiment = _Loaded(run, torch.device("cpu")), _experiment(run)
    with pretrained.quiet():
        loaded.reader.model.save_pretrained(directory)
    loaded.tokenizer.save_pretrained(directory)
    usage = f"""\
from transformers import pipeline

classify = pipeline("text-classification", model=".")  # this directory, or its name on the hub
pair = {{"text": "Two dogs run.", "text_pair": "Animals move."}}  # premise and hypothesis
print(classify(pair, truncation=True, max_length={experiment.max_length}))
"""
    cleaning = NliFilter.model_validate(described(run)["preparation"])
    asked = ["in NFC", *["in lower case"] * cleaning.lowercase, *["without HTML entities"] * cleaning.unescape]
    base = experiment.model.name if isinstance(experiment.model, Pretrained) else ""
    return Exported(
        "transformers",
        "text-classification",
        (experiment.corpus.language,),
        usage,
        (f"It labels pairs of sentences ({', '.join(LABELS)}), {', '.join(asked)}.",),
        base_model=pretrained.hub_name(base) if base else None,
    )


@dataclass(frozen=True)
class _Classify:
    """Makes the task that labels pairs, as positions in LABELS."""

    run: Folder
    store: Store
    threads: int | None

    def __call__(self) -> Callable[[Sequence[Pair]], list[int]]:
        if self.threads:
            torch.set_num_threads(self.threads)

        def classify(given: Sequence[Pair]) -> list[int]:
            premises, hypotheses = zip(*given, strict=True)
            found: list[int] = probabilities(self.run, self.store, premises, hypotheses).argmax(1).tolist()
            return found

        return classify


class _Loaded:
    """A finished run's classifier, ready to read."""

    def __init__(self, run: Folder, device: torch.device):
        prepared, experiment = described(run), _experiment(run)
        vocabulary = Folder(run.root, prepared["vocabulary"])
        pieces = Pieces(vocabulary, experiment.max_length)
        self.device = device
        self.tokenizer, self.max_length = pieces.tokenizer(), experiment.max_length
        self.max_tokens = experiment.training.max_tokens
        model = load_weights(run, empty(experiment.model, learned.directory(vocabulary)))
        self.reader = Reader(model.to(self.device), self.tokenizer, experiment.max_length)

    @torch.inference_mode()
    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        rows, _ = pairs(self.tokenizer, premises, hypotheses, self.max_length)
        found = np.empty((len(rows), len(LABELS)), np.float32)
        if rows:
            lengths = np.array([len(row) for row in rows])
            plan = plan_pass(Lengths(lengths, lengths), max_tokens=self.max_tokens, seed=0, number=0)
            for batch in (batch for update in plan for batch in update[0]):
                ids = torch.from_numpy(padded([rows[row] for row in batch], self.reader.pad))
                logits = self.reader.logits(ids.to(self.device)).float()
                found[batch] = logits.softmax(1).cpu().numpy()
        return found


@lru_cache(maxsize=1)
def _loaded(root: str, run: str) -> _Loaded:
    folder = Folder(root, run)
    cuda = _experiment(folder).execution.device != "cpu" and torch.cuda.is_available()
    return _Loaded(folder, torch.device("cuda" if cuda else "cpu"))


def _experiment(run: Folder) -> Config:
    return cast(Config, parse(described(run)["experiment"]))

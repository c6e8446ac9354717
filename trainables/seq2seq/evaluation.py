"""After training: outputs drawn for texts, scores on test sets, export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from augury import pretrained
from augury.corpora.corpus import LABELS, Corpus
from augury.corpora.filters import clean_lines
from augury.decoding.sampling import sample
from augury.decoding.settings import GREEDY, Sampler, Sampling
from augury.errors import UserError
from augury.execution import ExecutorName, choose
from augury.experiment import parse
from augury.progress import Stage
from augury.store import Folder, Store
from augury.text import learned, prompts
from augury.trainable import Exported
from augury.training.launch import uses_cuda
from augury.training.trained import described, load_weights
from trainables.seq2seq.architecture import Pretrained
from trainables.seq2seq.config import Config, HypothesisCorpus, ReorderCorpus
from trainables.seq2seq.model import empty
from trainables.seq2seq.pieces import pieces

TASK_SENTENCES = 512
SENTENCES_PER_SECOND = 2  # that one core writes with T5-base


def sampler(run: Folder, store: Store) -> Sampler:
    """A finished run as a function, its model loaded once, on a GPU where the run may and this process sees one."""
    model, tokenizer, experiment = _loaded(run, store)
    model.to("cuda" if experiment.execution.device != "cpu" and torch.cuda.is_available() else "cpu")

    def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str]:
        rows, _ = pieces(tokenizer, texts, experiment.max_pieces)
        outputs = sample(model, rows, keys, sampling)
        return [tokenizer.decode(output, skip_special_tokens=True).strip() for output in outputs]

    return draw


def outputs(experiment: Config, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
    """Greedy outputs for a test set."""
    executor = experiment.execution.executor
    return _written(experiment, run, store, corpus.column("source"), executor, f"write {test}")


def translate(run: Folder, store: Store, texts: Sequence[str], *, executor: ExecutorName = "local") -> list[str]:
    """Return greedy outputs for texts, cleaned as training text is; sentences to reorder are given without a prompt."""
    experiment = _experiment(run)
    cleaning = experiment.corpus.FILTER.model_validate(described(run)["preparation"])
    cleaned = clean_lines(texts, cleaning)
    if isinstance(experiment.corpus, ReorderCorpus):
        cleaned = [prompts.reordering(text) for text in cleaned]
    return _written(experiment, run, store, cleaned, executor, "write")


def export(run: Folder, store: Store, form: str, directory: Path) -> Exported:
    """Write model and tokenizer for plain `transformers`, whose AutoModelForSeq2SeqLM and AutoTokenizer read them.

    `generate` writes as the run does: the likeliest piece at every step, and never a pad.
    """
    if form != "hf":
        raise UserError(f"a generator has no form '{form}': export --to takes hf")
    model, tokenizer, experiment = _loaded(run, store)
    most, pad = experiment.max_pieces, model.generation_config.pad_token_id
    model.generation_config.update(
        do_sample=False, num_beams=1, max_new_tokens=most, max_length=None, suppress_tokens=[pad]
    )
    with pretrained.quiet():
        model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    usage = f"""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

place = "."  # this directory, or its name on the hub
tokenizer = AutoTokenizer.from_pretrained(place)
model = AutoModelForSeq2SeqLM.from_pretrained(place)
texts = ["{_example(experiment)}"]
batch = tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length={most})
outputs = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask)
print([text.strip() for text in tokenizer.batch_decode(outputs, skip_special_tokens=True)])
"""
    base = experiment.model.name if isinstance(experiment.model, Pretrained) else ""
    return Exported(
        "transformers",
        "text2text-generation",
        tuple(dict.fromkeys(experiment.corpus.languages_of("train"))),
        usage,
        base_model=pretrained.hub_name(base) if base else None,
    )


def _example(experiment: Config) -> str:
    """A text as the model reads it, with the words that ask for what it writes."""
    if isinstance(experiment.corpus, ReorderCorpus):
        return prompts.reordering("A sentence to be put in another order.")
    if isinstance(experiment.corpus, HypothesisCorpus):
        return prompts.hypothesis(LABELS[0], "A premise.")
    return "A sentence."


def _written(
    experiment: Config, run: Folder, store: Store, texts: Sequence[str], executor: ExecutorName, name: str
) -> list[str]:
    execution = experiment.execution
    runs = choose(executor, len(texts) / SENTENCES_PER_SECOND, name, execution.address)
    chunks = [texts[start : start + TASK_SENTENCES] for start in range(0, len(texts), TASK_SENTENCES)]
    task = _Write(run, store, GREEDY.model_copy(update={"max_length": experiment.max_pieces}))
    gpus = execution.gpus_per_worker if runs.name == "ray" and uses_cuda(execution) else 0
    with Stage(name, len(texts), "sentences") as stage:
        parts = runs.map(task, chunks, stage, size=len, cpus=execution.cpus_per_worker, gpus=gpus)
    return [output for part in parts for output in part]


@dataclass(frozen=True)
class _Write:
    """Makes the task that writes an output for each text."""

    run: Folder
    store: Store
    sampling: Sampling

    def __call__(self) -> Callable[[Sequence[str]], list[str]]:
        draw = sampler(self.run, self.store)
        return lambda texts: draw(texts, [0] * len(texts), self.sampling)


def _experiment(run: Folder) -> Config:
    experiment = parse(described(run)["experiment"])
    assert isinstance(experiment, Config)
    return experiment


def _loaded(run: Folder, store: Store) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, Config]:
    experiment = _experiment(run)
    directory = learned.directory(Folder(store.root, described(run)["vocabulary"]))
    return load_weights(run, empty(experiment.model, directory)), pretrained.tokenizer(directory), experiment

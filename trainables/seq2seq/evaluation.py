"""After training: outputs drawn for texts, scores on test sets, export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.progress import Stage
from augury.corpora.corpus import LABELS
from augury.decoding.sampling import sample
from augury.decoding.settings import GREEDY, Sampler, Sampling
from augury.experiments.run import Run
from augury.experiments.trainable import Exported
from augury.text import learned, pretrained, prompts
from augury.text.subwords import encode
from augury.training.trained import load_weights
from trainables.seq2seq.architecture import PretrainedGenerator
from trainables.seq2seq.config import Config, HypothesisCorpus, ReorderCorpus
from trainables.seq2seq.model import empty

TASK_SENTENCES = 512
SENTENCES_PER_SECOND = 2  # that one core writes with T5-base


def sampler(run: Run) -> Sampler:
    """Return a finished run as a function, its model loaded once, on a GPU where the run may and there is one."""
    model, tokenizer, experiment = _loaded(run)
    model.to(experiment.execution.local_device)

    def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str]:
        rows, _ = encode(tokenizer, [texts], experiment.max_pieces)
        outputs = sample(model, rows, keys, sampling)
        return [tokenizer.decode(output, skip_special_tokens=True).strip() for output in outputs]

    return draw


def written(run: Run, texts: Sequence[str], executor: ExecutorName, name: str) -> list[str]:
    """Return greedy outputs for texts as the model reads them."""
    experiment = cast(Config, run.experiment)
    execution = experiment.execution
    runs = execution.choose(len(texts) / SENTENCES_PER_SECOND, name, executor)
    chunks = [texts[start : start + TASK_SENTENCES] for start in range(0, len(texts), TASK_SENTENCES)]
    task = _Write(run, GREEDY.model_copy(update={"max_length": experiment.max_pieces}))
    with Stage(name, len(texts), "sentences") as stage:
        parts = runs.map(task, chunks, stage, size=len, **execution.reserved(runs))
    return [output for part in parts for output in part]


def export(run: Run, form: str, directory: Path) -> Exported:
    """Write model and tokenizer for plain `transformers`, whose AutoModelForSeq2SeqLM and AutoTokenizer read them.

    `generate` writes as the run does: the likeliest piece at every step, and never a pad.
    """
    if form != "hf":
        raise UserError(f"a generator has no form '{form}': export --to takes hf")
    model, tokenizer, experiment = _loaded(run)
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
    base = experiment.model.name if isinstance(experiment.model, PretrainedGenerator) else ""
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


@dataclass(frozen=True)
class _Write:
    """Makes the task that writes an output for each text."""

    run: Run
    sampling: Sampling

    def __call__(self) -> Callable[[Sequence[str]], list[str]]:
        draw = sampler(self.run)
        return lambda texts: draw(texts, [0] * len(texts), self.sampling)


def _loaded(run: Run) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, Config]:
    experiment, directory = cast(Config, run.experiment), learned.directory(run.stored(run.tokenizer))
    model = load_weights(run.folder, empty(experiment.model, directory))
    return model, pretrained.tokenizer(directory), experiment

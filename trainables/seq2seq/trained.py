"""A finished generator: sampled and greedy outputs for texts, and export for `transformers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from augury.augment import prompts
from augury.core.execution import ExecutorName
from augury.corpora.corpus import LABELS
from augury.decoding import sampling
from augury.decoding.settings import GREEDY, Sampler
from augury.experiments.run import Run
from augury.experiments.task import Exported
from augury.text.subwords import learned
from augury.training.trained import load_weights
from trainables.seq2seq.config import Config, HypothesisCorpus, ReorderCorpus
from trainables.seq2seq.model import empty
from trainables.subword_task import base_model, save_pretrained

CHUNK_SENTENCES = 512
SENTENCES_PER_SECOND = 2  # that one core writes with T5-base


def sampler(run: Run, whole: bool = False) -> Sampler:
    """Return a finished run as a function, its model loaded once, on a GPU where the run may use
    one.

    A text is cut to the length of training unless `whole`.
    """
    model, tokenizer, experiment = _loaded(run)
    return sampling.sampler(
        model.to(experiment.execution.local_device), tokenizer, experiment.max_pieces, whole=whole
    )


def written(
    run: Run, texts: Sequence[str], label: str, executor: ExecutorName | None = None
) -> list[str]:
    """Return greedy outputs for texts as the model reads them."""
    return run.experiment.execution.map_texts(
        _Write(run),
        texts,
        name=label,
        unit="sentences",
        per_second=SENTENCES_PER_SECOND,
        chunk=CHUNK_SENTENCES,
        executor=executor,
    )


def export(run: Run, form: str, directory: Path) -> Exported:
    """Write model and tokenizer for AutoModelForSeq2SeqLM and AutoTokenizer of `transformers`.

    `generate` writes as the run does: the likeliest token at every step, and never a pad.
    """
    model, tokenizer, experiment = _loaded(run)
    most, pad = experiment.max_pieces, model.generation_config.pad_token_id
    model.generation_config.update(
        do_sample=False, num_beams=1, max_new_tokens=most, max_length=None, suppress_tokens=[pad]
    )
    save_pretrained(form, model, tokenizer, directory)
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
    languages = tuple(dict.fromkeys(experiment.corpus.languages_of("train")))
    base = base_model(experiment.model)
    return Exported("transformers", "text2text-generation", languages, usage, base_model=base)


def _example(experiment: Config) -> str:
    """Return a text as the model reads it, with its prompt."""
    if isinstance(experiment.corpus, ReorderCorpus):
        return prompts.reordering("A sentence to be put in another order.")
    if isinstance(experiment.corpus, HypothesisCorpus):
        return prompts.hypothesis(LABELS[0], "A premise.")
    return "A sentence."


@dataclass(frozen=True)
class _Write:
    """Makes the task that writes an output for each text."""

    run: Run

    def __call__(self) -> Callable[[Sequence[str]], list[str]]:
        draw, experiment = sampler(self.run), cast(Config, self.run.experiment)
        greedy = GREEDY.model_copy(update={"max_length": experiment.max_pieces})
        return lambda texts: [text or "" for text in draw(texts, [0] * len(texts), greedy)]


def _loaded(run: Run) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, Config]:
    experiment = cast(Config, run.experiment)
    directory = learned.directory(run.stored_folder(run.tokenizer))
    model = load_weights(run.folder, empty(experiment.model, directory))
    return model, learned.load(directory), experiment

"""A generator: its model, a pretrained encoder-decoder or a small T5 with random weights, its
training, and the outputs of finished runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import torch
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    T5Config,
)

from augury.augment import prompts
from augury.core.execution import ExecutorName
from augury.core.rng import seed_of
from augury.corpora.corpus import LABELS
from augury.decoding import sampling
from augury.decoding.settings import GREEDY, Sampler
from augury.experiments.run import Run
from augury.experiments.task import Exported
from augury.text.pieces import subwords
from augury.training.learner import Validation
from augury.training.trained import load_weights
from trainables import sequence
from trainables.seq2seq.config import (
    Config,
    HypothesisCorpus,
    PretrainedGenerator,
    ReorderCorpus,
    TinyT5,
)
from trainables.subword_task import save_pretrained

CHUNK_SENTENCES = 512
SENTENCES_PER_SECOND = 2  # that one core writes with T5-base


def build(
    config: PretrainedGenerator | TinyT5, directory: str, seed: int, *, perturbable: bool = False
) -> PreTrainedModel:
    """Return the model before fine-tuning, on the CPU, in training mode and 32-bit floats.

    `directory` holds its tokenizer and, where it is pretrained, its configuration. Parameters that
    are not pretrained are determined by `seed`; the global random state is left as it was.
    Raises UserError where `sequence.check` does, as for a model of another family.
    """
    tokenizer = subwords.load(directory)
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(seed_of("seq2seq", "model", seed))
        if isinstance(config, PretrainedGenerator):
            return sequence.load(config, directory, tokenizer, perturbable=perturbable).train()
        model = AutoModelForSeq2SeqLM.from_config(_settings(config, directory, tokenizer))
    sequence.check(model, tokenizer, "T5", perturbable=perturbable)
    return model.train()


class Generation(sequence.SequenceTraining):
    """A generator, the pairs that it learns from, and its validation set."""

    def __init__(self, run: Run):
        experiment, directory = (
            run.experiment,
            subwords.directory_of(run.stored_folder(run.tokenizer)),
        )
        assert isinstance(experiment, Config)
        model = build(
            experiment.model, directory, run.seed, perturbable=experiment.regime.needs_embeddings
        )
        super().__init__(run, model)
        self.valid = sequence.HeldOut(run)

    def validate(self, device: torch.device) -> Validation:
        measured = self.likelihood(self.valid, device)
        metrics = {"perplexity": measured.perplexity, "accuracy": 100 * measured.accuracy}
        return Validation(measured.loss, -measured.loss, metrics)


def _settings(
    config: PretrainedGenerator | TinyT5, directory: str, tokenizer: PreTrainedTokenizerBase
) -> PreTrainedConfig:
    """Return the configuration of `transformers`."""
    if isinstance(config, PretrainedGenerator):
        settings: PreTrainedConfig = AutoConfig.from_pretrained(directory)
        return settings
    return T5Config(
        vocab_size=len(tokenizer),
        d_model=config.hidden_size,
        d_kv=config.hidden_size // config.attention_heads,
        d_ff=config.feedforward_size,
        num_layers=config.layers,
        num_heads=config.attention_heads,
        dropout_rate=config.dropout,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )


def _trained(run: Run) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, Config]:
    experiment = cast(Config, run.experiment)
    directory = subwords.directory_of(run.stored_folder(run.tokenizer))
    tokenizer = subwords.load(directory)
    empty = sequence.empty(_settings(experiment.model, directory, tokenizer))
    return load_weights(run.folder, empty), tokenizer, experiment


def sampler(run: Run, whole: bool = False) -> Sampler:
    """Return a finished run as a function, its model loaded once, on a GPU where the run may use
    one.

    A text is cut to the length of training unless `whole`.
    """
    model, tokenizer, experiment = _trained(run)
    return sampling.sampler(
        model.to(experiment.execution.local_device), tokenizer, experiment.max_pieces, whole=whole
    )


def written(
    run: Run, texts: Sequence[str], label: str, executor: ExecutorName | None = None
) -> list[str]:
    """Return greedy outputs for texts as the model reads them."""
    return run.experiment.execution.map_texts(
        partial(_writer, run),
        texts,
        name=label,
        unit="sentences",
        per_second=SENTENCES_PER_SECOND,
        chunk=CHUNK_SENTENCES,
        executor=executor,
    )


def _writer(run: Run) -> Callable[[Sequence[str]], list[str]]:
    """Return the function that writes an output for each text, in every process."""
    draw, experiment = sampler(run), cast(Config, run.experiment)
    greedy = GREEDY.model_copy(update={"max_length": experiment.max_pieces})
    return lambda texts: [text or "" for text in draw(texts, [0] * len(texts), greedy)]


def export(run: Run, form: str, directory: Path) -> Exported:
    """Write model and tokenizer for AutoModelForSeq2SeqLM and AutoTokenizer of `transformers`.

    `generate` writes as the run does: the likeliest token at every step, and never a pad.
    """
    model, tokenizer, experiment = _trained(run)
    most, pad = experiment.max_pieces, model.generation_config.pad_token_id
    model.generation_config.update(
        do_sample=False, num_beams=1, max_new_tokens=most, max_length=None, suppress_tokens=[pad]
    )
    save_pretrained(form, model, tokenizer, directory)
    example = "A sentence."
    if isinstance(experiment.corpus, ReorderCorpus):
        example = prompts.reordering("A sentence to be put in another order.")
    elif isinstance(experiment.corpus, HypothesisCorpus):
        example = prompts.hypothesis(LABELS[0], "A premise.")
    usage = f"""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

place = "."  # this directory, or its name on the hub
tokenizer = AutoTokenizer.from_pretrained(place)
model = AutoModelForSeq2SeqLM.from_pretrained(place)
texts = ["{example}"]
batch = tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length={most})
outputs = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask)
print([text.strip() for text in tokenizer.batch_decode(outputs, skip_special_tokens=True)])
"""
    languages = tuple(dict.fromkeys(experiment.corpus.languages_of("train")))
    return Exported("transformers", "text2text-generation", languages, usage)

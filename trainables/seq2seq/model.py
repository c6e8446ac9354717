"""Encoder-decoders of `transformers`: pretrained, or a small T5 with random weights."""

from __future__ import annotations

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedModel, T5Config

from augury.core.rng import seed_of
from augury.text.subwords import learned
from trainables import sequence
from trainables.seq2seq.architecture import PretrainedGenerator, TinyT5


def build(
    config: PretrainedGenerator | TinyT5, directory: str, seed: int, *, perturbable: bool = False
) -> PreTrainedModel:
    """Return the model before fine-tuning, on the CPU, in training mode and 32-bit floats.

    `directory` holds its tokenizer and, where it is pretrained, its configuration. Parameters that
    are not pretrained are determined by `seed`; the global random state is left as it was.
    Raises UserError where `sequence.check` does, as for a model of another family.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(seed_of("seq2seq", "model", seed))
        if isinstance(config, PretrainedGenerator):
            model = sequence.load(config, directory)
        else:
            model = AutoModelForSeq2SeqLM.from_config(_t5(config, directory))
    name = config.name if isinstance(config, PretrainedGenerator) else "T5"
    sequence.check(model, learned.load(directory), name, perturbable=perturbable)
    return model.train()


def empty(config: PretrainedGenerator | TinyT5, directory: str) -> PreTrainedModel:
    """Return the model in evaluation mode with random weights, to be replaced by those of a run."""
    return sequence.empty(
        AutoConfig.from_pretrained(directory)
        if isinstance(config, PretrainedGenerator)
        else _t5(config, directory)
    )


def _t5(config: TinyT5, directory: str) -> T5Config:
    tokenizer = learned.load(directory)
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

"""Encoder-decoders of `transformers`: pretrained, or a small T5 that starts from nothing."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedModel, PreTrainedTokenizerBase, T5Config

from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.text import pretrained
from trainables.seq2seq.architecture import PretrainedGenerator, TinyT5

TOLERANCE = 1e-3  # between two ways to the same logits, relative to the largest


def build(config: PretrainedGenerator | TinyT5, directory: str, seed: int) -> PreTrainedModel:
    """The model before fine-tuning, on the CPU, in training mode and 32-bit floats.

    `directory` holds its tokenizer and, where it is pretrained, its configuration. Parameters that are not pretrained
    are determined by `seed`; the global random state is left as it was. UserError where `hidden_states` and `head` do
    not describe the model, or where its tokenizer is another's.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(seed_of("seq2seq", "model", seed))
        if isinstance(config, PretrainedGenerator):
            load = AutoModelForSeq2SeqLM.from_pretrained
            model = pretrained.load(load, config.name, config.revision, dtype=torch.float32)
        else:
            model = AutoModelForSeq2SeqLM.from_config(_t5(config, directory))
    _check(model, pretrained.tokenizer(directory), config.name if isinstance(config, PretrainedGenerator) else "T5")
    return model.train()


def empty(config: PretrainedGenerator | TinyT5, directory: str) -> PreTrainedModel:
    """The same model in evaluation mode with parameters of no meaning, to be replaced by those of a run."""
    settings = (
        AutoConfig.from_pretrained(directory) if isinstance(config, PretrainedGenerator) else _t5(config, directory)
    )
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        return AutoModelForSeq2SeqLM.from_config(settings, dtype=torch.float32).eval()


def hidden_states(model: PreTrainedModel, source: Tensor, labels: Tensor) -> Tensor:
    """What the model projects to its vocabulary, (B, T, D), reading `source` (B, S) and predicting `labels` (B, T).

    Both are ids, padded on the right. Decoding starts as the model's own loss has it (T5: with the pad). T5 scales what
    it projects by D^-0.5 where input and output embeddings are tied.
    """
    mask = source != model.config.pad_token_id
    memory = model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state
    hidden = model.get_decoder()(
        input_ids=model.prepare_decoder_input_ids_from_labels(labels),
        encoder_hidden_states=memory,
        encoder_attention_mask=mask,
        use_cache=False,
    ).last_hidden_state
    return hidden * model.config.d_model**-0.5 if getattr(model.config, "scale_decoder_outputs", False) else hidden


def head(model: PreTrainedModel) -> tuple[Tensor, Tensor | None]:
    """The projection to the vocabulary: weight (V, D) and bias (V) or None."""
    layer = model.get_output_embeddings()
    added = getattr(model, "final_logits_bias", None)  # BART and its kin
    return layer.weight, layer.bias if added is None else added.squeeze(0)


def _t5(config: TinyT5, directory: str) -> T5Config:
    tokenizer = pretrained.tokenizer(directory)
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


@torch.no_grad()
def _check(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """UserError where the model's own logits are not those of `hidden_states` and `head`."""
    known = len(model.get_input_embeddings().weight)
    if tokenizer.pad_token_id != model.config.pad_token_id or len(tokenizer) > known:
        raise UserError(
            f"the tokenizer of '{name}' has {len(tokenizer)} pieces and pad {tokenizer.pad_token_id}, its model "
            f"{known} embeddings and pad {model.config.pad_token_id}: they do not belong together"
        )
    model.eval()
    ids = torch.tensor([tokenizer("reorder: a").input_ids])
    weight, bias = head(model)
    ours = torch.nn.functional.linear(hidden_states(model, ids, ids), weight, bias)
    own = model(input_ids=ids, labels=ids).logits
    if not torch.allclose(ours, own, rtol=0, atol=TOLERANCE * float(own.abs().max())):
        raise UserError(
            f"'{name}' ({model.config.model_type}) does more between its decoder and its logits than is known here: "
            "take a model of the families of T5, BART or Marian"
        )

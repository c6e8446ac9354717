"""Encoder-decoders of `transformers`: pretrained, or a small T5 that starts from nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import torch
from pydantic import BeforeValidator, Field, model_validator
from torch import Tensor
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PreTrainedModel, PreTrainedTokenizerBase, T5Config

from augury import pretrained
from augury.architecture import check_heads
from augury.config import Section
from augury.errors import UserError
from augury.rng import seed_of

TOLERANCE = 1e-3  # between two ways to the same logits, relative to the largest


class Pretrained(Section):
    """A model that others have trained, with its tokenizer."""

    name: str = "t5-base"
    """Directory that `save_pretrained` wrote, or name on the hub; any encoder-decoder that writes text."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""


class TinyT5(Section):
    """A T5 that starts from nothing, with subwords learned from its training text."""

    architecture: Literal["tiny"]
    vocabulary_size: int = Field(1000, ge=10)
    """Most subwords."""
    layers: int = Field(2, ge=1)
    """Of the encoder, and as many of the decoder."""
    hidden_size: int = Field(64, ge=2)
    feedforward_size: int = Field(256, ge=1)
    attention_heads: int = Field(4, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _heads_fit(self) -> TinyT5:
        check_heads(self.hidden_size, self.attention_heads)
        return self


def _chosen(value: Any) -> Any:
    """The model that `{architecture: tiny, sizes}` or `{name: ...}` describes."""
    if not isinstance(value, Mapping):
        return value
    return (TinyT5 if "architecture" in value else Pretrained).model_validate(value)


AnyModel = Annotated[Pretrained | TinyT5, BeforeValidator(_chosen)]


def build(config: Pretrained | TinyT5, directory: str, seed: int) -> PreTrainedModel:
    """The model before fine-tuning, on the CPU, in training mode and 32-bit floats.

    `directory` holds its tokenizer and, where it is pretrained, its configuration. Parameters that are not pretrained
    are determined by `seed`; the global random state is left as it was. UserError where `hidden_states` and `head` do
    not describe the model, or where its tokenizer is another's.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(seed_of("seq2seq", "model", seed))
        if isinstance(config, Pretrained):
            load = AutoModelForSeq2SeqLM.from_pretrained
            model = pretrained.load(load, config.name, config.revision, dtype=torch.float32)
        else:
            model = AutoModelForSeq2SeqLM.from_config(_t5(config, directory))
    _check(model, pretrained.tokenizer(directory), config.name if isinstance(config, Pretrained) else "T5")
    return model.train()


def empty(config: Pretrained | TinyT5, directory: str) -> PreTrainedModel:
    """The same model in evaluation mode with parameters of no meaning, to be replaced by those of a run."""
    settings = AutoConfig.from_pretrained(directory) if isinstance(config, Pretrained) else _t5(config, directory)
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

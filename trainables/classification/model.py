"""Sequence classifiers of `transformers`: how they are built, checked and given padded rows."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    XLMRobertaConfig,
)

from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.models import pretrained
from augury.models.settings import Pretrained, attention
from augury.text.pieces import subwords
from augury.training.batching import padded
from trainables.classification.config import Scratch

TOLERANCE = 1e-3
"""The largest difference between two computations of the same logits, relative to the largest."""

PROBE = (["a", "a"], ["a", "a a a"])
"""First and second sentences of two rows of unequal length."""
TAKE_MASKS = ("bert", "roberta", "xlm-roberta")
"""Models that take masks as `sdpa` does, without reading on the host whether anything is masked."""


def build(
    config: Pretrained | Scratch, labels: Sequence[str], directory: str, seed: int
) -> PreTrainedModel:
    """Return the classifier of `labels` before training, on the CPU, in training mode and float32.

    `directory` holds its tokenizer and, where it is pretrained, its configuration. A parameter that
    is not pretrained is determined by `seed`, its name and its shape; the global random state is
    left unchanged.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        if isinstance(config, Scratch):
            model = AutoModelForSequenceClassification.from_config(
                _configuration(config, labels, directory)
            )
            new: Collection[str] = [name for name, _ in model.named_parameters()]
        else:
            model, new = _pretrained(config, labels, directory)
    _initialise(model, new, seed)
    return model.train()


def empty(config: Pretrained | Scratch, labels: Sequence[str], directory: str) -> PreTrainedModel:
    """Return the classifier in evaluation mode with random weights, to be replaced by a run's."""
    name = config.name if isinstance(config, Pretrained) else config.architecture
    return _random(_configuration(config, labels, directory), name)


@cache  # a sweep prepares many configurations of one model
@torch.no_grad()
def check(
    config: Pretrained, labels: tuple[str, ...], columns: int, directory: str, max_length: int
) -> None:
    """Raise UserError unless Reader computes the logits of `transformers` with its own padding, and
    from word embeddings, which adversarial regimes perturb.

    The check uses random weights and only the words of PROBE, so that a large vocabulary costs
    nothing.
    """
    tokenizer = subwords.load(directory)
    settings = _configuration(config, labels, directory)
    probe = PROBE[2 - columns :]
    rows = tokenizer(*probe).input_ids
    pads = tokenizer.pad_token_id or 0, settings.pad_token_id or 0
    settings.vocab_size = max(*rows[0], *rows[1], *pads) + 1
    reader = Reader(_random(settings, config.name), tokenizer, max_length)
    ids = torch.from_numpy(padded(rows, reader.pad))
    inputs = tokenizer(*probe, padding=True, return_tensors="pt")
    own = {name: inputs[name] for name in inputs if name in reader.arguments}
    try:
        ours = reader.logits(ids, torch.zeros_like(reader.embeddings(ids)))
        theirs = reader.model(**own).logits
        same = torch.allclose(ours, theirs, rtol=0, atol=TOLERANCE * float(theirs.abs().max()))
        reason = "" if same else "the logits differ"
    except Exception as error:  # of any of many models
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if reason:
        raise UserError(
            f"'{config.name}' ({settings.model_type}) cannot be read here as in transformers, by "
            f"its word embeddings: {reason}. Take an encoder such as XLM-R, BERT or DeBERTa"
        )


class Reader:
    """The input of a classifier for padded rows of ids (B, L), special tokens included.

    Rows are padded on the right; a row's logits do not depend on its padding. UserError where the
    model has no positions for `max_length`, or its tokenizer no pad.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, max_length: int):
        if tokenizer.pad_token_id is None:
            raise UserError(
                f"the tokenizer of the model ({model.config.model_type}) has no pad, which "
                "batches need: give a directory with one whose pad_token is set, and pad_token_id "
                "in the model's configuration"
            )
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length
        self.pad = int(tokenizer.pad_token_id)
        self.arguments = set(inspect.signature(model.forward).parameters)
        self.separator = (
            _separator(model, tokenizer) if "token_type_ids" in self.arguments else None
        )
        settings = model.config
        self.takes_masks = (
            settings._attn_implementation == "sdpa" and settings.model_type in TAKE_MASKS
        )
        # Models without a limit have None, 0 or -1.
        positions = (getattr(settings, "max_position_embeddings", None) or 0) - _first(model)
        if 0 < positions < max_length:
            raise UserError(
                f"max_length={max_length} exceeds the {positions} positions of the model: lower it"
            )

    def embeddings(self, ids: Tensor) -> Tensor:
        """Return the word embeddings (B, L, D), before positions are added."""
        embeddings: Tensor = self.model.get_input_embeddings()(ids)
        return embeddings

    def logits(self, ids: Tensor, perturbation: Tensor | None = None) -> Tensor:
        """Return the logits (B, labels), `perturbation` (B, L, D) added to the word embeddings."""
        mask = ids != self.pad
        inputs = {"input_ids": ids}
        if perturbation is not None:
            inputs = {"inputs_embeds": self.embeddings(ids) + perturbation}
        inputs["attention_mask"] = mask[:, None, None] if self.takes_masks else mask.long()
        if self.separator is not None:
            # 0 up to the first separator, 1 after it, 0 at pads.
            separators = ids == self.separator
            before = separators.cumsum(1) - separators.long()
            inputs["token_type_ids"] = ((before > 0) & mask).long()
        logits: Tensor = self.model(**inputs).logits
        return logits


def _separator(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Return the id that ends the first sentence; None without token types.

    BERT with the tokenizer of XLM-R (multilingual MiniLM) was trained without them.
    """
    pair = tokenizer("a", "a")
    types = pair.get("token_type_ids", [])
    if getattr(model.config, "type_vocab_size", 0) < 2 or 1 not in types:
        return None
    return int(pair.input_ids[types.index(1) - 1])


def _first(model: PreTrainedModel) -> int:
    """Return the position of the first token: 0, or in RoBERTa the one after the pad's."""
    embeddings = getattr(model.base_model, "embeddings", None)
    pad = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return 0 if pad is None else int(pad) + 1


def _configuration(
    config: Pretrained | Scratch, labels: Sequence[str], directory: str
) -> PretrainedConfig:
    """Return the configuration of `transformers`, with `labels` as its classes."""
    settings: dict[str, Any] = {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
        "attn_implementation": attention(),
    }
    if isinstance(config, Scratch):
        sizes, tokenizer = config.sizes, subwords.load(directory)
        return XLMRobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=sizes.hidden_size,
            num_hidden_layers=sizes.layers,
            num_attention_heads=sizes.attention_heads,
            intermediate_size=sizes.feedforward_size,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.dropout,
            max_position_embeddings=config.max_positions + tokenizer.pad_token_id + 1,
            type_vocab_size=1,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **settings,
        )
    configuration: PretrainedConfig = AutoConfig.from_pretrained(directory, **settings)
    return configuration


def _random(configuration: PretrainedConfig, name: str) -> PreTrainedModel:
    """Return a classifier with random weights in evaluation mode; the global random state is left
    unchanged."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"), pretrained.loading_errors(name):
        return AutoModelForSequenceClassification.from_config(
            configuration, dtype=torch.float32
        ).eval()


def _pretrained(
    config: Pretrained, labels: Sequence[str], directory: str
) -> tuple[PreTrainedModel, Collection[str]]:
    """Return the pretrained model with a new head, and the names of its new parameters."""
    model, report = pretrained.load(
        AutoModelForSequenceClassification.from_pretrained,
        config.name,
        pretrained.pinned(directory, config.revision),
        config=_configuration(config, labels, directory),
        dtype=torch.float32,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    new = {*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])}
    body = f"{model.base_model_prefix}."
    return model, new | {name for name, _ in model.named_parameters() if not name.startswith(body)}


@torch.no_grad()
def _initialise(model: PreTrainedModel, names: Collection[str], seed: int) -> None:
    """Initialise matrices by N(0, σ²) with the model's σ, pads by zero, norms as identities, biases
    by zero."""
    spread = getattr(model.config, "initializer_range", 0.02)
    pads = {
        f"{name}.weight": module.padding_idx
        for name, module in model.named_modules()
        if isinstance(module, nn.Embedding)
    }
    for name, parameter in model.named_parameters():
        if name not in names:
            continue
        generator = torch.Generator().manual_seed(seed_of("classifier", "model", seed, name))
        if parameter.dim() > 1:
            parameter.normal_(0, spread, generator=generator)
            if (pad := pads.get(name)) is not None:
                parameter[pad].zero_()
        else:
            nn.init.constant_(parameter, float(name.endswith("weight")))

"""Sampling from models of `transformers`, with randomness keyed by the output alone.

The argmax of logits plus Gumbel noise is a sample of the softmax. The noise of a subword is a hash
of the output's key, the step and the subword, so that an output is the same in any batch, on any
number of workers and after any restart, up to the rounding of the logits.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from augury.decoding.search import batches_by_length, positions
from augury.decoding.settings import Sampler, Sampling
from augury.text.subwords.tokenizer import encode

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BATCH_TOKENS = 8192  # tokens that a batch reads, padding included; of causal models, writes too
GOLDEN = 0x9E3779B97F4A7C15 - 2**64  # the increment of SplitMix64, as a signed number
MIXERS = ((30, 0xBF58476D1CE4E5B9 - 2**64), (27, 0x94D049BB133111EB - 2**64))
MANTISSA = 52


def sample(
    model: PreTrainedModel,
    sources: Sequence[Sequence[int]],
    keys: Sequence[int],
    sampling: Sampling,
    *,
    suppress: Collection[int] = (),
    first: int | None = None,
) -> list[list[int]]:
    """Return an output for each source, in their order: its ids without start, end and pads.

    The model is an encoder-decoder, or a causal model, whose outputs continue the sources. Dropout
    is off. `sources` are ids as the model reads them, special ones included and none empty; `keys`,
    whole numbers below 2^63 such as `rng.seed_of` makes of a seed, a record and a copy, determine
    the outputs. Not sampled are the pad, unless it ends outputs, the ids of `suppress` and those
    that the model's settings suppress; all outputs start with `first`, if given.
    """
    outputs: list[list[int]] = [[]] * len(sources)
    training = model.training
    model.eval()
    sizes: Sequence[Sequence[int]] = sources
    if not model.config.is_encoder_decoder:  # their outputs take as much memory as what they read
        sizes = [range(len(source) + sampling.max_length) for source in sources]
    try:
        for rows in batches_by_length(sizes, BATCH_TOKENS):
            batch = [sources[row] for row in rows], [keys[row] for row in rows]
            sampled = _sample(model, *batch, sampling, suppress, first)
            for row, output in zip(rows, sampled, strict=True):
                outputs[row] = output
    finally:
        model.train(training)
    return outputs


def sampler(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    most: int,
    *,
    first: int | None = None,
    whole: bool = False,
) -> Sampler:
    """Return a model as a function that samples outputs for texts of at most `most` subwords.

    Longer texts are cut or, with `whole`, have no output, and empty texts empty ones, as in a
    search. All outputs start with the id `first`, if given, and none exceeds the model's positions.
    """

    def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str | None]:
        rows, _ = encode(tokenizer, [texts], sys.maxsize if whole else most)
        read = [
            row
            for row, text in enumerate(texts)
            if not whole or (text.strip() and len(rows[row]) <= most)
        ]
        capped = sampling.model_copy(
            update={"max_length": min(sampling.max_length, positions(model.config))}
        )
        drawn = sample(
            model, [rows[row] for row in read], [keys[row] for row in read], capped, first=first
        )
        outputs: list[str | None] = [None if len(ids) > most else "" for ids in rows]
        for row, ids in zip(read, drawn, strict=True):
            outputs[row] = tokenizer.decode(ids, skip_special_tokens=True).strip()
        return outputs

    return draw


def _sample(
    model: PreTrainedModel,
    sources: Sequence[Sequence[int]],
    keys: Sequence[int],
    sampling: Sampling,
    suppress: Collection[int],
    first: int | None,
) -> list[list[int]]:
    config = model.generation_config
    ends = _listed(config.eos_token_id)
    pad = config.pad_token_id if config.pad_token_id is not None else next(iter(ends), 0)
    # Of the columns of a sequence, the first ones are not drawn: the start symbol, or the prompt.
    if model.config.is_encoder_decoder:
        inputs, given = _padded(sources, pad), 1
    else:
        inputs = _padded_left(sources)
        given = inputs["input_ids"].shape[1]
    drawing = (
        [_Drawing(torch.tensor(keys, device=model.device), sampling, given)]
        if sampling.temperature > 0
        else []
    )
    sequences = model.generate(
        **{name: tensor.to(model.device) for name, tensor in inputs.items()},
        logits_processor=drawing,
        do_sample=False,  # the noise is ours
        num_beams=1,
        max_new_tokens=sampling.max_length,
        pad_token_id=pad,
        suppress_tokens=[*({pad} - {*ends}), *(config.suppress_tokens or ()), *suppress],
        **({} if first is None else {"forced_bos_token_id": first}),
    )
    outputs = []
    for ids in sequences[:, given:].tolist():
        end = next((index for index, piece in enumerate(ids) if piece in ends), len(ids))
        outputs.append(ids[:end])
    return outputs


def _listed(ids: int | Sequence[int] | None) -> list[int]:
    """Return the ids that end an output, of which a model's settings have none, one or several."""
    return [] if ids is None else [ids] if isinstance(ids, int) else list(ids)


def _padded(sources: Sequence[Sequence[int]], pad: int) -> dict[str, Tensor]:
    """Return the inputs of an encoder, (B, T), with pads behind each source."""
    rows = [torch.tensor(source) for source in sources]
    return {
        "input_ids": pad_sequence(rows, batch_first=True, padding_value=pad),
        "attention_mask": pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
    }


def _padded_left(sources: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    """Return the inputs of a causal model, (B, T), padded in front, as outputs continue them.

    Each source is padded with its own first id, which it has already: penalties of a model's
    settings for ids that occurred do not depend on the padding.
    """
    width = max(map(len, sources))
    missing = [width - len(source) for source in sources]
    pairs = list(zip(sources, missing, strict=True))
    return {
        "input_ids": torch.tensor([[source[0]] * count + [*source] for source, count in pairs]),
        "attention_mask": torch.tensor(
            [[0] * count + [1] * len(source) for source, count in pairs]
        ),
    }


class _Drawing:
    """Masks all scores of a row but that of the sampled subword; row b belongs to `keys[b]`.

    `given` is the number of ids in front of the first that is sampled.
    """

    def __init__(self, keys: Tensor, sampling: Sampling, given: int):
        self.keys, self.sampling, self.given = keys, sampling, given

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        candidates, logits = likeliest(scores, self.sampling)
        step = torch.tensor(input_ids.shape[1] - self.given + 1, device=scores.device)
        drawn = (logits + gumbel(self.keys, step, candidates)).argmax(1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter_(1, candidates.gather(1, drawn), 0.0)


def likeliest(scores: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """Return the subwords that can be sampled (B, k), likeliest first, and their logits (B, k).

    Outside of `top_p` logits are -inf. `scores` (B, V) are logits or log-probabilities;
    `temperature` must be more than 0.
    """
    count = scores.shape[1] if sampling.top_k is None else min(sampling.top_k, scores.shape[1])
    best, candidates = scores.topk(count)
    logits = best.double() / sampling.temperature
    if sampling.top_p < 1:
        probabilities = logits.softmax(1)
        before = probabilities.cumsum(1) - probabilities
        logits = logits.masked_fill(before >= sampling.top_p, -torch.inf)
    return candidates, logits


def gumbel(keys: Tensor, step: Tensor, pieces: Tensor) -> Tensor:
    """Return Gumbel noise (B, k) of `pieces` (B, k) at a step, for outputs with keys (B,)."""
    stream = _mixed(_mixed(keys) + step * GOLDEN)
    bits = _mixed(stream[:, None] + pieces * GOLDEN)
    uniform = (_shifted(bits, 64 - MANTISSA).double() + 0.5) * 2.0**-MANTISSA
    return -(-uniform.log()).log()


def _mixed(value: Tensor) -> Tensor:
    """Return the output of SplitMix64 (Steele et al. 2014) for every int64."""
    value = value + GOLDEN
    for bits, factor in MIXERS:
        value = (value ^ _shifted(value, bits)) * factor
    return value ^ _shifted(value, 31)


def _shifted(value: Tensor, bits: int) -> Tensor:
    """Return the value shifted to the right with zeros coming in."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)

"""Sampling from models of `transformers`, with randomness keyed by the output alone.

The argmax of logits plus Gumbel noise is a sample of the softmax. The noise of a subword is a hash
of the output's key, the step and the subword, so that an output is the same in any batch, on any
number of workers and after any restart, up to the rounding of the logits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from augury.decoding.search import batches_by_length
from augury.decoding.settings import Sampling

if TYPE_CHECKING:
    from transformers import PreTrainedModel

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

    The model is an encoder-decoder, or a causal model, whose outputs continue the sources, in
    evaluation mode. `sources` are ids as the model reads them, special ones included and none
    empty; `keys`, whole numbers below 2^63 such as `rng.seed_of` makes of a seed, a record and a
    copy, determine the outputs. Not sampled are the pad, unless it ends outputs, the ids of
    `suppress` and those that the model's settings suppress; all outputs start with `first`, if
    given.
    """
    outputs: list[list[int]] = [[]] * len(sources)
    sizes: Sequence[Sequence[int]] = sources
    if not model.config.is_encoder_decoder:  # their outputs take as much memory as what they read
        sizes = [range(len(source) + sampling.max_length) for source in sources]
    for rows in batches_by_length(sizes, BATCH_TOKENS):
        batch = [sources[row] for row in rows], [keys[row] for row in rows]
        sampled = _sample(model, *batch, sampling, suppress, first)
        for row, output in zip(rows, sampled, strict=True):
            outputs[row] = output
    return outputs


def _sample(
    model: PreTrainedModel,
    sources: Sequence[Sequence[int]],
    keys: Sequence[int],
    sampling: Sampling,
    suppress: Collection[int],
    first: int | None,
) -> list[list[int]]:
    config = model.generation_config
    ends: Any = config.eos_token_id  # none, one or several
    ends = [ends] if isinstance(ends, int) else list(ends or ())
    pad = config.pad_token_id if config.pad_token_id is not None else next(iter(ends), 0)
    width = max(map(len, sources))
    ids, mask = [], []
    for source in sources:
        missing = width - len(source)
        if model.config.is_encoder_decoder:
            ids.append([*source, *[pad] * missing])
            mask.append([1] * len(source) + [0] * missing)
        else:
            # In front, as outputs continue sources; with the source's own first id, which it has
            # already, so that penalties for ids that occurred do not depend on the padding.
            ids.append([source[0]] * missing + [*source])
            mask.append([0] * missing + [1] * len(source))
    # The columns of a sequence that are not drawn: the start symbol, or the prompt.
    given = 1 if model.config.is_encoder_decoder else width
    named = torch.tensor(keys, device=model.device)

    def draw(input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask all scores of a row but that of the sampled subword."""
        candidates, logits = likeliest(scores, sampling)
        step = torch.tensor(input_ids.shape[1] - given + 1, device=scores.device)
        noise = gumbel(named, step, candidates)
        drawn = (logits + noise).argmax(1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter_(1, candidates.gather(1, drawn), 0.0)

    sequences = model.generate(
        input_ids=torch.tensor(ids, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        logits_processor=[draw] if sampling.temperature > 0 else [],
        do_sample=False,  # the noise is ours
        num_beams=1,
        max_new_tokens=sampling.max_length,
        pad_token_id=pad,
        suppress_tokens=[*({pad} - {*ends}), *(config.suppress_tokens or ()), *suppress],
        **({} if first is None else {"forced_bos_token_id": first}),
    )
    outputs = []
    for drawn in sequences[:, given:].tolist():
        end = next((index for index, piece in enumerate(drawn) if piece in ends), len(drawn))
        outputs.append(drawn[:end])
    return outputs


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

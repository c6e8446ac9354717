"""Beam search through Hugging Face's `generate`, for Marian models that CTranslate2 cannot load."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from augury.decoding.search import Hypothesis, batches_by_length, check_lengths
from augury.decoding.settings import Decoding

if TYPE_CHECKING:
    from transformers import MarianMTModel


def generate(
    model: MarianMTModel, sources: Sequence[Sequence[int]], decoding: Decoding, suppress: Collection[int] = ()
) -> list[Hypothesis]:
    """Return the best hypothesis of each source, in the order of `sources`, with dropout off.

    The contract is that of `CTranslateDecoder.translate`: sources are ids without the end of sentence, an
    empty source has the empty hypothesis with score 0, the pad and the ids of `suppress` are never produced.
    """
    check_lengths(sources, decoding, model.config.max_position_embeddings)
    hypotheses = [Hypothesis((), 0.0)] * len(sources)
    training = model.training
    model.eval()
    try:
        for rows in batches_by_length(sources, decoding.batch_tokens):
            best = _search(model, [sources[row] for row in rows], decoding, suppress)
            for row, hypothesis in zip(rows, best, strict=True):
                hypotheses[row] = hypothesis
    finally:
        model.train(training)
    return hypotheses


def search_options(decoding: Decoding, banned: Collection[int]) -> dict[str, Any]:
    """Return arguments of `generate` to search as CTranslateDecoder does; the ids of `banned` are never produced."""
    options = {"length_penalty": decoding.length_penalty, "early_stopping": True} if decoding.beam > 1 else {}
    return {
        **options,
        "do_sample": False,
        "num_beams": decoding.beam,
        "min_new_tokens": 1,
        "max_new_tokens": decoding.max_length,
        "suppress_tokens": list(banned),
        "renormalize_logits": True,
        "forced_bos_token_id": None,
        "forced_eos_token_id": None,
    }


def _search(
    model: MarianMTModel, sources: Sequence[Sequence[int]], decoding: Decoding, suppress: Collection[int]
) -> list[Hypothesis]:
    eos, pad = model.config.eos_token_id, model.config.pad_token_id
    rows = [torch.tensor([*source, eos], device=model.device) for source in sources]
    encoded = {
        "input_ids": pad_sequence(rows, batch_first=True, padding_value=pad),
        "attention_mask": pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
    }
    banned = [pad, *suppress]
    sequences = model.generate(**encoded, **search_options(decoding, banned))
    produced = sequences[:, 1:]
    # A hypothesis ends with the first end of sentence, or at the maximal length without one.
    body = (produced == eos).cumsum(1) == 0
    lengths = (body.sum(1) + 1).clamp(max=produced.shape[1])
    sums = _log_probabilities(model, encoded, sequences, lengths, banned)
    scores = (sums / lengths**decoding.length_penalty).tolist()
    pieces = [tuple(row[mask].tolist()) for row, mask in zip(produced, body, strict=True)]
    return [Hypothesis(ids, score) for ids, score in zip(pieces, scores, strict=True)]


@torch.no_grad()
def _log_probabilities(
    model: MarianMTModel, encoded: dict[str, Tensor], sequences: Tensor, lengths: Tensor, banned: list[int]
) -> Tensor:
    """Return the log-probability, (B), of the first `lengths` (B) pieces after the start of `sequences` (B, 1 + T).

    One forward pass over the sequences takes less memory than the scores that `generate` can return, which
    are those of all beams at all steps.
    """
    logits = model(**encoded, decoder_input_ids=sequences[:, :-1], use_cache=False).logits.float()
    logits[..., banned] = float("-inf")
    logits[:, 0, model.config.eos_token_id] = float("-inf")
    chosen = logits.gather(2, sequences[:, 1:, None]).squeeze(2) - logits.logsumexp(2)
    inside = torch.arange(chosen.shape[1], device=chosen.device) < lengths[:, None]
    return chosen.where(inside, 0).sum(1)

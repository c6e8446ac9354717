"""Beam search through Hugging Face's `generate`, for models that CTranslate2 cannot load."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from augury.decoding.search import Hypothesis, batches_by_length, check_lengths, positions
from augury.decoding.settings import Decoding

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def n_best(
    model: PreTrainedModel,
    views: Sequence[Sequence[Sequence[int]]],
    decoding: Decoding,
    suppress: Collection[int] = (),
    count: int = 1,
    prefix: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """Return the `count` best hypotheses of each sentence, at most `decoding.beam`, best first.

    The contract is that of `CTranslateDecoder.n_best`, with `prefix` of one id at most; dropout is
    off. `views` holds the sources of all sentences, view by view, read in one beam: the
    log-probability of a subword is the mean of those given each view, without normalisation, so
    that the log-probability of a hypothesis is the mean of those of the views. A sentence that is
    empty in every view has the empty hypothesis.
    """
    assert count <= decoding.beam and len(prefix) <= 1
    for sources in views:
        check_lengths(sources, decoding, positions(model.config))
    longest = [max(of_sentence, key=len) for of_sentence in zip(*views, strict=True)]
    hypotheses: list[list[Hypothesis]] = [[()] for _ in longest]
    training = model.training
    model.eval()
    try:
        for rows in batches_by_length(longest, max(1, decoding.batch_tokens // len(views))):
            batch = [list(map(sources.__getitem__, rows)) for sources in views]
            batch_hypotheses = _search(model, batch, decoding, suppress, count, prefix)
            for row, best in zip(rows, batch_hypotheses, strict=True):
                hypotheses[row] = best
    finally:
        model.train(training)
    return hypotheses


def search_options(decoding: Decoding, banned: Collection[int]) -> dict[str, Any]:
    """Return arguments of `generate` to search as CTranslateDecoder does, without the ids of
    `banned`."""
    of_beam: dict[str, Any] = {}
    if decoding.beam > 1:
        of_beam = {"length_penalty": decoding.length_penalty, "early_stopping": True}
    return of_beam | {
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
    model: PreTrainedModel,
    views: Sequence[Sequence[Sequence[int]]],
    decoding: Decoding,
    suppress: Collection[int],
    count: int,
    prefix: Sequence[int],
) -> list[list[Hypothesis]]:
    eos, pad = model.config.eos_token_id, model.config.pad_token_id
    rows = []
    for sources in views:
        rows += [torch.tensor([*source, eos], device=model.device) for source in sources]
    encoded = {
        "input_ids": pad_sequence(rows, batch_first=True, padding_value=pad),
        "attention_mask": pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
    }
    banned = [pad, *suppress]
    options = search_options(decoding, banned) | {
        "renormalize_logits": False,
        "num_return_sequences": count,
        "min_new_tokens": len(prefix) + 1,
        "forced_bos_token_id": prefix[0] if prefix else None,
    }

    def average(input_ids: Tensor, scores: Tensor) -> Tensor:
        """Average the log-probabilities of a subword over the views of its sentence.

        The views of a sentence are rows of one batch, view by view, each with its own states: rows
        with equal scores keep equal beams.
        """
        of_views = scores.log_softmax(1).unflatten(0, (len(views), -1))
        # In double precision, so that the order of the views makes no difference.
        return of_views.double().mean(0).to(scores.dtype).repeat(len(views), 1)

    sequences = model.generate(**encoded, **options, logits_processor=[average])
    of_views = sequences.unflatten(0, (len(views), -1))
    assert (of_views == of_views[0]).all(), "views with equal scores search alike"
    # A hypothesis ends with the first end of sentence, or at the maximal length without one.
    produced = of_views[0, :, 1:]
    body = (produced == eos).cumsum(1) == 0
    hypotheses = [tuple(row[mask].tolist()) for row, mask in zip(produced, body, strict=True)]
    return [hypotheses[first : first + count] for first in range(0, len(hypotheses), count)]

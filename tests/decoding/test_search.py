"""The properties of the search."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import MarianMTModel

from augury.core.errors import UserError
from augury.decoding import ctranslate
from augury.decoding.search import Hypothesis, check_lengths
from augury.decoding.settings import Decoding
from tests.hypotheses import assert_same, translate

pytestmark = pytest.mark.trains

PAD, EOS, VOCABULARY = 1, 2, 48


def beam_search(
    model: MarianMTModel, source: Sequence[int], decoding: Decoding, suppress: Sequence[int] = ()
) -> Hypothesis:
    """Fairseq's beam search for one sentence, without batches or caches."""
    beams: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[float, Hypothesis]] = []
    for step in range(decoding.max_length):
        encoded = torch.tensor([[*source, EOS]] * len(beams))
        prefixes = torch.tensor([[EOS, *ids] for ids, _ in beams])
        with torch.no_grad():
            logits = model(input_ids=encoded, decoder_input_ids=prefixes).logits[:, -1]
        logits[:, [PAD, *suppress, *([EOS] if step == 0 else [])]] = -math.inf
        totals = logits.log_softmax(1) + torch.tensor([[total] for _, total in beams])
        best = totals.flatten().topk(2 * decoding.beam)
        candidates = [
            (beams[index // VOCABULARY][0] + [index % VOCABULARY], total)
            for total, index in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        last = step + 1 == decoding.max_length
        for ids, total in candidates[: decoding.beam]:
            if ids[-1] == EOS or last:
                body = ids[:-1] if ids[-1] == EOS else ids
                finished.append((total / len(ids) ** decoding.length_penalty, tuple(body)))
        if len(finished) >= decoding.beam:
            break
        beams = [(ids, total) for ids, total in candidates if ids[-1] != EOS][: decoding.beam]
    return max(finished[: decoding.beam])[1]


@pytest.mark.parametrize(
    ("beam", "length_penalty", "max_length"), [(1, 1.0, 30), (4, 0.6, 30), (5, 1.0, 6), (5, 0.6, 6)]
)
def test_the_search_is_fairseqs(
    trained: MarianMTModel,
    sources: list[list[int]],
    beam: int,
    length_penalty: float,
    max_length: int,
) -> None:
    decoding = Decoding(beam=beam, length_penalty=length_penalty, max_length=max_length)
    expected = [beam_search(trained, source, decoding) for source in sources[:16]]
    assert_same(translate(trained, sources[:16], decoding), expected)


def test_suppressed_ids_and_pads_are_never_produced(
    trained: MarianMTModel, sources: list[list[int]]
) -> None:
    decoding = Decoding(beam=5, max_length=20)
    model = copy.deepcopy(trained)
    model.final_logits_bias[0, PAD] = 20.0
    usual = set().union(*translate(model, sources, decoding))
    assert PAD not in usual
    suppress = sorted(usual)[::2]
    hypotheses = translate(model, sources, decoding, suppress)
    assert not set().union(*hypotheses) & {PAD, *suppress}
    expected = [beam_search(model, source, decoding, suppress) for source in sources[:8]]
    assert_same(hypotheses[:8], expected)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(range(20)), batch_tokens=st.integers(1, 80))
def test_hypotheses_come_in_the_order_of_the_sources_whatever_the_batches(
    trained: MarianMTModel,
    sources: list[list[int]],
    order: list[int],
    batch_tokens: int,
) -> None:
    decoding = Decoding(beam=2, max_length=14)
    expected = translate(trained, sources[:20], decoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctranslate, "BATCH_TOKENS", batch_tokens)
        found = translate(trained, [sources[row] for row in order], decoding)
    assert_same(found, [expected[row] for row in order])


def test_what_exceeds_the_models_positions_is_a_user_error() -> None:
    message = "2 of 3 sources exceed the model's 64 positions.*number 2 with 64 pieces"
    with pytest.raises(UserError, match=message):
        check_lengths([[5], [5] * 64, [5] * 65], Decoding(max_length=3), 64)
    with pytest.raises(UserError, match="max_length 65 is more than the model's 64 positions"):
        check_lengths([[5] * 63], Decoding(max_length=65), 64)

"""Search by transformers alone, and several views of a sentence in one beam."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import pytest
import torch
from transformers import MarianMTModel

from augury.decoding.generate import n_best
from augury.decoding.settings import Decoding
from tests.hypotheses import generate

pytestmark = pytest.mark.trains

PAD, EOS, VOCABULARY = 1, 2, 48
DECODING = Decoding(beam=4, length_penalty=0.6, max_length=20)


@pytest.fixture(scope="module")
def views(sources: list[list[int]]) -> list[list[list[int]]]:
    """Three sources of every sentence, of other lengths."""
    return [sources[:24], [source[1:] or source for source in sources[:24]], sources[24:48]]


def log_probability(model: MarianMTModel, source: Sequence[int], ids: Sequence[int]) -> float:
    """The log-probability of a hypothesis with its end, given one source."""
    target = [*ids, EOS][: DECODING.max_length]
    encoded, prefix = torch.tensor([[*source, EOS]]), torch.tensor([[EOS, *target[:-1]]])
    with torch.no_grad():
        logits = model(input_ids=encoded, decoder_input_ids=prefix).logits[0]
    logits[:, PAD] = logits[0, EOS] = float("-inf")
    return float(logits.log_softmax(1)[range(len(target)), target].sum())


def test_several_hypotheses_come_by_the_mean_of_what_the_views_say(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    found = n_best(trained, views, DECODING, count=3)
    for of_sentence, several in zip(zip(*views, strict=True), found, strict=True):
        scores = []
        for ids in several:
            sums = [log_probability(trained, source, ids) for source in of_sentence]
            length = min(len(ids) + 1, DECODING.max_length)
            scores.append(sum(sums) / len(sums) / length**DECODING.length_penalty)
        assert len({*several}) == 3
        assert sorted(scores, reverse=True) == pytest.approx(scores, abs=1e-4)


def test_dropout_is_off_and_settings_saved_with_the_model_do_not_matter(
    trained: MarianMTModel, sources: list[list[int]]
) -> None:
    model = copy.deepcopy(trained)
    for module in model.modules():
        if hasattr(module, "dropout"):
            module.dropout = 0.5
    model.generation_config.update(num_beams=2, max_length=5, forced_bos_token_id=9, do_sample=True)
    expected = generate(trained, sources, DECODING)
    for training in (True, False):
        model.train(training)
        assert generate(model, sources, DECODING) == expected
        assert model.training == training

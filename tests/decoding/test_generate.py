from __future__ import annotations

import copy

import pytest
import torch
from transformers import MarianMTModel

from augury.decoding.generate import generate
from augury.decoding.settings import Decoding

pytestmark = pytest.mark.trains

EOS = 2
DECODING = Decoding(beam=4, max_length=20)


def test_dropout_is_off_and_the_mode_restored(
    trained: MarianMTModel, sources: list[list[int]]
) -> None:
    model = copy.deepcopy(trained)
    for module in model.modules():
        if hasattr(module, "dropout"):
            module.dropout = 0.5
    expected = generate(trained, sources, DECODING)
    for training in (True, False):
        model.train(training)
        assert generate(model, sources, DECODING) == expected
        assert model.training == training


def test_the_mode_is_restored_after_a_failure(trained: MarianMTModel) -> None:
    model = copy.deepcopy(trained).train()
    with pytest.raises(IndexError):
        generate(model, [[10_000]], DECODING)
    assert model.training


@pytest.mark.parametrize("beam", [1, 4])
def test_settings_saved_with_the_model_do_not_matter(
    trained: MarianMTModel, sources: list[list[int]], beam: int
) -> None:
    decoding = DECODING.model_copy(update={"beam": beam})
    expected = generate(trained, sources, decoding)
    model = copy.deepcopy(trained)
    model.generation_config.update(
        num_beams=2,
        max_length=5,
        length_penalty=3.0,
        forced_bos_token_id=9,
        forced_eos_token_id=EOS,
        suppress_tokens=[8],
        do_sample=True,
    )
    assert generate(model, sources, decoding) == expected


def test_the_score_is_that_of_the_whole_sentence_read_at_once(
    trained: MarianMTModel, sources: list[list[int]]
) -> None:
    decoding = Decoding(beam=4, length_penalty=0.6, max_length=20)
    for source, hypothesis in zip(
        sources[:8], generate(trained, sources[:8], decoding), strict=True
    ):
        target = [*hypothesis.ids, EOS][:20]
        encoded, prefix = torch.tensor([[*source, EOS]]), torch.tensor([[EOS, *target[:-1]]])
        with torch.no_grad():
            logits = trained(input_ids=encoded, decoder_input_ids=prefix).logits[0]
        logits[:, 1] = logits[0, EOS] = float("-inf")
        total = logits.log_softmax(1)[range(len(target)), target].sum().item()
        assert hypothesis.score == pytest.approx(total / len(target) ** 0.6, abs=1e-5)

from __future__ import annotations

import copy
from pathlib import Path

import ctranslate2
import pytest
import torch
from transformers import MarianConfig, MarianMTModel

from augury.decoding.conversion import to_ctranslate2
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.settings import Decoding
from tests.hypotheses import assert_same, decoder_of, generate, translate

pytestmark = pytest.mark.trains

UNK, PAD, EOS, VOCABULARY = 0, 1, 2, 48
PIECES = [f"piece{index}" for index in range(VOCABULARY)]
DECODING = Decoding(beam=4, max_length=20)


def test_weights_are_written_in_32_bits(trained: MarianMTModel, sources: list[list[int]]) -> None:
    model = copy.deepcopy(trained).double()
    expected = translate(decoder_of(trained, PIECES, unk=UNK), sources, DECODING)
    assert translate(decoder_of(model, PIECES, unk=UNK), sources, DECODING) == expected
    assert model.dtype == torch.float64


def test_any_string_can_be_a_piece_also_for_ctranslate2_alone(
    trained: MarianMTModel, sources: list[list[int]], tmp_path: Path
) -> None:
    odd = ["▁über", '"', "\\", "\n", " ", "\u2028", "𝕏", "日本", "<s>", "</s>", "e\u0301"]
    pieces = PIECES[:3] + odd + PIECES[3 + len(odd) :]
    to_ctranslate2(trained, tmp_path, pieces, unk=UNK)
    hypotheses = translate(CTranslateDecoder(tmp_path), sources, DECODING)
    expected = translate(decoder_of(trained, PIECES, unk=UNK), sources, DECODING)
    assert hypotheses == expected
    produced = {index for hypothesis in hypotheses for index in hypothesis.ids}
    assert produced & set(range(3, 3 + len(odd)))
    translator = ctranslate2.Translator(str(tmp_path))
    source = [pieces[index] for index in sources[0]]
    (plain,) = translator.translate_batch([source], beam_size=4)
    assert plain.hypotheses[0] == [pieces[index] for index in expected[0].ids]


def test_a_model_of_opus_is_decoded_from_its_own_start_and_with_its_bias() -> None:
    """Swish, one embedding matrix, a bias on the logits, and the pad as the decoder's first
    input."""
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=48,
        activation_function="swish",
        scale_embedding=True,
        max_position_embeddings=64,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=PAD,
        forced_eos_token_id=EOS,
        init_std=0.2,
    )
    model = MarianMTModel(config).eval()
    model.final_logits_bias.normal_()
    rows = torch.randint(3, VOCABULARY, (16, 6)).tolist()
    for decoding in (Decoding(beam=1, max_length=9), Decoding(beam=4, max_length=9)):
        hypotheses = translate(decoder_of(model, PIECES, unk=UNK), rows, decoding)
        assert_same(hypotheses, generate(model, rows, decoding))

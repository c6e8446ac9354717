from __future__ import annotations

import copy
import json
from pathlib import Path

import ctranslate2
import pytest
import torch
from torch import nn
from transformers import MarianConfig, MarianMTModel

from augury.core.errors import UserError
from augury.decoding.conversion import to_ctranslate2
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.generate import generate
from augury.decoding.settings import Decoding
from tests.hypotheses import assert_same

pytestmark = pytest.mark.trains

UNK, PAD, EOS, VOCABULARY = 0, 1, 2, 48
PIECES = [f"piece{index}" for index in range(VOCABULARY)]
DECODING = Decoding(beam=4, max_length=20)


@pytest.mark.parametrize("length_penalty", [1.0, 0.6, 0.0])
@pytest.mark.parametrize("beam", [1, 4, 5])
def test_equal_to_generate(
    trained: MarianMTModel, sources: list[list[int]], beam: int, length_penalty: float
) -> None:
    decoding = Decoding(beam=beam, length_penalty=length_penalty, max_length=30)
    ours = CTranslateDecoder.from_model(trained, PIECES, unk=UNK).translate(sources, decoding)
    assert_same(ours, generate(trained, sources, decoding))


def test_threads_change_nothing(trained: MarianMTModel, sources: list[list[int]]) -> None:
    decoding = DECODING.model_copy(update={"batch_tokens": 40})
    by_one_thread, by_two_threads = (
        CTranslateDecoder.from_model(trained, PIECES, unk=UNK, threads=threads).translate(
            sources, decoding
        )
        for threads in (1, 2)
    )
    assert_same(by_one_thread, by_two_threads)


def test_a_decoder_keeps_the_weights_it_was_made_from(
    trained: MarianMTModel, sources: list[list[int]]
) -> None:
    model = copy.deepcopy(trained)
    decoder = CTranslateDecoder.from_model(model, PIECES, unk=UNK)
    before = decoder.translate(sources, DECODING)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-1)
    assert decoder.translate(sources, DECODING) == before
    changed = CTranslateDecoder.from_model(model, PIECES, unk=UNK).translate(sources, DECODING)
    assert changed != before
    assert model.training == trained.training


def test_weights_of_another_precision_are_exported_in_32_bits(
    trained: MarianMTModel, sources: list[list[int]], tmp_path: Path
) -> None:
    to_ctranslate2(trained, tmp_path / "float", PIECES, unk=UNK)
    double = copy.deepcopy(trained).double()
    to_ctranslate2(double, tmp_path / "double", PIECES, unk=UNK)
    assert double.dtype == torch.float64
    written = [(tmp_path / name / "model.bin").read_bytes() for name in ("float", "double")]
    assert written[0] == written[1]


def test_the_directory_serves_ctranslate2_alone(
    trained: MarianMTModel, sources: list[list[int]], tmp_path: Path
) -> None:
    to_ctranslate2(trained, tmp_path / "a" / "model", PIECES, unk=UNK)
    files = sorted(file.name for file in (tmp_path / "a" / "model").iterdir())
    assert files == ["config.json", "model.bin", "shared_vocabulary.json"]
    config = json.loads((tmp_path / "a" / "model" / "config.json").read_text())
    assert config["decoder_start_token"] == config["eos_token"] == PIECES[EOS]
    assert (config["unk_token"], config["add_source_eos"]) == (PIECES[UNK], True)
    translator = ctranslate2.Translator(str(tmp_path / "a" / "model"))
    plain = translator.translate_batch([[PIECES[index] for index in sources[0]]], beam_size=1)
    decoder = CTranslateDecoder(tmp_path / "a" / "model")
    [hypothesis] = decoder.translate([sources[0]], Decoding(beam=1, max_length=20))
    assert plain[0].hypotheses[0] == [PIECES[index] for index in hypothesis.ids]


def test_any_string_can_be_a_piece(trained: MarianMTModel, sources: list[list[int]]) -> None:
    odd = [
        "▁über",
        '"',
        "\\",
        "\n",
        " ",
        "\u2028",
        "𝕏",
        "日本",
        "<s>",
        "</s>",
        "<unk>",
        "\\u00e9",
        "e\u0301",
    ]
    pieces = PIECES[:3] + odd + PIECES[3 + len(odd) :]
    expected = CTranslateDecoder.from_model(trained, PIECES, unk=UNK).translate(sources, DECODING)
    hypotheses = CTranslateDecoder.from_model(trained, pieces, unk=UNK).translate(sources, DECODING)
    assert hypotheses == expected
    assert {index for hypothesis in hypotheses for index in hypothesis.ids} & set(
        range(3, 3 + len(odd))
    )


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
        hypotheses = CTranslateDecoder.from_model(model, PIECES, unk=UNK).translate(rows, decoding)
        assert_same(hypotheses, generate(model, rows, decoding))


def test_vocabularies_that_do_not_fit_are_user_errors(
    trained: MarianMTModel, tmp_path: Path
) -> None:
    for pieces in (PIECES[:-1], [*PIECES, "more"], [*PIECES[:-1], PIECES[0]]):
        with pytest.raises(UserError, match=f"the vocabulary has {len(pieces)} pieces"):
            to_ctranslate2(trained, tmp_path, pieces, unk=UNK)
    assert not list(tmp_path.iterdir())


def test_models_that_it_cannot_load_are_user_errors(trained: MarianMTModel, tmp_path: Path) -> None:
    class Factored(nn.Module):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return torch.zeros(*ids.shape, 32)

    model = copy.deepcopy(trained)
    model.model.encoder.embed_tokens = Factored()
    with pytest.raises(UserError, match="decode it with augury.decoding.generate"):
        to_ctranslate2(model, tmp_path, PIECES, unk=UNK)


def test_what_cannot_be_loaded_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no model written by to_ctranslate2"):
        CTranslateDecoder(tmp_path)

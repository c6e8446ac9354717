"""A text that is too long for a checkpoint has no translation, searched or drawn.

Its beginning is not translated.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.decoding import checkpoint, conversion
from augury.decoding.checkpoint import Checkpoint
from augury.decoding.settings import Decoding, Sampling

POSITIONS = 16
PIECES = ("<s>", "<pad>", "</s>", "<unk>", *"abcdef")
LENGTHS = (3, 0, POSITIONS - 1, POSITIONS, 40)
TEXTS = [" ".join("abcdef"[place % 6] for place in range(length)) for length in LENGTHS]
EXPECTED = [False, False, False, True, True]
"""Whether a text is too long: with the end of sentence it has one piece more."""


def save(folder: Path, tokenizer_length: int) -> Checkpoint:
    """Write a checkpoint with random weights, learned positions, and a tokenizer that allows
    another length."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    words = Tokenizer(
        models.WordLevel({piece: number for number, piece in enumerate(PIECES)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(
        tokenizer_object=words, model_max_length=tokenizer_length, **special
    ).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
    sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 16)
    config = BartConfig(
        vocab_size=len(PIECES), d_model=8, max_position_embeddings=POSITIONS, **sizes
    )
    model = BartForConditionalGeneration(config)
    model.generation_config.forced_eos_token_id = None
    model.save_pretrained(folder)
    return Checkpoint(str(folder))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return save(tmp_path_factory.mktemp("bart"), 1000)


@pytest.mark.parametrize("by_ctranslate2", [True, False])
def test_the_positions_of_the_model_are_the_limit_of_a_search(
    model: Checkpoint, by_ctranslate2: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_ctranslate2:
        monkeypatch.setattr(conversion, "reads", lambda settings: False)
    outputs = model.translator(Store(tmp_path))(TEXTS, "plain", Decoding(beam=2, max_length=150))
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""


def test_the_same_texts_are_not_drawn(model: Checkpoint) -> None:
    draw, keys = model.sampler(whole=True), [*range(len(TEXTS))]
    outputs = draw(TEXTS, keys, Sampling(max_length=150))
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""
    assert outputs[:3] == draw(TEXTS[:3], keys[:3], Sampling(max_length=150))


def test_where_a_text_may_be_cut_its_beginning_is_read(model: Checkpoint) -> None:
    keys = [1] * len(TEXTS)
    outputs = model.sampler()(TEXTS, keys, Sampling(max_length=10))
    assert outputs[4] == model.sampler()([TEXTS[2]], [1], Sampling(max_length=10))[0]


def test_the_tokenizer_is_the_limit_where_it_is_the_smaller_one(tmp_path: Path) -> None:
    short = save(tmp_path / "short", 5)
    checkpoint.loaded.cache_clear()
    outputs = short.sampler(whole=True)(TEXTS[:3], [1, 2, 3], Sampling(max_length=5))
    assert [output is None for output in outputs] == [False, False, True]

"""Checkpoints of many languages: searched by CTranslate2 as `transformers` does, from and into
those asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from augury.core.errors import UserError
from augury.core.store import Store
from augury.decoding import checkpoint, conversion
from augury.decoding.checkpoint import Checkpoint, Languages
from augury.decoding.settings import Decoding, Sampling
from tests.learning import learn

TEXTS = ["le chat noir", "", "the cat sleeps", "petit chat dort", "small"]
STORE = Store("/nowhere")
FRENCH_TO_ENGLISH = Languages("fra_Latn", "eng_Latn")


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A checkpoint as NLLB's that has learned to write some texts backwards and, into French, as
    they are.

    It is so sure of every piece (p > 0.99) that rounding changes no greedy search. A beam can end
    with shorter hypotheses that finish before the text does.
    """
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer

    folder = tmp_path_factory.mktemp("nllb")
    letters = sorted({letter for text in TEXTS for letter in text if letter != " "})
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *letters, "▁c", "▁s"]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = NllbTokenizer(
        vocabulary, [("▁", "c"), ("▁", "s")], extra_special_tokens=[*FRENCH_TO_ENGLISH]
    )
    torch.manual_seed(1)
    config = M2M100Config(
        vocab_size=len(tokenizer) + 3,  # NLLB has more embeddings than pieces too
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        dropout=0.0,
        attention_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
    )
    model = M2M100ForConditionalGeneration(config)
    pairs = []
    for read, written, step in ((*FRENCH_TO_ENGLISH, -1), (*FRENCH_TO_ENGLISH[::-1], 1)):
        tokenizer.src_lang, tokenizer.tgt_lang = read, written
        batch = tokenizer(
            TEXTS, text_target=[text[::step] for text in TEXTS], return_tensors="pt", padding=True
        )
        pads = batch["labels"] == tokenizer.pad_token_id
        pairs.append({**batch, "labels": batch["labels"].masked_fill(pads, -100)})

    def losses() -> torch.Tensor:
        both = []
        for batch in pairs:
            logits, labels = model(**batch).logits.flatten(0, 1), batch["labels"].flatten()
            both.append(cross_entropy(logits, labels, reduction="none"))
        return torch.cat(both)

    learn(model, losses, rate=0.01, until=lambda losses: losses.max() < 0.01)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.trains
@pytest.mark.parametrize("beam", [1, 4])
def test_both_engines_search_alike(
    nllb: str, beam: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoding, model = Decoding(beam=beam, max_length=12), Checkpoint(nllb, None, FRENCH_TO_ENGLISH)
    by_ctranslate2 = model.translator(Store(tmp_path))(TEXTS, "plain", decoding)
    monkeypatch.setattr(conversion, "reads", lambda settings: False)
    assert model.translator(Store(tmp_path))(TEXTS, "plain", decoding) == by_ctranslate2
    assert by_ctranslate2[1] == "" and len({*by_ctranslate2}) == len(TEXTS)


@pytest.mark.trains
def test_languages_decide(nllb: str, tmp_path: Path) -> None:
    for languages, step in ((FRENCH_TO_ENGLISH, -1), (Languages(*FRENCH_TO_ENGLISH[::-1]), 1)):
        model, expected = Checkpoint(nllb, None, languages), [text[::step] for text in TEXTS]
        assert model.translator(Store(tmp_path))(TEXTS, "plain", Decoding(beam=1)) == expected
        assert model.sampler(STORE)(TEXTS[2:4], [1, 2], Sampling(temperature=0.01)) == expected[2:4]


@pytest.mark.trains
@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (None, "also give the languages, .* source_language: fra_Latn"),
        (Languages("fr_Latn", "eng_Latn"), "'fr_Latn': did you mean 'fra_Latn'"),
    ],
)
def test_languages_that_are_not_known_are_refused(
    nllb: str, languages: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        Checkpoint(nllb, None, languages).translator(Store(tmp_path))


POSITIONS = 16
PIECES = ("<s>", "<pad>", "</s>", "<unk>", *"abcdef")
LENGTHS = (3, 0, POSITIONS - 1, POSITIONS, 40)
LONG_TEXTS = [" ".join("abcdef"[place % 6] for place in range(length)) for length in LENGTHS]
EXPECTED = [False, False, False, True, True]
"""Whether a text is too long: with the end of sentence it has one piece more."""


def save(folder: Path, tokenizer_length: int) -> Checkpoint:
    """Write a checkpoint with random weights, learned positions, and a tokenizer that allows
    another length."""
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
    outputs = model.translator(Store(tmp_path))(
        LONG_TEXTS, "plain", Decoding(beam=2, max_length=150)
    )
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""


def test_the_same_texts_are_not_drawn(model: Checkpoint) -> None:
    draw, keys = model.sampler(STORE, whole=True), [*range(len(LONG_TEXTS))]
    outputs = draw(LONG_TEXTS, keys, Sampling(max_length=150))
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""
    assert outputs[:3] == draw(LONG_TEXTS[:3], keys[:3], Sampling(max_length=150))


def test_where_a_text_may_be_cut_its_beginning_is_read(model: Checkpoint) -> None:
    keys = [1] * len(LONG_TEXTS)
    outputs = model.sampler(STORE)(LONG_TEXTS, keys, Sampling(max_length=10))
    assert outputs[4] == model.sampler(STORE)([LONG_TEXTS[2]], [1], Sampling(max_length=10))[0]


def test_the_tokenizer_is_the_limit_where_it_is_the_smaller_one(tmp_path: Path) -> None:
    short = save(tmp_path / "short", 5)
    checkpoint.loaded.cache_clear()
    outputs = short.sampler(STORE, whole=True)(LONG_TEXTS[:3], [1, 2, 3], Sampling(max_length=5))
    assert [output is None for output in outputs] == [False, False, True]

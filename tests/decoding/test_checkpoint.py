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

pytestmark = pytest.mark.trains

TEXTS = ["le chat noir", "", "the cat sleeps", "petit chat dort", "small"]
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
        pairs.append(
            {
                **batch,
                "labels": batch["labels"].masked_fill(
                    batch["labels"] == tokenizer.pad_token_id, -100
                ),
            }
        )

    def losses() -> torch.Tensor:
        return torch.cat(
            [
                cross_entropy(
                    model(**batch).logits.flatten(0, 1), batch["labels"].flatten(), reduction="none"
                )
                for batch in pairs
            ]
        )

    learn(model, losses, rate=0.01, until=lambda losses: losses.max() < 0.01)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("beam", [1, 4])
def test_both_engines_search_alike(
    nllb: str, beam: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoding, model = Decoding(beam=beam, max_length=12), Checkpoint(nllb, None, FRENCH_TO_ENGLISH)
    by_ctranslate2 = model.translator(Store(tmp_path))(TEXTS, "plain", decoding)
    monkeypatch.setattr(conversion, "reads", lambda settings: False)
    assert model.translator(Store(tmp_path))(TEXTS, "plain", decoding) == by_ctranslate2
    assert by_ctranslate2[1] == "" and len({*by_ctranslate2}) == len(TEXTS)


def test_languages_decide(nllb: str, tmp_path: Path) -> None:
    for languages, step in ((FRENCH_TO_ENGLISH, -1), (Languages(*FRENCH_TO_ENGLISH[::-1]), 1)):
        model, expected = Checkpoint(nllb, None, languages), [text[::step] for text in TEXTS]
        assert model.translator(Store(tmp_path))(TEXTS, "plain", Decoding(beam=1)) == expected
        assert model.sampler()(TEXTS[2:4], [1, 2], Sampling(temperature=0.01)) == expected[2:4]


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (None, "also give the languages, .* source_language: fra_Latn"),
        (Languages("fr_Latn", "eng_Latn"), "'fr_Latn': did you mean 'fra_Latn'"),
        (Languages("fra_Latn", "the"), "unknown language of checkpoint .* 'the'"),
    ],
)
def test_languages_that_are_not_known_are_refused(
    nllb: str, languages: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        Checkpoint(nllb, None, languages).translator(Store(tmp_path))


def test_a_text_that_is_too_long_has_no_translation(
    nllb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Checkpoint(nllb, None, FRENCH_TO_ENGLISH)
    tokenizer, first = model._tokenizer()
    tokenizer.model_max_length = 9
    monkeypatch.setattr(checkpoint.Checkpoint, "_tokenizer", lambda self: (tokenizer, first))
    outputs = model.translator(Store(tmp_path))(TEXTS, "plain", Decoding(max_length=5))
    assert [output is None for output in outputs] == [True, False, True, True, False]

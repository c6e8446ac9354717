"""Checkpoints: searched as by `transformers`, from and into the languages asked for, within the
positions of the model and of its tokenizer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from augury.core.errors import UserError
from augury.core.store import Store
from augury.decoding.checkpoint import Checkpoint
from augury.decoding.settings import Decoding, Sampling
from tests.trainables.nmt import checkpoints

TEXTS = ["le chat noir", "", "the cat sleeps", "petit chat dort", "small"]
LANGUAGES = ("deu_Latn", "eng_Latn")
POSITIONS = 256  # of the small checkpoints
EXPECTED = [False, False, False, True, True]
"""Which of the texts below are too long."""


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """A checkpoint with logits far from even, whose outputs depend on the source."""
    texts = [*TEXTS, "abcdefghijklmnopqrstuvwxyz"] * 20
    path = checkpoints.write("nllb", texts, tmp_path_factory.mktemp("nllb") / "made")
    model = AutoModelForSeq2SeqLM.from_pretrained(path)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    model.save_pretrained(path)
    return Checkpoint(path, None, LANGUAGES)


@pytest.fixture(scope="module")
def long_texts(nllb: Checkpoint) -> list[str]:
    """Texts of few pieces, of none, of as many as the model has positions, and of more."""
    around = len(AutoTokenizer.from_pretrained(nllb.checkpoint)("a").input_ids) - 1
    lengths = (3, 0, *(pieces - around for pieces in (POSITIONS, POSITIONS + 1, 300)))
    return [("abcdef" * 50)[:length] for length in lengths]


def test_languages_are_those_that_transformers_reads_and_writes(
    nllb: Checkpoint, tmp_path: Path
) -> None:
    languages = ("eng_Latn", "deu_Latn")
    asked = dataclasses.replace(nllb, languages=languages)
    tokenizer = AutoTokenizer.from_pretrained(nllb.checkpoint, src_lang=languages[0])
    first = tokenizer.convert_tokens_to_ids(languages[1])
    model = AutoModelForSeq2SeqLM.from_pretrained(nllb.checkpoint)
    expected = []
    for text in TEXTS[2:]:
        ids = tokenizer(text, return_tensors="pt")
        kept = {"suppress_tokens": [tokenizer.pad_token_id], "min_new_tokens": 2}
        (output,) = model.generate(
            **ids, **kept, forced_bos_token_id=first, num_beams=1, max_length=13
        )
        expected.append(tokenizer.decode(output, skip_special_tokens=True).strip())
    greedy = Decoding(beam=1, max_length=12)
    assert asked.translator(Store(tmp_path))(TEXTS[2:], "plain", greedy) == expected


def test_languages_that_are_not_known_are_refused(nllb: Checkpoint, tmp_path: Path) -> None:
    asked = dataclasses.replace(nllb, languages=("de_Latn", "eng_Latn"))
    with pytest.raises(UserError, match="'de_Latn': did you mean 'deu_Latn'"):
        asked.translator(Store(tmp_path))


def test_the_positions_of_the_model_are_the_limit_of_a_search(
    nllb: Checkpoint, long_texts: list[str], tmp_path: Path
) -> None:
    search = Decoding(beam=2, max_length=2 * POSITIONS)
    outputs = nllb.translator(Store(tmp_path))(long_texts, "plain", search)
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""


def test_the_same_texts_are_not_drawn(
    nllb: Checkpoint, long_texts: list[str], tmp_path: Path
) -> None:
    keys, store, chosen = [1] * len(long_texts), Store(tmp_path), Sampling(max_length=10)
    outputs = nllb.sampler(store)(long_texts, keys, chosen)
    assert [output is None for output in outputs] == EXPECTED and outputs[1] == ""

"""The automatic sizes of vocabularies."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from augury.core.rng import generator
from augury.core.store import Store
from augury.text.cipher import Rot, build_alphabet
from augury.text.pieces import sentencepieces
from augury.text.pieces.settings import VocabularySettings
from augury.text.pieces.training import fitting_size, has_words, train


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Sentences of 400 words, frequent and rare ones."""
    random = generator("texts")
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = ["".join(random.choice(letters, random.integers(2, 9))) for _ in range(400)]
    shares = 1 / (1 + random.permutation(400))
    return [" ".join(random.choice(words, 10, p=shares / shares.sum())) for _ in range(1500)]


def enciphered(texts: list[str], key: int) -> list[str]:
    alphabet = build_alphabet({letter: 1 for text in texts for letter in text})
    return Rot(alphabet, key).texts(texts)


@pytest.mark.parametrize("keys", [[1], [1, 2]])
def test_plain_text_keeps_about_as_many_pieces(
    store: Store, texts: list[str], keys: list[int]
) -> None:
    target = enciphered(texts, 13)
    plain = {"source": partial(iter, texts), "target": partial(iter, target)}
    ciphers = {f"rot-{key}": partial(iter, enciphered(texts, key)) for key in keys}
    alone, joint = (
        train(
            groups,
            VocabularySettings(size=300),
            languages=["de", "en"],
            folder=store.folder("vocabularies", str(len(groups))),
        )
        for groups in (plain, plain | ciphers)
    )
    lengths = [len(pieces.encode(texts + target)[0]) for pieces in (alone, joint)]
    assert lengths[1] / lengths[0] == pytest.approx(1, abs=0.1)
    assert 300 * (1 + len(keys) / 4) < len(joint) <= 300 * (1 + len(keys))


def test_text_is_worth_its_characters_and_the_words_that_come_twice() -> None:
    texts = ["ein Haus, ein Hund", "das Haus 12 12", "Hund"]
    assert fitting_size(texts, 100) == len(" ,12Hadeinsu") + len(["ein", "Haus", "Hund"])
    assert fitting_size(texts, 2) == 2
    assert has_words(texts, 4) and not has_words(texts, 5)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.text(st.sampled_from("aabbcdeß ,1"), min_size=1, max_size=12), min_size=1, max_size=30
    )
)
def test_a_model_of_the_size_that_text_is_worth_can_be_learned(texts: list[str]) -> None:
    texts = [text for text in texts if text.strip()] or ["a"]
    size = fitting_size(texts, 1_000)
    model = SentencePieceProcessor(model_proto=sentencepieces.learn(texts, size))
    assert len(sentencepieces.pieces(model)) == size

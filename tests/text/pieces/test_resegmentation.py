"""BPE-dropout: text segmented anew from its ids, by the merges of its vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from augury.core.rng import keys_of
from augury.core.store import Store
from augury.corpora.builtin import pairs
from augury.text.pieces import training
from augury.text.pieces.resegmentation import Resegmenter
from augury.text.pieces.sentencepieces import pieces
from augury.text.pieces.settings import VocabularySettings
from augury.text.pieces.vocabulary import Vocabulary

PAIRS = list(islice(pairs("train"), 300))
SOURCES = ["straße, straße. die straße", *(source for source, _ in PAIRS)]
TARGETS = [target for _, target in PAIRS]


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    groups = {"source": lambda: SOURCES, "target": lambda: TARGETS}
    folder = Store(tmp_path_factory.mktemp("resegmentation")).folder("vocabularies", "joint")
    return training.train(
        groups, VocabularySettings(size=400), languages=["de", "en"], folder=folder
    )


def encoded(vocabulary: Vocabulary, texts: Sequence[str], view: str = "source") -> list[np.ndarray]:
    ids, offsets = vocabulary.encode(texts, view)
    return np.split(ids, offsets[1:-1])


def keys(count: int) -> np.ndarray:
    return keys_of([f"row-{number}" for number in range(count)])


def test_dropout_0_leaves_the_usual_pieces_and_1_single_characters(joint: Vocabulary) -> None:
    """Golden: methods.md A10, `straße` -> `▁ s t r a ß e`."""
    rows, segmented = encoded(joint, SOURCES), joint.resegmenter()
    assert all(map(np.array_equal, segmented.rows(rows, 0.0, keys(len(rows))), rows))
    characters = segmented.rows([*encoded(joint, ["straße"]), *rows], 1.0, keys(len(rows) + 1))
    written = [[joint.pieces[index] for index in row] for row in characters]
    assert written[0] == ["▁", "s", "t", "r", "a", "ß", "e"]
    assert written[1:] == [list("▁" + text.replace(" ", "▁")) for text in SOURCES]


@given(
    words=st.lists(st.text("straßediun ,.", max_size=12), min_size=1, max_size=6),
    dropout=st.floats(0, 1),
    number=st.integers(0, 2**64 - 1),
)
def test_the_text_stays_as_it_is(
    joint: Vocabulary, words: list[str], dropout: float, number: int
) -> None:
    texts = [" ".join(words), *words]
    rows, many = encoded(joint, texts), np.full(len(texts), number, np.uint64)
    segmented = joint.resegmenter().rows(rows, dropout, many)
    assert joint.decode(segmented) == joint.decode(rows) == texts


def test_pieces_come_as_often_as_sentencepiece_samples_them(joint: Vocabulary) -> None:
    word, number = "haben", 20_000
    row, model = encoded(joint, [word])[0], SentencePieceProcessor(model_proto=joint.model())
    own = Counter(
        tuple(joint.pieces[index] for index in segmented)
        for segmented in joint.resegmenter().rows([row] * number, 0.3, keys(number))
    )
    sentencepiece.set_random_generator_seed(1)
    sampled = (
        model.encode(word, out_type=str, enable_sampling=True, alpha=0.3, nbest_size=-1)
        for _ in range(number)
    )
    theirs = Counter(map(tuple, sampled))
    assert len(own) > 5
    for segmentation in {*own, *theirs}:
        own_count, sampled_count = own[segmentation], theirs[segmentation]
        assert abs(own_count - sampled_count) < 4.5 * np.sqrt(own_count + sampled_count) + 1


def test_a_row_depends_on_its_ids_and_its_key_alone(joint: Vocabulary) -> None:
    rows, of_rows, segmenter = encoded(joint, SOURCES[:50]), keys(50), joint.resegmenter()
    together = [row.tolist() for row in segmenter.rows(rows, 0.3, of_rows)]
    assert together[::-1] == [
        row.tolist() for row in segmenter.rows(rows[::-1], 0.3, of_rows[::-1])
    ]
    fresh = Resegmenter(joint.pieces, pieces(SentencePieceProcessor(model_proto=joint.model())))
    alone = [
        fresh.rows([row], 0.3, key)[0].tolist()
        for row, key in zip(rows, of_rows[:, None], strict=True)
    ]
    assert alone == together != [row.tolist() for row in rows]
    assert together != [row.tolist() for row in segmenter.rows(rows, 0.3, keys_of(["other"] * 50))]


def test_samples_are_the_same_in_every_process() -> None:
    """Golden: the candidates of a word, each dropped by its key and its span."""
    learned = ["ab", "abc", "cd", "▁ab", "a", "b", "c", "d", "▁"]
    segmenter = Resegmenter(["<unk>", *learned], learned)
    rows = segmenter.rows([np.array([4, 3])] * 5, 0.5, keys(5))
    written = ["|".join(["<unk>", *learned][index] for index in row) for row in rows]
    assert written == ["▁|ab|cd", "▁|abc|d", "▁|a|b|c|d", "▁|abc|d", "▁ab|c|d"]

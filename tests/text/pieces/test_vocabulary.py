from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.text.cipher import Rot
from augury.text.pieces.settings import VocabularySettings
from augury.text.pieces.training import train
from augury.text.pieces.vocabulary import Vocabulary

GERMAN = [
    "es ist diese pyramide.",
    "hey, warum nicht?",
    "wir alle lieben baseball, oder?",
    "zwölf große übungen",
    "über 20% der straßen!",
    "xyz ª º ﬁ \u00a0 \t \u200b 😀 e\u0301",
    "das __en__ <clean_s> <unk> </s> <pad>",
]
ENGLISH = [
    "it is this pyramid.",
    "hey, why not?",
    "we all love baseball, right?",
    "twelve big exercises",
]
ALPHABET = ("abcdefghijklmnopqrstuvwxyzßäöü",)
VIEWS = {
    "source": GERMAN,
    "target": ENGLISH,
    "rot-1": Rot(ALPHABET, 1).texts(GERMAN),
    "rot-2": Rot(ALPHABET, 2).texts(GERMAN),
}
JOINT = VocabularySettings(size=110, size_per_key=20, reserved=("<clean_s>",))
SEPARATE = VocabularySettings(
    size=110, separate_size_per_key=90, mode="separate", reserved=("<clean_s>",)
)
CONFIGS = {"joint": JOINT, "separate": SEPARATE}
Vocabularies = dict[str, Vocabulary]


def fit(
    folder: Folder, config: VocabularySettings, views: dict[str, list[str]] = VIEWS
) -> Vocabulary:
    groups = {view: (lambda texts=texts: iter(texts)) for view, texts in views.items()}
    return train(groups, config, languages=["de", "en"], folder=folder)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def vocabularies(store: Store) -> Vocabularies:
    return {
        mode: fit(store.folder("vocabularies", mode), config) for mode, config in CONFIGS.items()
    }


def rows(ids: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    return [ids[start:end].tolist() for start, end in zip(offsets, offsets[1:], strict=False)]


def read_pieces(vocabulary: Vocabulary, text: str, view: str = "source") -> list[str]:
    ids, _ = vocabulary.encode([text], view)
    return [vocabulary.pieces[index] for index in ids]


def test_specials_and_tags_come_first_and_all_entries_count(vocabularies: Vocabularies) -> None:
    for vocabulary in vocabularies.values():
        assert vocabulary.pieces[:6] == ("<pad>", "<unk>", "</s>", "__de__", "__en__", "<clean_s>")
        assert (vocabulary.pad, vocabulary.unk, vocabulary.eos) == (0, 1, 2)
        assert vocabulary.tags == {"__de__": 3, "__en__": 4, "<clean_s>": 5}
        assert len(set(vocabulary.pieces)) == len(vocabulary)
    assert len(vocabularies["joint"]) == 110 + 2 * 20


@pytest.mark.parametrize("mode", CONFIGS)
@pytest.mark.parametrize("view", VIEWS)
def test_training_texts_decode_to_themselves(
    vocabularies: Vocabularies, mode: str, view: str
) -> None:
    vocabulary = vocabularies[mode]
    encoded = rows(*vocabulary.encode(VIEWS[view], view))
    assert vocabulary.decode(encoded) == VIEWS[view]
    assert not {0, 1, 2, 3, 4, 5} & {index for row in encoded for index in row}


def test_unknown_characters_become_unk_and_read_as_such(vocabularies: Vocabularies) -> None:
    for vocabulary in vocabularies.values():
        for unseen in ("щ", "▅", "\0"):
            ids, _ = vocabulary.encode([f"es{unseen}ist"])
            assert ids.tolist().count(vocabulary.unk) == 1
            assert vocabulary.decode([ids]) == ["es ⁇ ist"]


def test_separate_views_have_their_own_models_in_one_table(
    store: Store, vocabularies: Vocabularies
) -> None:
    vocabulary, folder = vocabularies["separate"], store.folder("vocabularies", "separate")
    assert folder.manifest()["views"] == {"source": 0, "target": 0, "rot-1": 1, "rot-2": 2}
    models = [
        SentencePieceProcessor(model_proto=folder.read(name))
        for name in folder.manifest()["models"]
    ]
    tables = [
        [model.id_to_piece(index) for index in range(1, model.get_piece_size())] for model in models
    ]
    assert [len(table) for table in tables] == [110 - 6, 90, 90]
    assert vocabulary.pieces[6:110] == tuple(tables[0])
    assert set(vocabulary.pieces[6:]) == set(tables[0]) | set(tables[1]) | set(tables[2])
    for view, model in zip(("source", "rot-1", "rot-2"), models, strict=True):
        for text in VIEWS[view]:
            assert read_pieces(vocabulary, text, view) == model.encode(text, out_type=str)


@pytest.mark.parametrize("mode", CONFIGS)
def test_training_again_gives_equal_bytes(
    store: Store, vocabularies: Vocabularies, mode: str
) -> None:
    first, second = store.folder("vocabularies", mode), store.folder("again", mode)
    reordered = {view: texts[::-1] for view, texts in VIEWS.items()}
    fit(second, CONFIGS[mode], reordered)
    assert first.names() == second.names()
    assert [first.read(name) for name in first.names()] == [
        second.read(name) for name in second.names()
    ]
    for other in (Vocabulary.load(second), pickle.loads(pickle.dumps(vocabularies[mode]))):
        assert (other.pieces, other.tags) == (vocabularies[mode].pieces, vocabularies[mode].tags)
        for view, texts in VIEWS.items():
            assert rows(*other.encode(texts, view)) == rows(*vocabularies[mode].encode(texts, view))


@pytest.mark.parametrize(
    ("size", "bound", "beyond"), [(5000, "at most", 1), (2, "no fewer than", -1)]
)
def test_an_impossible_size_names_the_nearest(
    store: Store, size: int, bound: str, beyond: int
) -> None:
    folder, views = store.folder("vocabularies", "size"), {"source": GERMAN, "target": ENGLISH}
    with pytest.raises(UserError, match=f"^vocabulary.size: {size} entries") as caught:
        fit(folder, VocabularySettings(size=size), views)
    limit = int(str(caught.value).split(f"{bound} ")[1].split(":")[0])
    with pytest.raises(UserError, match=bound):
        fit(folder, VocabularySettings(size=limit + beyond), views)
    assert len(fit(folder, VocabularySettings(size=limit), views)) == limit
    folder.remove()


GEORGIAN = "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭ"
RELABELLED = [text.translate(str.maketrans(ALPHABET[0], GEORGIAN)) for text in GERMAN]
MIRRORED = VocabularySettings(size=110, mode="mirrored", reserved=("<clean_s>",))


@pytest.mark.parametrize("texts", [VIEWS["rot-1"], RELABELLED])
def test_a_mirrored_view_is_segmented_as_the_plain_source(tmp_path: Path, texts: list[str]) -> None:
    folder = Store(tmp_path).folder("vocabularies", "mirrored")
    fit(folder, MIRRORED, {**VIEWS, "rot-1": texts})
    vocabulary = Vocabulary.load(folder)
    assert vocabulary.decode(rows(*vocabulary.encode(texts, "rot-1"))) == texts
    assert vocabulary.encode(["Ж"], "rot-1")[0][-1] == vocabulary.unk
    letters = dict(zip("".join(GERMAN), "".join(texts), strict=True))
    letters["▁"] = "▁"
    for plain, view in zip(GERMAN, texts, strict=True):
        pieces = read_pieces(vocabulary, plain)
        expected = ["".join(letters[letter] for letter in piece) for piece in pieces]
        assert read_pieces(vocabulary, view, "rot-1") == expected
    # Plain text has the entries of a vocabulary without views.
    assert vocabulary.encode(GERMAN)[0].max() < 110

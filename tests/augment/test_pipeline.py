from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from augury.augment import pipeline
from augury.augment.cipher import Cipher
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import Corpus, read_shard
from augury.text.cipher import Rot, build_alphabet
from tests.augment import texts

SENTENCES = ["hey, warum nicht?", "zwölf große übungen", "Straße 20%!", "abc äöü ß"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(corpora, "SHARD_ROWS", 3)
    return Store(tmp_path)


def corpus(store: Store, address: str = "abc", count: int = 10) -> Corpus:
    sentences = [f"{SENTENCES[i % 4]} {i}" for i in range(count)]
    return texts.corpus(store, texts.records(source=sentences, target=sentences), address)


def expected(key: int) -> list[str]:
    sentences = [f"{SENTENCES[i % 4]} {i}" for i in range(10)]
    rot = Rot(build_alphabet(Counter("".join(sentences))), key)
    return rot.texts(sentences)


def test_views_line_up_with_the_corpus_and_carry_their_side_data(store: Store) -> None:
    base = corpus(store)
    augmented = pipeline.augment(base, [Cipher(keys=(1, 2))], store)
    assert len(base.shards) == 4
    for part, key in zip(augmented.parts, (1, 2), strict=True):
        view = pa.concat_tables([read_shard(part.folder, shard) for shard in base.shards])
        assert part.name == f"rot-{key}"
        assert view.to_pydict() == {"id": base.column("id"), "text": expected(key)}
    manifest = folders(augmented)["rot-2"].manifest()
    assert manifest["rows"] == 10 and manifest["shards"] == base.shards
    assert manifest["side_data"] == {
        "cycles": [*build_alphabet(Counter("".join(base.column("source"))))]
    }
    assert manifest["inputs"] == [base.address, augmented.parts[0].fit.name]


def test_a_second_call_makes_nothing_and_a_new_key_only_itself(store: Store) -> None:
    base = corpus(store)
    first = pipeline.augment(base, [Cipher(keys=(1, 2))], store)
    assert first.reused == ()
    again = pipeline.augment(base, [Cipher(keys=(1, 2))], store)
    assert again.reused == ("rot-1", "rot-2")
    more = pipeline.augment(base, [Cipher(keys=(1, 2, 3))], store)
    assert more.reused == ("rot-1", "rot-2")


def test_an_interrupted_call_continues_at_the_first_missing_shard(store: Store) -> None:
    base = corpus(store)
    expected_bytes = bytes_of(pipeline.augment(base, [Cipher(keys=(1,))], store))
    folder = pipeline.plan(base.address, [Cipher(keys=(1,))], store)[0].folder
    folder.remove("manifest.json")
    folder.remove(base.shards[2])
    kept = Path(folder.path(base.shards[0])).stat().st_mtime_ns
    continued = pipeline.augment(base, [Cipher(keys=(1,))], store)
    assert continued.reused == ()
    assert bytes_of(continued) == expected_bytes
    assert Path(folder.path(base.shards[0])).stat().st_mtime_ns == kept


def folders(augmented: pipeline.Augmented) -> dict[str, Folder]:
    return {part.name: part.folder for part in augmented.parts}


def bytes_of(augmented: pipeline.Augmented) -> dict[str, bytes]:
    return {
        f"{name}/{shard}": folder.read(shard)
        for name, folder in folders(augmented).items()
        for shard in folder.manifest()["shards"]
    }


def test_a_key_that_changes_nothing_is_refused(store: Store) -> None:
    letters = len({letter for sentence in SENTENCES for letter in sentence if letter.isalpha()})
    with pytest.raises(UserError, match=f"key {letters} leaves letters unchanged"):
        pipeline.augment(corpus(store), [Cipher(keys=(letters,))], store)


def test_a_key_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="keys 1, 2, 1 repeat one"):
        Cipher(keys=(1, 2, 1))

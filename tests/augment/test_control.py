"""Control views: what each keeps of a source."""

from __future__ import annotations

import pyarrow as pa
import pytest

from augury.augment.operator import parse
from augury.core.store import Store
from augury.core.words import clusters

TEXTS = ["", "die Katze, 20 % der Bäume!", "ein  Haus", "straße straße straße", "a"]
TEXTS += ["वह हिन्दी की किताब है।", "e\u0301tude cafe\u0301"]  # letters with marks of their own
IDS = [f"r{number}" for number in range(len(TEXTS))]


def view(kind: str, texts: list[str] = TEXTS, ids: list[str] = IDS, seed: int = 1) -> list[str]:
    operator = parse({"operator": "control", "kind": kind, "seed": seed})
    assert operator.name() == kind and operator.makes() == "view"
    made = operator.bind({}, Store("."))(pa.table({"id": ids, "source": texts})).table
    assert made.column("id").to_pylist() == ids
    return made.column("text").to_pylist()


def test_a_duplicate_is_equal_and_reversing_twice_gives_the_text() -> None:
    assert view("duplicate") == TEXTS == view("reverse", view("reverse"))
    assert view("reverse")[1] == "eid ,eztaK 02 % red !emuäB"
    assert view("reverse")[-1] == "edute\u0301 e\u0301fac"


def test_shuffling_keeps_the_characters_of_every_word() -> None:
    shuffled = view("shuffle")
    assert shuffled != TEXTS
    for text, changed in zip(TEXTS, shuffled, strict=True):
        words = zip(text.split(" "), changed.split(" "), strict=True)
        assert all(sorted(clusters(old)) == sorted(clusters(new)) for old, new in words)


@pytest.mark.parametrize("kind", ["blank", "random"])
def test_letters_alone_change_and_the_length_is_kept(kind: str) -> None:
    changed = view(kind)
    for text, other in zip(TEXTS, changed, strict=True):
        for old, new in zip(clusters(text), other, strict=True):
            letters = "_" if kind == "blank" else "abcdefghijklmnopqrstuvwxyz"
            assert new in letters if old[0].isalpha() else new == old
    assert view("blank")[1] == "___ _____, 20 % ___ _____!"

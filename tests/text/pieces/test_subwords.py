from __future__ import annotations

import pytest

from augury.core.store import Folder, Store
from augury.text.pieces import subwords
from augury.text.pieces.subwords import Subwords, encode

TEXTS = ["the cat sees the dog", "a dog", "", "the dog hears the hen and the cat and the cow"]
END = 2


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = Store(tmp_path_factory.mktemp("tokenizer")).folder("vocabularies", "toy")
    subwords.learn(TEXTS, 60, folder)
    return folder


def test_texts_come_back_and_end_with_the_end(vocabulary: Folder) -> None:
    tokenizer = Subwords(vocabulary, 50).tokenizer()
    rows, truncated = encode(tokenizer, [TEXTS], 50)
    assert truncated == 0 and all(row[-1] == END and row.count(END) == 1 for row in rows)
    read = tokenizer.batch_decode(rows, skip_special_tokens=True)
    assert [text.strip() for text in read] == TEXTS
    assert encode(tokenizer, [[]], 50) == ([], 0)


def test_long_texts_are_cut_before_their_end(vocabulary: Folder) -> None:
    tokenizer = Subwords(vocabulary, 50).tokenizer()
    whole, _ = encode(tokenizer, [TEXTS], 50)
    rows, truncated = encode(tokenizer, [TEXTS], 6)
    assert truncated == sum(len(row) > 6 for row in whole) > 0
    for row, uncut in zip(rows, whole, strict=True):
        assert row == (uncut if len(uncut) <= 6 else [*uncut[:5], END])
    ((start, *short, _),), _ = encode(tokenizer, [["a dog"]], 50)
    ((*pair,),), truncated = encode(tokenizer, [["a dog"], TEXTS[3:]], len(short) + 7)
    assert truncated and pair[: len(short) + 1] == [start, *short]  # the longer one is cut

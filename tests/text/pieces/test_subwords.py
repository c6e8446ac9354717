from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from augury.core.store import Folder, Store
from augury.text.pieces import subwords
from augury.text.pieces.subwords import TRUNCATED, Subwords, encode

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
    assert [
        text.strip() for text in tokenizer.batch_decode(rows, skip_special_tokens=True)
    ] == TEXTS
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


def test_blocks_are_encoded_and_counted(vocabulary: Folder) -> None:
    subwords = Subwords(vocabulary, 6)
    block = subwords.load()(pa.table({"source": TEXTS}), "source")
    rows, truncated = encode(subwords.tokenizer(), [TEXTS], 6)
    assert [
        block.ids[start:end].tolist()
        for start, end in zip(block.offsets, block.offsets[1:], strict=False)
    ] == rows
    assert block.counts == {TRUNCATED: truncated}
    assert subwords.size == len(subwords.tokenizer()) <= 60
    assert subwords.name != Subwords(vocabulary, 7).name


def test_special_tokens_in_a_text_are_text(vocabulary: Folder) -> None:
    tokenizer = Subwords(vocabulary, 50).tokenizer()
    ((_, *ids, _),), _ = encode(tokenizer, [["the <s>dog</s> <pad>"]], 50)
    assert not {
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
    }.intersection(ids)


def test_targets_have_the_pieces_of_the_target_side(vocabulary: Folder, tmp_path: Path) -> None:
    """Marian's tokenizers have a vocabulary for each side."""

    class Sides:
        def __call__(
            self, text: list[str] | None = None, text_target: list[str] | None = None, **_: object
        ) -> object:
            class Found:
                input_ids = [[1, END] for _ in text or []] or [[7, END] for _ in text_target or []]

            return Found

    assert encode(Sides(), [["a"]], 9, "source")[0] == [[1, END]]  # type: ignore[arg-type]
    assert encode(Sides(), [["a"]], 9, "target")[0] == [[7, END]]  # type: ignore[arg-type]

import hashlib

import pytest

from augury.corpora.builtin import SPLITS, Split, generate


def test_golden_text() -> None:
    lines = "".join(
        f"{pair.id}\t{pair.source}\t{pair.target}\n" for pair in generate("train", 1_000)
    )
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert digest == "eadfee3eef020b7e5141f6fb6a08a46e1a0cd522cfeca7513bdefdf2151ba1e7"


@pytest.mark.parametrize("split", SPLITS)
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(split: Split) -> None:
    larger = list(generate(split, 40, seed=7))
    assert list(generate(split, 13, seed=7)) == larger[:13]
    assert larger[39].id == "builtin-" + split + "-00000039"


def test_splits_share_no_sentence_and_repeat_none() -> None:
    sizes: list[tuple[Split, int]] = [("train", 5_000), ("valid", 1_000), ("test", 1_000)]
    splits = [list(generate(split, size)) for split, size in sizes]
    assert len({pair.source for split in splits for pair in split}) == 7_000

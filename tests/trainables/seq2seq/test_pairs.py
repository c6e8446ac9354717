"""What generators learn from."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.errors import UserError
from augury.corpora.corpus import PARALLEL, Corpus
from trainables.seq2seq import pairs


def both(corpus: Corpus) -> list[tuple[str, str]]:
    return list(zip(corpus.column("source"), corpus.column("target"), strict=True))


def test_a_hypothesis_is_written_for_a_label_and_a_premise(toy: Any) -> None:
    """Golden: gold label contradiction, premise P, hypothesis H: `contradiction: P` -> H."""
    corpus = toy.made(toy.experiment("hypothesis"))
    assert both(corpus) == [
        (f"{label}: {premise}", hypothesis) for premise, hypothesis, label in toy.pairs
    ]
    assert both(corpus)[1] == ("contradiction: A dog runs.", "No dog runs.")
    table = corpus.shard(corpus.shards[0])
    assert table.schema.equals(PARALLEL.schema)
    record = table.to_pylist()[2]
    assert record["id"] == "train-00000003" and record["lineage"]["parents"] == ["train-00000003"]
    assert (record["source_language"], record["target_language"]) == ("en", "en")


def test_a_sentence_is_written_in_the_order_of_its_translation(toy: Any) -> None:
    """`0-0 1-2 2-1 3-3` is what the aligner finds; every row has the links of its line, wherever it
    is held out."""
    right = toy.directory / "train.links"
    right.write_text("0-0 1-2 2-1 3-3\n" * len(toy.sentences))
    links = {"links": {"train": str(right), "valid": str(right)}}
    assert toy.experiment("reorder").languages == ("aa", "aa")
    train = [pair for row, pair in enumerate(toy.sentences, 1) if row % 10]
    for split, kept in (("train", train), ("valid", toy.sentences[9::10])):
        own = toy.made(toy.experiment("reorder"), split)
        others = toy.made(toy.experiment("reorder", corpus=links), split)
        assert both(own) == [(f"reorder: {sentence}", other) for sentence, other in kept]
        assert both(others) == both(own) and others.address != own.address
    right.write_text("0-0\n" * 8 + "0-9\n" + "0-0\n" * 200)
    with pytest.raises(UserError, match="line 9: .*4 of them"):
        toy.made(toy.experiment("reorder", corpus=links))


def test_pairs_with_too_few_links_are_left_out_and_counted(toy: Any) -> None:
    """A word that was never seen is linked to one of the words beside it, and the others to
    none."""
    lines = [
        ("hen sees a bee .", "hen bee sees ."),
        ("fox hears hen", "unseen"),
        ("cow finds bee", "cow bee finds"),
    ]
    held_out = {"every": None, "filter": {"max_ratio": None}, "valid": toy.text("held-out", lines)}
    corpus = toy.made(toy.experiment("reorder", corpus=held_out), "valid")
    assert both(corpus) == [
        ("reorder: hen sees a bee .", "hen a bee sees ."),
        ("reorder: cow finds bee", "cow bee finds"),
    ]
    assert corpus.manifest["rejected"] == {pairs.UNCOVERED: 1} and corpus.manifest["rows_in"] == 3
    lenient = toy.made(toy.experiment("reorder", corpus={**held_out, "min_coverage": 0}), "valid")
    assert both(lenient)[1] == ("reorder: fox hears hen", "fox hears hen")

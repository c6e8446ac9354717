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
    experiment = toy.experiment("hypothesis")
    corpus = toy.made(experiment)
    assert both(corpus) == [
        (f"{label}: {premise}", hypothesis) for premise, hypothesis, label in toy.pairs
    ]
    assert both(corpus)[1] == ("contradiction: A dog runs.", "No dog runs.")
    table = corpus.shard(corpus.shards[0])
    assert table.schema.equals(PARALLEL.schema)
    record = table.to_pylist()[2]
    assert record["id"] == "train-00000003" and record["origin"] == "hypothesis"
    assert (record["source_language"], record["target_language"]) == ("en", "en")
    assert record["lineage"] == {
        "parents": ["train-00000003"],
        "operator": corpus.address,
        "copy": 1,
    }
    assert corpus.manifest["kind"] == "parallel" and corpus.manifest["rejected"] == {}


def test_a_sentence_is_written_in_the_order_of_its_translation(toy: Any) -> None:
    experiment = toy.experiment("reorder")
    train = [pair for row, pair in enumerate(toy.sentences, 1) if row % 10]
    for split, kept in (("train", train), ("valid", toy.sentences[9::10])):
        corpus = toy.made(experiment, split)
        assert both(corpus) == [(f"reorder: {sentence}", other) for sentence, other in kept]
    assert corpus.manifest["source_language"] == corpus.manifest["target_language"] == "aa"


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
    with pytest.raises(UserError, match="valid: the alignment links less than 50% of the words"):
        none = {**held_out, "valid": toy.text("none", lines[1:2])}
        toy.made(toy.experiment("reorder", corpus=none), "valid")
    lenient = toy.made(toy.experiment("reorder", corpus={**held_out, "min_coverage": 0}), "valid")
    assert (
        both(lenient)[1] == ("reorder: fox hears hen", "fox hears hen")
        and lenient.manifest["rejected"] == {}
    )


def test_links_of_others_give_the_order(toy: Any) -> None:
    """Every row has the links of its line, wherever it is held out; `0-0 1-2 2-1 3-3` is what an
    aligner finds too."""
    right = toy.directory / "train.links"
    right.write_text("0-0 1-2 2-1 3-3\n" * len(toy.sentences))
    links = {"links": {"train": str(right), "valid": str(right)}}
    for split in ("train", "valid"):
        own = toy.made(toy.experiment("reorder"), split)
        others = toy.made(toy.experiment("reorder", corpus=links), split)
        assert both(others) == both(own) and others.address != own.address


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["0-0"] * 12, "12 lines.*row 13"),
        (["0-0"] * 8 + ["0-9"] + ["0-0"] * 200, "line 9: .*4 of them"),
        (["0-0", "0"] + ["0-0"] * 200, "line 2: '0' is no link"),
    ],
)
def test_links_of_another_text_are_refused(toy: Any, lines: list[str], fault: str) -> None:
    file = toy.directory / "train.links"
    file.write_text("".join(f"{line}\n" for line in lines))
    links = {"links": {"train": str(file), "valid": str(file)}}
    with pytest.raises(UserError, match=fault):
        toy.made(toy.experiment("reorder", corpus=links))

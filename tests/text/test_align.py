from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augury.core.errors import UserError
from augury.core.execution import Executor, LocalExecutor, RayExecutor
from augury.core.progress import Stage
from augury.core.rng import generator
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora.builtin import generate
from augury.corpora.corpus import PARALLEL, Corpus, CorpusWriter
from augury.text import align as aligning
from augury.text.align import Aligner, Sentences, align, apply, encode_shards, expectations, fit, words_of_shard
from augury.text.ibm2 import Settings
from augury.text.symmetrise import Link, symmetrise
from augury.text.words import words
from benchmarks.align import errors_of, gold_set, multi30k

TENSE = Settings(optimise_tension=True)


def builtin(count: int) -> tuple[list[list[str]], list[list[str]]]:
    pairs = list(generate("train", count))
    return [words(pair.source) for pair in pairs], [words(pair.target) for pair in pairs]


def shuffled_language(count: int) -> tuple[list[list[str]], list[list[str]], list[list[Link]]]:
    """Sentences of 40 words, their neighbours swapped and renamed on the other side, and the links between them."""
    random = generator(1, "shuffled language")
    sources, targets, links = [], [], []
    for _ in range(count):
        source = random.integers(40, size=random.integers(3, 9))
        order = np.arange(len(source))
        for place in range(0, len(source) - 1, 2):
            if random.random() < 0.5:
                order[place : place + 2] = order[place : place + 2][::-1]
        sources.append([f"Wort{word}" for word in source])
        targets.append([f"word{word}" for word in source[order]])
        links.append(sorted((int(i), j) for j, i in enumerate(order)))
    return sources, targets, links


def test_a_language_of_other_words_in_another_order_is_learned() -> None:
    sources, targets, expected = shuffled_language(400)
    found = align(sources, targets)
    both = [symmetrise(*pair) for pair in zip(found["forward"], found["reverse"], strict=True)]
    right = sum(len(set(one) & set(other)) for one, other in zip(both, expected, strict=True))
    error = 1 - 2 * right / (sum(map(len, both)) + sum(map(len, expected)))
    assert error < 0.01


def test_links_are_as_near_to_those_of_a_person_as_they_were_measured_to_be(data: Path) -> None:
    """German to English, learned from captions: measured 40.1, 40.5, 39.7 and 37.3 % error on sentences of Europarl."""
    (sources, targets), (gold_sources, gold_targets, gold) = multi30k(data), gold_set(data)
    links = align([*sources, *gold_sources], [*targets, *gold_targets])
    found = errors_of({direction: rows[-len(gold) :] for direction, rows in links.items()}, gold)
    assert len(gold) == 100
    for name in ("forward", "reverse", "grow-diag-final-and"):
        assert found[name].rate < 0.42
    assert found["intersection"].rate < 0.39 and found["intersection"].precision > 0.7


def test_the_textbook() -> None:
    sources = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
    targets = [["the", "house"], ["the", "book"], ["a", "book"]]
    assert align(sources, targets, ["reverse"]) == {"reverse": [[(0, 0), (1, 1)]] * 3}


def test_rows_without_words_have_no_links() -> None:
    sources, targets = [["a", "b"], [], ["a"], []], [["x", "y"], ["x"], [], []]
    assert align(sources, targets) == {
        "forward": [[(0, 0), (1, 1)], [], [], []],
        "reverse": [[(0, 0), (1, 1)], [], [], []],
    }
    with pytest.raises(UserError, match="no sentence pair has words on both sides"):
        align([["a"], []], [[], ["x"]])


def part(sentences: tuple[Sentences, Sentences], bounds: tuple[int, int]) -> tuple[Sentences, Sentences]:
    return sentences[0][slice(*bounds)], sentences[1][slice(*bounds)]


def fitted(cuts: Sequence[int], scratch: Path, executor: Executor) -> tuple[Aligner, Any, Any]:
    """The aligner, the counts under its parameters and the links, from shards of the built-in corpus."""
    sentences = builtin(300)
    bounds = list(zip([0, *cuts], [*cuts, 300], strict=True))
    encoded = encode_shards(partial(part, sentences), bounds, Folder(str(scratch), "scratch"), executor)
    aligner = fit(encoded, executor, settings=TENSE)
    with Stage("expect", 300) as stage:
        counts = expectations(encoded, aligner.tables, TENSE, executor, stage)
    return aligner, counts, apply(aligner, encoded, executor)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Aligner, Any, Any]:
    return fitted([], tmp_path_factory.mktemp("whole"), LocalExecutor())


def assert_same(some: tuple[Aligner, Any, Any], whole: tuple[Aligner, Any, Any]) -> None:
    assert some[0].lexicon.source_words == whole[0].lexicon.source_words
    assert np.array_equal(some[0].lexicon.pairs, whole[0].lexicon.pairs)
    for direction in ("forward", "reverse"):
        for mine, other in (
            (some[1][direction], whole[1][direction]),
            (some[0].tables[direction], whole[0].tables[direction]),
        ):
            for left, right in zip(mine, other, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-300)
        assert [row for links in some[2] for row in links[direction]] == whole[2][0][direction]


@pytest.mark.parametrize("cuts", [[150], [1, 2, 299], [0, 100, 100, 200, 300], list(range(7, 300, 7))])
def test_the_cut_into_shards_does_not_show(cuts: list[int], whole: tuple[Aligner, Any, Any], tmp_path: Path) -> None:
    assert_same(fitted(cuts, tmp_path, LocalExecutor()), whole)


@pytest.mark.slow
def test_counts_found_on_ray_are_those_of_this_process(
    local_ray: Any, whole: tuple[Aligner, Any, Any], tmp_path: Path
) -> None:
    assert_same(fitted([90, 201], tmp_path, RayExecutor()), whole)


def test_shards_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "SHARD_ROWS", 70)
    pairs = list(generate("train", 200))
    writer = CorpusWriter(Store(tmp_path).folder("corpora", "abc"))
    writer.add(pa.table({
        "id": [pair.id for pair in pairs], "source": [pair.source for pair in pairs],
        "target": [pair.target for pair in pairs], "source_language": ["de"] * 200, "target_language": ["en"] * 200,
        "origin": ["original"] * 200, "views": [[]] * 200, "lineage": [None] * 200,
    }, schema=PARALLEL))  # fmt: skip
    corpus: Corpus = writer.finish({"rejected": {}})
    scratch = Store(tmp_path).folder("scratch", "abc")
    encoded = encode_shards(partial(words_of_shard, corpus.folder), corpus.shards, scratch, LocalExecutor())
    assert encoded.rows == (70, 70, 60) and len(scratch.names()) == 3
    links = apply(fit(encoded, LocalExecutor(), ["forward"]), encoded, LocalExecutor())
    found = [row for part in links for row in part["forward"]]
    assert found == align(*builtin(200), ["forward"])["forward"]


def test_an_aligner_that_was_kept_links_text_old_and_new(tmp_path: Path) -> None:
    sources, targets = builtin(300)
    encoded = encode_shards(partial(part, (sources, targets)), [(0, 300)], Folder(str(tmp_path), "s"), LocalExecutor())
    aligner = fit(encoded, LocalExecutor(), settings=TENSE)
    aligner.write(Folder(str(tmp_path), "aligner"))
    read = Aligner.read(Folder(str(tmp_path), "aligner"))
    assert read.settings == TENSE and read.links(sources, targets) == apply(aligner, encoded, LocalExecutor())[0]
    for direction, table in aligner.tables.items():
        assert np.array_equal(read.tables[direction].pairs, table.pairs)
        assert read.tables[direction].tension == table.tension
    upper = [[word.upper() if word.isascii() else word for word in sentence] for sentence in sources[:9]]
    assert read.links(upper, targets[:9]) == read.links(sources[:9], targets[:9])
    strange = {"forward": [[(0, 0), (1, 1)]], "reverse": [[(0, 0), (1, 1)]]}
    assert read.links([["Xq", "Zq"]], [["qx", "qz"]]) == strange  # along the diagonal


def test_one_direction_is_kept_too(tmp_path: Path) -> None:
    encoded = encode_shards(partial(part, builtin(20)), [(0, 20)], Folder(str(tmp_path), "s"), LocalExecutor())
    aligner = fit(encoded, LocalExecutor(), ["reverse"])
    aligner.write(Folder(str(tmp_path), "aligner"))
    read = Aligner.read(Folder(str(tmp_path), "aligner"))
    assert list(read.tables) == ["reverse"] and read.links(*builtin(20)) == aligner.links(*builtin(20))


def test_text_in_memory_is_cut_into_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = align(*builtin(50))
    monkeypatch.setattr(aligning, "SHARD_ROWS", 20)
    assert align(*builtin(50)) == expected

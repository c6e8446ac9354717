"""Fuzzy matches: the golden corpus of the methods, and that nothing depends on blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.augment import pipeline
from augury.augment.fuzzy_match import FuzzyMatch, TranslationMemory, load_memory
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import corpus as corpora
from augury.corpora import ingest
from augury.corpora.spec import CorpusSpec
from augury.text.fuzzy import Limit
from tests.augment import texts

A, B, C, D = (
    "i love this movie so much",
    "i love this film so much",
    "i love this movie",
    "totally different words here",
)
SOURCES, TARGETS = [A, B, C, D, A], ["T0", "T1", "T2", "T3", "T0"]
BOTH = {(B, "T0"), (A, "T1")}
FURTHER = {(C, "T0"), (A, "T2"), (C, "T1"), (B, "T2")}
"""Under norm max, where the threshold suffices."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def match(
    store: Store, sources: list[str] = SOURCES, targets: list[str] = TARGETS, **parameters: Any
) -> list[tuple[list[dict[str, Any]], dict[str, int]]]:
    """Rows and counts of every part."""
    load_memory.cache_clear()
    names = [f"train-{number:08d}" for number in range(1, len(sources) + 1)]
    table = texts.records(id=names, source=sources, target=targets)
    address = f"{len(sources)}-{abs(hash((*sources, *targets)))}"
    text = texts.corpus(store, table, address)
    parts = pipeline.augment(text, [FuzzyMatch(**parameters)], store).parts
    return [(texts.rows_of(part), part.folder.manifest()["counts"]) for part in parts]


def mono(directory: Path, language: str = "en") -> dict[str, Any]:
    return {"language": language, "train": {"lines": str(directory / "mono")}}


def pairs(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    assert (
        len({row["id"] for row in rows})
        == len({(row["source"], row["target"]) for row in rows})
        == len(rows)
    )
    return {(row["source"], row["target"]) for row in rows}


def test_golden_pairs(store: Store) -> None:
    for candidates in ("all", "containment"):
        ((rows, counts),) = match(store, candidates=candidates)
        assert pairs(rows) == BOTH
        assert counts == {"rejected, equal sources": 1, "rejected, there already": 1}
        assert [(row["id"], row["lineage"]["parents"]) for row in rows] == [
            ("train-00000001/fuzzy_match-1", ["train-00000001", "train-00000002"]),
            ("train-00000002/fuzzy_match-1", ["train-00000002", "train-00000001"]),
        ]
        ((rows, _),) = match(store, candidates=candidates, norm="max")
        assert pairs(rows) == BOTH | FURTHER


def test_golden_pairs_in_one_direction(store: Store) -> None:
    """A source that occurs again is later than itself."""
    ((rows, _),) = match(store, both_directions=False)
    assert pairs(rows) == BOTH
    ((rows, _),) = match(store, SOURCES[:4], TARGETS[:4], both_directions=False)
    assert pairs(rows) == {(B, "T0")}


def test_pairs_of_the_text_are_not_made_again(store: Store) -> None:
    ((rows, counts),) = match(store, [A, B, A, B], ["T0", "T0", "T1", "T2"])
    assert pairs(rows) == {(A, "T2"), (B, "T1")}
    assert counts == {"rejected, equal sources": 2, "rejected, there already": 2}
    ((rows, counts),) = match(store, [A, B, A], ["T0", "T1", "T1"])
    assert pairs(rows) == {(B, "T0")}
    assert counts == {
        "rejected, equal sources": 1,
        "rejected, there already": 2,
    }


def test_nothing_depends_on_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [
        f"{text} {extra}".strip() for extra in ("", "now", "then", "") for text in (A, B, C, D)
    ]
    targets = [f"T{number % 7}" for number in range(len(sources))]
    (tmp_path / "mono").write_text("".join(f"{text} once again\n" for text in (A, B, C, D, A)))
    results: list[Any] = []
    for shard, block in ((20_000, 5_000), (5, 5_000), (20_000, 3)):
        monkeypatch.setattr(corpora, "SHARD_ROWS", shard)
        monkeypatch.setattr(FuzzyMatch, "BLOCK_ROWS", block)
        store = Store(tmp_path / f"{shard}-{block}")
        parameters = {"monolingual": mono(tmp_path)}
        results.append(match(store, sources, targets, norm="max", **parameters))
    assert results[0] == results[1] == results[2]
    assert all(len(rows) > 5 for rows, _ in results[0])


def test_further_sources_get_translations(store: Store, tmp_path: Path) -> None:
    new = "i love this new movie so much"
    lines = [new, "too short", A, new, "i love no new movies at"]
    (tmp_path / "mono").write_text("".join(f"{line}\n" for line in lines))
    (_, (rows, counts)) = match(store, monolingual=mono(tmp_path))
    assert pairs(rows) == {(lines[0], "T0"), (lines[0], "T1")}
    assert [row["lineage"]["parents"] for row in rows] == [
        ["monolingual-00000001", "train-00000001"],
        ["monolingual-00000001", "train-00000002"],
    ]
    assert counts == {
        "rejected, equal sources": 2,
        "rejected, too short": 1,
        "rejected, there already": 1,
    }


def test_matches_within_some_of_the_texts(tmp_path: Path) -> None:
    """Of the other text nothing is looked up, and nothing matches it."""
    named = []
    for name, sources in (("noisy", [A, B, D]), ("clean", [C, f"{A} today", f"{B} today"])):
        files = {side: str(tmp_path / f"{name}.{side}") for side in ("source", "target")}
        Path(files["source"]).write_text("".join(f"{source}\n" for source in sources))
        Path(files["target"]).write_text("".join(f"{name} {n}\n" for n in range(len(sources))))
        named.append({"name": name, **files})
    languages = {"source_language": "en", "target_language": "fr"}
    spec = CorpusSpec.model_validate({**languages, "train": named, "filter": {"max_ratio": None}})
    store = Store(tmp_path / "store")
    text = ingest.ingest(spec, "train", store)
    (part,) = pipeline.augment(text, [FuzzyMatch(of=("noisy",))], store).parts
    assert pairs(texts.rows_of(part)) == {(A, "noisy 1"), (B, "noisy 0")}
    with pytest.raises(UserError, match="unknown training text 'nosy': did you mean 'noisy'"):
        pipeline.augment(text, [FuzzyMatch(of=("nosy",))], store)


def test_ten_candidates_are_compared_at_most() -> None:
    """Earlier sentences first among those that have as much in common."""
    sources = [f"a b c d {number}" for number in range(12)] + ["d c b a x"]
    memory = TranslationMemory([*map(str, range(13))], sources, sources)
    limit = Limit(0.5, "max")
    assert list(memory.matches(["a b c d x"], limit, contained=True)) == [
        [*range(9)]
    ]  # the tenth is in another order
    assert list(memory.matches(["a b c d x"], limit)) == [[*range(12)]]

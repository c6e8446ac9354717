"""Further references of test sets: where they may stand, and files that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.ingest import corpus_address, ingest, read_references, stored_references
from augury.corpora.spec import CorpusSpec

CODES = {"source_language": "de", "target_language": "en"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """A test set of three lines, with references of three and of two."""
    for name, lines in (("a", 3), ("b", 3), ("c", 3), ("short", 2)):
        (tmp_path / name).write_text("".join(f"{name} {line}\r\n" for line in range(lines)))
    return {
        "source": str(tmp_path / "a"),
        "target": str(tmp_path / "b"),
        "references": [str(tmp_path / "c")],
    }


def spec(test: dict[str, Any], **changes: Any) -> CorpusSpec:
    return CorpusSpec.model_validate({**CODES, "tests": {"news": test}, **changes})


def test_they_are_stored_beside_the_corpus(files: dict[str, Any], tmp_path: Path) -> None:
    store, plain = Store(tmp_path / "store"), {**files, "references": []}
    for first, expected in ((None, ["c 0", "c 1", "c 2"]), (2, ["c 0", "c 1"])):
        corpus = spec({**files, "first": first})
        folder = stored_references(corpus, "news", ingest(corpus, "news", store), store)
        assert folder is not None and read_references(folder) == [expected]
    assert stored_references(spec(plain), "news", ingest(spec(plain), "news", store), store) is None
    assert corpus_address(spec(files), "news") == corpus_address(spec(plain), "news")


def test_each_record_needs_one(files: dict[str, Any], tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    corpus = spec({**files, "references": [str(tmp_path / "short")]})
    with pytest.raises(UserError, match="short has 2 lines, and the test set 3 records"):
        stored_references(corpus, "news", ingest(corpus, "news", store), store)

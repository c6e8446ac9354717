"""Text of one language: lines, a table, the built-in text; what it becomes in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core.config import validate
from augury.core.store import Store
from augury.corpora.corpus import MONOLINGUAL
from augury.corpora.ingest import ingest
from augury.corpora.spec import MonolingualSpec


def spec(language: str = "en", **settings: Any) -> MonolingualSpec:
    return validate(MonolingualSpec, {"language": language, **settings}, "monolingual")


def test_lines_and_tables_of_the_same_text_give_the_same_records(tmp_path: Path) -> None:
    texts = ["A first one.", " ", "a second  one ", "a third one that is long"]
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "a.tsv").write_text("".join(f"{text}\n" for text in ["comment", *texts]))
    limits = {"max_length": 4, "lowercase": True}
    table = {"file": str(tmp_path / "a.tsv"), "columns": {"text": "comment"}}
    for place in ({"lines": str(tmp_path / "a.txt")}, table):
        corpus = ingest(spec(train=place, filter=limits), "train", Store(tmp_path))
        (block,) = corpus.blocks()
        assert block.schema.equals(MONOLINGUAL.schema)
        assert block.column("text").to_pylist() == ["a first one.", "a second  one"]
        assert block.column("id").to_pylist() == ["monolingual-00000001", "monolingual-00000003"]
        assert set(block.column("language").to_pylist()) == {"en"}
        assert sum(corpus.manifest["rejected"].values()) == 2

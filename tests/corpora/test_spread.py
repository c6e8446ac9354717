"""Reading by tasks on Ray: the same bytes as in one process."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora import corpus as corpora
from augury.corpora import ingest as reading
from augury.corpora import readers, spread, tables
from augury.corpora.corpus import Corpus
from augury.corpora.files import line_blocks, line_starts
from augury.corpora.ingest import ingest
from augury.corpora.parallel import CorpusSpec

ROWS = 700


def lines(count: int) -> list[tuple[str, str]]:
    """Return pairs of which some repeat earlier ones, near and far, and some are rejected."""
    drawn, pairs = random.Random(1), list[tuple[str, str]]()
    for number in range(count):
        pair = f"satz {number}\u0301 eins", f"sentence\t{number} one"
        kind = drawn.random()
        if kind < 0.2 and pairs:
            pair = drawn.choice(pairs)
        elif kind < 0.25:
            pair = "", pair[1]
        elif kind < 0.3:
            pair = "wort " * 9, pair[1]
        pairs.append(pair)
    return pairs


def write(directory: Path, layout: str) -> dict[str, Any]:
    """Write a text in two files a side, or as a table; return its settings."""
    pairs = lines(ROWS)
    if layout == "parquet":
        table = pa.table(dict(zip(("de", "en"), map(list, zip(*pairs, strict=True)), strict=True)))
        pq.write_table(table, directory / "text.parquet", row_group_size=64)
        return {
            "file": str(directory / "text.parquet"),
            "source_column": "de",
            "target_column": "en",
        }
    paths: dict[str, list[str]] = {"source": [], "target": []}
    for number, part in enumerate((pairs[:230], pairs[230:])):
        for side, texts in zip(paths, zip(*part, strict=True), strict=True):
            path = directory / f"{number}.{side}"
            content = ("\ufeff" if not number else "") + "\r\n".join(texts)
            path.write_text(content + "\n" * (1 - number), encoding="utf-8", newline="")
            paths[side].append(str(path))
    return paths


def files(corpus: Corpus) -> dict[str, bytes]:
    return {str(path.name): path.read_bytes() for path in Path(corpus.folder.path()).iterdir()}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, parts and shards of a few rows, on the driver."""
    monkeypatch.setattr(readers, "BLOCK_ROWS", 20)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 20)
    for module in (readers, reading):
        monkeypatch.setattr(module, "PART_ROWS", 60)
    for module in (corpora, spread):
        monkeypatch.setattr(module, "SHARD_ROWS", 90)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["lines", "parquet"])
@pytest.mark.parametrize("changes", [{}, {"filter": {"deduplicate": False}}, {"reversed": True}])
def test_tasks_write_what_one_process_does(
    local_ray: Any, small: None, tmp_path: Path, layout: str, changes: dict[str, Any]
) -> None:
    text = write(tmp_path, layout) | {key: changes[key] for key in changes if key == "reversed"}
    filter_ = {"max_length": 8, "deduplicate": True} | changes.get("filter", {})
    spec = CorpusSpec(source_language="de", target_language="en", train=text, filter=filter_)
    made = {
        executor: ingest(
            spec, "train", Store(tmp_path / executor), execution=Execution(executor=executor)
        )
        for executor in ("local", "ray")
    }
    assert files(made["ray"]) == files(made["local"]) and len(made["ray"].shards) > 4
    assert made["ray"].manifest["rejected"].get("duplicate", 0) > 50 or changes.get("filter")


@pytest.mark.slow
def test_the_first_error_of_the_text_is_raised(local_ray: Any, small: None, tmp_path: Path) -> None:
    pairs = [(f"satz {number}", "" if number in (400, 90) else "one") for number in range(ROWS)]
    text: dict[str, Any] = {}
    for side, texts in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
        path = tmp_path / side
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        text[side] = str(path)
    spec = CorpusSpec(source_language="de", target_language="en", tests={"test": text})
    store = Store(tmp_path / "store")
    with pytest.raises(UserError, match="line 91"):
        ingest(spec, "test", store, execution=Execution(executor="ray"))


@pytest.mark.parametrize("size", [1, 7, 64])
def test_parts_of_a_file_have_its_lines(tmp_path: Path, size: int) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(b"x" * (n % 5) + b"\n" for n in range(40)) + b"end")
    starts = line_starts(path, size)
    parts = [
        block.to_pylist()
        for between in zip(starts, starts[1:], strict=False)
        for block in line_blocks(path, size, between)
    ]
    assert parts == [block.to_pylist() for block in line_blocks(path, size)]

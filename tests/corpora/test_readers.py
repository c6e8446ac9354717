"""Texts of every kind are examined first and then read as the same numbered pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest

from augury.core.errors import UserError
from augury.corpora.readers import open_text
from augury.corpora.spec import CorpusSpec
from augury.corpora.tables import LINE
from augury.corpora.text_settings import Role

PAIRS = [("eins", "one"), ("zwei", "two"), ("drei", "three"), ("vier", "four")]
COLUMNS = {"columns": {"source": "de", "target": "en"}}


def read(role: Role = "train", /, **settings: Any) -> pa.Table:
    return pa.concat_tables(open_text(CorpusSpec.TEXT.model_validate(settings), role).blocks())


def pairs(table: pa.Table) -> list[tuple[str, str]]:
    table = table.filter(table.column("selected"))
    return list(
        zip(table.column("source").to_pylist(), table.column("target").to_pylist(), strict=True)
    )


def aligned(directory: Path, source: str, target: str) -> dict[str, str]:
    (directory / "a.de").write_text(source, encoding="utf-8")
    (directory / "a.en").write_text(target, encoding="utf-8")
    return {"source": str(directory / "a.de"), "target": str(directory / "a.en")}


def table(directory: Path) -> str:
    rows = [
        f"{index}\t{'ab'[index % 2]}\t{source}\t{target}\n"
        for index, (source, target) in enumerate(PAIRS)
    ]
    (directory / "a.tsv").write_text("name\tset\tde\ten\n" + "".join(rows))
    return str(directory / "a.tsv")


def test_aligned_files(tmp_path: Path) -> None:
    files = aligned(tmp_path, "eins\nzwei\r\ndrei\nvier", "one\ntwo\nthree\nfour\n")
    table = read(**files)
    assert pairs(table) == PAIRS and table.column("row").to_pylist() == [1, 2, 3, 4]
    assert table.column_names == ["source", "target", LINE, "selected", "row"]


def test_files_that_follow_one_another(tmp_path: Path) -> None:
    parts = []
    for name, source in (("0", "\ufeffeins"), ("1", "\ufeffzwei\n")):
        (tmp_path / name).mkdir()
        parts.append(aligned(tmp_path / name, source, "one" if name == "0" else "two\n"))
    both = {side: [part[side] for part in parts] for side in ("source", "target")}
    assert pairs(read(**both)) == PAIRS[:2]
    with pytest.raises(UserError, match="2 source files and 1 target files: give equal numbers"):
        read(source=both["source"], target=both["target"][0])


def test_sides_that_do_not_fit(tmp_path: Path) -> None:
    segments = '<seg id="1">x</seg>\n'
    for source, target, told in (
        ("x\n" * 1200, "x\n" * 1199, "a.de has 1,200 lines and .*a.en has 1,199"),
        (segments, segments * 2 + "\n", r"a.de has 1 line and .*a.en has 2"),
        ("x\n", "", "a.en is empty"),
    ):
        with pytest.raises(UserError, match=told):
            read(**aligned(tmp_path, source, target))


def test_rows_of_a_table_that_belong_to_the_text(tmp_path: Path) -> None:
    path = table(tmp_path)
    rows = read(file=path, **COLUMNS, where={"set": "b"})
    assert pairs(rows) == [PAIRS[1], PAIRS[3]]
    assert rows.column("selected").to_pylist() == [False, True, False, True]
    assert pairs(read(file=path, **COLUMNS, where={"name": 2})) == [PAIRS[2]]
    assert pairs(read(file=path, **COLUMNS, where={"name": 2, "set": "b"})) == []
    assert pairs(read(file=path, **COLUMNS, missing=["two", "vier"])) == [PAIRS[0], PAIRS[2]]


def test_first_counts_rows_of_the_text(tmp_path: Path) -> None:
    path = table(tmp_path)
    assert pairs(read(file=path, **COLUMNS, first=3)) == PAIRS[:3]
    rows = read(file=path, **COLUMNS, where={"set": "b"}, first=1)
    assert pairs(rows) == [PAIRS[1]] and rows.column("row").to_pylist() == [1, 2]
    assert pairs(read(file=path, **COLUMNS, first=9)) == PAIRS
    (tmp_path / "b.tsv").write_text("de\ten\tset\n" + "x\ty\ta\nx\ty\tb\n" * 15_000)
    long = read(file=str(tmp_path / "b.tsv"), **COLUMNS, where={"set": "b"}, first=12_000)
    assert pairs(long) == [("x", "y")] * 12_000  # of two blocks


NESTED = {"columns": {"source": "translation.de", "target": "translation.en"}}


def test_a_dataset_saved_to_disk(tmp_path: Path) -> None:
    rows = [
        {"id": str(index), "translation": {"de": source, "en": target}}
        for index, (source, target) in enumerate(PAIRS)
    ]
    dataset = datasets.Dataset.from_list(rows)
    splits = datasets.DatasetDict({"train": dataset, "validation": dataset.select([1])})
    splits.save_to_disk(str(tmp_path / "hub"))
    dataset.save_to_disk(str(tmp_path / "single"))
    saved = str(tmp_path / "hub")
    assert pairs(read(hub=saved, **NESTED)) == PAIRS
    assert pairs(read("valid", hub=saved, **NESTED)) == [PAIRS[1]]
    assert pairs(read("valid", hub=saved, **NESTED, split="train", where={"id": 2})) == [PAIRS[2]]
    assert pairs(read(hub=str(tmp_path / "single"), **NESTED)) == PAIRS


def test_portions_share_no_row_and_leave_none_out(tmp_path: Path) -> None:
    files = aligned(
        tmp_path, *("".join(f"{side} {n}\n" for n in range(400)) for side in ("s", "t"))
    )
    parts = [pairs(read(**files, portion=part)) for part in ((0, 0.4), (0.4, 0.6), (0.6, 1))]
    assert sorted(sum(parts, [])) == sorted((f"s {n}", f"t {n}") for n in range(400))
    assert 120 < len(parts[0]) < 200
    assert [row for row, _ in parts[1][:3]] == ["s 5", "s 6", "s 10"]  # golden
    # Equal pairs are in one portion, that of the first, in either direction.
    files = aligned(
        tmp_path, *("".join(f"{side} {n % 50}\n" for n in range(400)) for side in ("s", "t"))
    )
    ways = [files, {"source": files["target"], "target": files["source"], "reversed": True}]
    for way in ways:
        parts = [set(pairs(read(**way, portion=part))) for part in ((0, 0.4), (0.4, 1))]
        assert len(parts[0] | parts[1]) == 50 and not parts[0] & parts[1] and len(parts[0]) > 9
        assert ("s 5", "t 5") in parts[1]  # as without the repeats

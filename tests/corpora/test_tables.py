"""Tables: every format gives back what was written, and every fault is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.corpora.tables import column_names, examine_parquet, read_table

ROWS = [
    {"set": "a", "de": 'Sie sagte: "Ja, gern".', "en": "She said: 'Yes'."},
    {"set": "b", "de": "größer \u2028 \x85", "en": ""},
    {"set": "a", "de": '"offen', "en": "open\x0bline"},
]


def write(directory: Path, layout: str, rows: list[dict[str, str]], header: bool = True) -> str:
    path = directory / f"table.{layout}"
    names = list(rows[0])
    if layout == "tsv":
        body = [names] * header + [list(row.values()) for row in rows]
        path.write_bytes("".join("\t".join(fields) + "\n" for fields in body).encode())
    elif layout == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([names] * header + [list(row.values()) for row in rows])
    elif layout == "jsonl":
        path.write_bytes(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        )
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def read(path: str, columns: list[str], header: list[str] | None = None) -> list[dict[str, str]]:
    return (
        pa.concat_tables(read_table(path, Path(path).suffix[1:], columns, header))
        .select(columns)
        .to_pylist()
    )


@pytest.mark.parametrize("layout", ["tsv", "csv"])
def test_a_file_without_a_header_line(tmp_path: Path, layout: str) -> None:
    for header in (False, True):  # a first line that repeats the header is no row
        path = write(tmp_path, layout, ROWS, header)
        assert read(path, ["de"], ["set", "de", "en"]) == [{"de": row["de"]} for row in ROWS]


def test_first_rows_that_begin_with_the_mark_of_comments_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('#love this,pos\n#hate this,neg\n"good, very good",pos\nbad,neg\n')
    texts = [row["text"] for row in read(str(path), ["text"], ["text", "label"])]
    assert texts == ["#love this", "#hate this", "good, very good", "bad"]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8),
    layout=st.sampled_from(["csv", "jsonl", "parquet"]),
)
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], layout: str
) -> None:
    table = [{"de": source, "en": target} for source, target in rows]
    written = read(write(tmp_path_factory.mktemp("table"), layout, table), ["de", "en"])
    if layout == "csv":  # spaces after a comma are no text
        table, written = (
            [{name: text.lstrip(" ") for name, text in row.items()} for row in rows]
            for rows in (table, written)
        )
    assert written == table


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
def test_fields_within_columns_and_missing_values(tmp_path: Path, layout: str) -> None:
    rows = [{"nested": {"de": "eins", "en": "one"}}, {"nested": {"de": None, "en": "two"}}]
    path = write(tmp_path, layout, rows)  # type: ignore[arg-type]
    assert [tuple(row.values()) for row in read(path, ["nested.de", "nested.en"])] == [
        ("eins", "one"),
        ("", "two"),
    ]
    with pytest.raises(UserError, match="'(nested.)?fr': .*de"):
        read(path, ["nested.fr"])
    assert column_names(path, layout) == ["nested.de", "nested.en"]


@pytest.mark.parametrize("layout", ["tsv", "csv", "jsonl", "parquet"])
def test_names_of_columns(tmp_path: Path, layout: str) -> None:
    """Also one with a dot, and beside a field larger than the limit of the module csv."""
    row = {"text.de": "wort " * 100_000, "en": ""}
    path = write(tmp_path, layout, [row])
    assert read(path, ["text.de", "en"]) == [row]
    with pytest.raises(UserError, match="no column 'text'|'text.d'.*'text.de'"):
        read(path, ["text.d"])
    if layout in ("jsonl", "parquet"):
        with pytest.raises(UserError, match="header is for tsv and csv only"):
            read(path, ["en"], ["en"])


def test_a_directory_of_parquet_files(tmp_path: Path) -> None:
    for index, word in enumerate(["eins", "zwei"]):
        pq.write_table(pa.table({"de": [word] * 3}), tmp_path / f"{index}.parquet")
    table = pa.concat_tables(read_table(str(tmp_path), "parquet", ["de"]))
    assert table.column("de").to_pylist() == ["eins"] * 3 + ["zwei"] * 3
    assert [file.lines for file in examine_parquet(str(tmp_path))] == [3, 3]
    (tmp_path / "0.parquet").rename(tmp_path / "train-00000-of-00001.parquet")
    (tmp_path / "test").mkdir()
    (tmp_path / "1.parquet").rename(tmp_path / "test" / "train-like.parquet")
    with pytest.raises(UserError, match="has files of test and train: give a"):
        examine_parquet(str(tmp_path))
    assert [file.lines for file in examine_parquet(str(tmp_path / "test"))] == [3]


def test_faults_of_parquet(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no files \*\.parquet"):
        examine_parquet(str(tmp_path))
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 is not enough")
    with pytest.raises(UserError, match="table.parquet cannot be read as Parquet"):
        examine_parquet(str(path))
    pq.write_table(pa.table({"de": pa.array([], pa.string())}), path)
    with pytest.raises(UserError, match="is empty: give a table with one record per row"):
        examine_parquet(str(path))
    pq.write_table(pa.table({"de": [["eins"]]}), path)
    with pytest.raises(UserError, match="holds lists: write one value a row"):
        list(read_table(str(path), "parquet", ["de"]))


def test_blocks_are_cut_and_faults_beyond_the_first_block_are_located(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("a\tb\n" + "1\t2\n" * 45_000)
    assert [len(block) for block in read_table(str(path), "tsv", ["a"])] == [20_000, 20_000, 5_000]
    path.write_text("a\tb\n" + "1\t2\n" * 45_000 + "3\n")
    with pytest.raises(UserError, match="line 45002 has 1 column,"):
        list(read_table(str(path), "tsv", ["a"]))


def test_an_empty_line_of_csv_with_one_column_is_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("de\na\n\nb\n")
    assert [row["de"] for row in read(str(path), ["de"])] == ["a", "", "b"]

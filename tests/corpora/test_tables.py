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
from augury.corpora.tables import examine_parquet, read_table

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
    return pa.concat_tables(read_table(path, Path(path).suffix[1:], columns, header)).to_pylist()


@pytest.mark.parametrize("layout", ["tsv", "csv", "jsonl", "parquet"])
def test_round_trip(tmp_path: Path, layout: str) -> None:
    path = write(tmp_path, layout, ROWS)
    assert read(path, ["en", "de"]) == [{"en": row["en"], "de": row["de"]} for row in ROWS]


@pytest.mark.parametrize("layout", ["tsv", "csv"])
def test_a_file_without_a_header_line(tmp_path: Path, layout: str) -> None:
    for header in (False, True):  # a first line that repeats the header is no row
        path = write(tmp_path, layout, ROWS, header)
        assert read(path, ["de"], ["set", "de", "en"]) == [{"de": row["de"]} for row in ROWS]


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
def test_header_is_for_tsv_and_csv(tmp_path: Path, layout: str) -> None:
    with pytest.raises(
        UserError, match=f"header is for tsv and csv only, since columns of {layout} have names"
    ):
        read(write(tmp_path, layout, ROWS), ["de"], ["set", "de", "en"])


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
    rows = [
        {"translation": {"de": "eins", "en": "one"}},
        {"translation": {"de": None, "en": "two"}},
    ]
    table = write(tmp_path, layout, rows)  # type: ignore[arg-type]
    assert read(table, ["translation.de", "translation.en"]) == [
        {"translation.de": "eins", "translation.en": "one"},
        {"translation.de": "", "translation.en": "two"},
    ]


def test_a_dot_in_the_name_of_a_column(tmp_path: Path) -> None:
    for layout in ("tsv", "csv", "jsonl", "parquet"):
        assert read(write(tmp_path, layout, [{"text.de": "eins"}]), ["text.de"]) == [
            {"text.de": "eins"}
        ]


@pytest.mark.parametrize("layout", ["tsv", "csv", "jsonl", "parquet"])
def test_a_column_that_does_not_exist(tmp_path: Path, layout: str) -> None:
    rows = [{"german": "eins", "english": "one"}]
    with pytest.raises(
        UserError,
        match=r"has no column 'germn': did you mean 'german'\? Its columns are german, english",
    ):
        read(write(tmp_path, layout, rows), ["germn", "english"])


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
def test_a_field_that_does_not_exist(tmp_path: Path, layout: str) -> None:
    rows = [{"translation": {"de": "eins", "en": "one"}}]
    with pytest.raises(UserError, match="has no column '(translation.)?fr': .*de"):
        read(write(tmp_path, layout, rows), ["translation.fr"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n1\t2\n3\n", "line 3 has 1 column, but the header has 2"),
        ("a\tb\n1\t2\t3\n", "line 2 has 3 columns, but the header has 2"),
        ("a\tb\n1\t2\n\n", "line 3 has 1 column, but the header has 2"),
    ],
)
def test_uneven_lines_of_tsv(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read(str(path), ["a", "b"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,b\n"1\n1",2\n3\n', "line 4 has 1 column, but the header has 2"),
        ('a,b\n"1"x,2\n', "line 2: not CSV according to RFC 4180"),
        ('a,b\n1,"2\n', "line 2: not CSV according to RFC 4180"),
    ],
)
def test_faults_of_csv(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read(str(path), ["a", "b"])


def test_a_field_larger_than_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    rows = [{"de": "wort " * 100_000, "en": "word"}]
    assert read(write(tmp_path, "csv", rows), ["de", "en"]) == rows


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not valid JSON"),
        ('["x"]', r"line 2: no column 'de' in \[\"x\"\]"),
        ('{"en": "x"}', "line 2 has no column 'de'"),
        ('{"de": ["x"]}', r"line 2: 'de' is \[\"x\"\], not text"),
        ('{"de": "bad \\ud800 here"}', "line 2: column 'de' has half a character"),
    ],
)
def test_faults_of_json_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"de": "eins"}\n' + line + "\n")
    with pytest.raises(UserError, match=message):
        read(str(path), ["de"])


def test_a_directory_of_parquet_files(tmp_path: Path) -> None:
    for index, word in enumerate(["eins", "zwei"]):
        pq.write_table(pa.table({"de": [word] * 3}), tmp_path / f"{index}.parquet")
    table = pa.concat_tables(read_table(str(tmp_path), "parquet", ["de"]))
    assert table.column("de").to_pylist() == ["eins"] * 3 + ["zwei"] * 3
    assert [(Path(file.path).name, file.lines) for file in examine_parquet(str(tmp_path))] == [
        ("0.parquet", 3),
        ("1.parquet", 3),
    ]


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
    with pytest.raises(UserError, match="no column 'de'|holds list<.*>, not text"):
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

"""A paper's table at a scale: what its file prints, the definitions of a module, errors in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.reporting.papers.table import Mark, Note, find, read_blocks
from augury.sweeping import declarations
from tests.reporting.papers.conftest import END, FILE


def test_what_a_file_prints(paper: Any) -> None:
    paper.of_file()
    table = find(str(paper.path))
    first, second, third = table.printed.values()
    assert list(table.printed) == ["plain", "+A", "+A, mixed"]
    assert (third.cells["row"], third.cells["name"]) == ("3", "+A")
    assert (first.values, first.texts) == ({"mean": 69.1}, {"mean": "69.1"})
    assert second.values == {"mean": 79, "qab": 80, "p": 50}
    assert second.texts == {"mean": "79.0", "qab": "80.0", "p": "50%"}
    assert third.values == {"qab": 36_000}
    assert [row.borrowed for row in table.printed.values()] == [(), ("mean",), ()]
    assert table.notes == (
        Note("+A", "score", "literature", "of another paper"),
        Note("plain", "score", "text differs", "Section 3 has 70"),
        Note("+A, mixed", "qab", "correction", "'36' is read as '36k': a letter is lost"),
        Note("+A, mixed", "", "average", "of two"),
        Note("", "p", "added", "not printed"),
    )
    assert table.marks == {"+A": Mark("†", "+B", "0.001")}
    assert table.deviations == ("two toy languages", "little text", "three rows")
    assert find(str(paper.path), "paper").deviations == ("little text",)
    assert table.rows == ["plain", "+A", "+A, mixed", "+A again", "+B"]
    assert table.reasons == {"+A, mixed": "of others"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\tMixed", "\n3\tMixed", "a block starts with '3\tMixed"),
        ("\t+A, mixed\t", "\t\t", "table7: two rows are called '\\+A'"),
        ("table7\t3\tall", "table7\t3", "notes, line 4 has 6 cells, but the header has 7"),
        ("\t50%\t", "\tn/a\t", "table7, row 2, column p: 'n/a' is not a number"),
        ("\tqab\tp\tmarks", "\tqab\tq\tmarks", "unknown column of table7 'p'"),
        ("table7\t3\tall", "table7\t4\tall", "unknown row in the notes .* '4': allowed: .* 2, 3"),
        ("table7\nrow", "table8\nrow", "unknown table of the paper's file 'table7'"),
    ],
)
def test_errors_about_a_file(paper: Any, old: str, new: str, message: str) -> None:
    assert old in FILE
    paper.of_file(FILE.replace(old, new))
    with pytest.raises(UserError, match=message):
        find(str(paper.path))


def test_a_file_of_the_user(paper: Any) -> None:
    table, of_paper = find(str(paper.path)), find(str(paper.path), "paper")
    assert (table.space.scale, table.comparable, of_paper.comparable) == ("toy", False, True)
    assert table.rows == ["plain", "+A", "+A again", "+B", "oracle", "gain"]
    assert [table.values(row) for row in ("+A", "+B")] == [{"mean": 79.0, "qab": 80.0}, {}]
    assert table.reasons["oracle"] == "reads the labels"
    assert (table.deviations, of_paper.deviations) == (("two toy languages",), ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oracle": {', '"orakel": {', "published values for 'orakel', which is not in rows"),
        ('("+A", "plain")', '("+a", "plain")', "row that 'gain' of .* '\\+a': did you mean '\\+A'"),
        (END, f'    rescored={{"fixed": ("+a", "chrf")}},\n{END}', "row that 'fixed' of .* '\\+a'"),
        (END, f'    reference={{"augment": []}},\n{END}', "reference must be one of its rows"),
        ("TABLES", "SPACE", "does not define TABLES: .* TABLES = .*PaperTable"),
    ],
)
def test_errors_about_a_table(paper: Any, old: str, new: str, message: str) -> None:
    source = paper.path.read_text()
    assert old in source
    paper.path.write_text(source.replace(old, new))
    with pytest.raises(UserError, match=message):
        find(str(paper.path))


@pytest.mark.parametrize("name", declarations.tables())
def test_shipped_tables_are_whole_and_their_rows_are_experiments(name: str, tmp_path: Path) -> None:
    scales = declarations.load_table(name).scales
    assert {"toy", "small", "paper"} <= scales.keys()
    for scale in scales:
        table = find(name, scale)
        assert table.space.question.endswith("?") and table.deviations
        assert table.space.seeds == tuple(range(1, len(table.space.seeds) + 1))
        assert {*table.declared.literature, *table.marks} <= {*table.rows}
        printed = [row.values.get("mean", 1.0) for row in table.printed.values()]
        assert all(0 < value <= 100 for value in printed)
        parsed = {
            parse({**merge(table.space.base, changes), "storage": str(tmp_path)}).model_dump_json()
            for changes in table.space.rows.values()
        }
        duplicates = name == "cipherdaug/table12"  # both of whose bases are the baseline
        assert len(parsed) == len(table.space.rows) - duplicates


@pytest.mark.parametrize("paper", ["cipherdaug", "noisy_nmt", "xnli_adversarial"])
def test_files_name_tables_and_scales_that_there_are(paper: str) -> None:
    names = [name for name in declarations.tables() if name.startswith(f"{paper}/")]
    tables = {name.partition("/")[2]: declarations.load_table(name) for name in names}
    (file,) = {table.published for table in tables.values()}
    assert isinstance(file, Path)
    blocks = read_blocks(file)
    assert len(blocks["in_text"]) >= 47
    assert {line["table"] for line in blocks["notes"]} <= {*blocks}
    for line in blocks["deviations"]:
        named = [tables[name] for name in line["tables"].split()] or [*tables.values()]
        for scale in line["scales"].split():
            assert any(scale in table.scales for table in named)

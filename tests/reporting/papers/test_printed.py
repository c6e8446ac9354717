"""Reading the printed tables of a paper from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.sweeping.printed import Note, deviations, read

FILE = """# A paper.

table1
row	section	name	label	D	De→En	avg	marks	bold
1	Baseline	None		1x	34.64	-		
2	Mixed	None	None, mixed	2x	36.19	36	De→En=*;name=†	De→En;avg
3	Mixed	+FM		3x		35.5		

table2
row	name	value
1	A	nearly 2

notes
table	row	column	as_read	written	kind	why
table1	1	De→En	34.6	34.64	correction	a digit is lost
table1	2	all	36	36	text differs	Section 3 gives 37
table1	header	D			added	not printed
table2	all				inferred	from the figure
"""
COLUMNS = {"De→En": "test", "avg": "mean"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "published.tsv"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_rows_have_names_sections_cells_values_and_marks(file: Path) -> None:
    first, second, third = read(file, "table1", COLUMNS).rows.values()
    assert (first.number, first.label, first.section) == (1, "None", "Baseline")
    assert (first.values, first.texts) == ({"test": 34.64}, {"test": "34.64"})
    assert (second.label, second.name) == ("None, mixed", "None")
    assert second.values == {"test": 36.19, "mean": 36.0}
    assert second.cells == {"D": "2x", "De→En": "36.19", "avg": "36"}
    assert (second.marks, second.bold) == ({"De→En": "*", "name": "†"}, ("De→En", "avg"))
    assert (third.values, third.texts) == ({"mean": 35.5}, {"mean": "35.5"})


def test_values_of_other_papers_are_marked_by_notes(file: Path) -> None:
    text = FILE.replace("all\t36\t36\ttext differs", "avg\t\t\tliterature")
    file.write_text(text, encoding="utf-8")
    rows = read(file, "table1", COLUMNS).rows.values()
    assert [row.borrowed for row in rows] == [set(), {"mean"}, set()]
    assert [row.to_dict()["borrowed"] for row in rows] == [[], ["mean"], []]
    assert list(rows)[1].values == {"test": 36.19, "mean": 36.0}


def test_notes_are_on_a_row_or_on_the_table(file: Path) -> None:
    assert read(file, "table1", COLUMNS).notes == (
        Note("None", "De→En", "correction", "'34.6' is read as '34.64': a digit is lost"),
        Note("None, mixed", "", "text differs", "Section 3 gives 37"),
        Note("", "D", "added", "not printed"),
    )
    assert [str(note) for note in read(file, "table2", {}).notes] == ["from the figure"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\n\ntable2", "\n\ntabel2", "unknown table in the notes .* 'table2': did you mean"),
        ("3\tMixed", "\n3\tMixed", "a block starts with '3\tMixed"),
        ("\tNone, mixed\t", "\t\t", "table1: two rows are called 'None'"),
        ("1\tA\tnearly 2", "1\tA", "table2, line 1 has 2 cells, but the header has 3"),
        ("\t35.5\t", "\tn/a\t", "table1, row 3, column avg: 'n/a' is not a number"),
        ("table1\t2\tall", "table1\t4\tall", "unknown row in the notes .* '4': allowed: 1, 2, 3"),
    ],
)
def test_errors_about_a_file(file: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    file.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read(file, "table1", COLUMNS)


DEVIATIONS = """# What is not as in the paper.
scales	tables	deviation
toy small		little text
toy	table2 table3	three rows
paper	table3	another seed
"""


def test_deviations_are_those_of_all_tables_and_of_one(tmp_path: Path) -> None:
    path = tmp_path / "deviations.tsv"
    path.write_text(DEVIATIONS, encoding="utf-8")
    assert deviations(path, "table1") == {"toy": ("little text",), "small": ("little text",)}
    assert deviations(path, "table3") == {
        "toy": ("little text", "three rows"),
        "small": ("little text",),
        "paper": ("another seed",),
    }
    path.write_text(DEVIATIONS.replace("toy small\t\t", "toy small\t"), encoding="utf-8")
    with pytest.raises(UserError, match="line 1 has 2 cells, but the header has 3"):
        deviations(path, "table1")

"""A paper's table at a scale: what its file prints, the definitions of a module, errors in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.reporting.papers.table import Printed, find
from augury.sweeping import declarations
from tests.reporting.papers.conftest import FILE


def test_what_a_file_prints(paper: Any) -> None:
    paper.of_file()
    table = find(str(paper.path))
    assert table.printed == {
        "plain": {"mean": Printed(69.1, "69.1")},
        "+A": {
            "mean": Printed(79.0, "79.0", True),
            "qab": Printed(80.0, "80.0"),
            "p": Printed(50.0, "50%"),
        },
        "+A, mixed": {"qab": Printed(36_000, "36k")},
    }
    assert table.remarks == (
        "Table 7, +A, score: of another paper",
        "Table 7, plain, score: Section 3 has 70",
        "Table 7, +A, mixed, qab: '36' is read as '36k': a letter is lost",
        "Table 7, +A, mixed: of two",
        "Table 7, p: not printed",
    )
    mark = table.marks["+A"]
    assert (mark["mark"], mark["against"], mark["p"]) == ("†", "+B", "0.001")
    assert list(table.marks) == ["+A"]
    assert table.deviations == ("two toy languages", "little text", "three rows")
    assert find(str(paper.path), "paper").deviations == ("little text",)
    assert table.rows == ["plain", "+A", "+A, mixed", "+A again", "+B"]
    assert table.reasons == {"+A, mixed": "of others"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t+A, mixed\t", "\t\t", "table7: two rows are called '\\+A'"),
        ("table7\t3\tall", "table7\t3", "notes, line 4 has 6 cells, but the header has 7"),
        ("\t50%\t", "\tn/a\t", "table7, row 2, column p: 'n/a' is not a number"),
        ("\tqab\tp\tmarks", "\tqab\tq\tmarks", "unknown column of table7 'p'"),
    ],
)
def test_errors_about_a_file(paper: Any, old: str, new: str, message: str) -> None:
    paper.of_file(FILE.replace(old, new))
    with pytest.raises(UserError, match=message):
        find(str(paper.path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oracle": {', '"orakel": {', "published values for 'orakel', which is not in rows"),
        ('("+A", "plain")', '("+a", "plain")', "row that 'gain' of .* '\\+a': did you mean '\\+A'"),
        ("TABLES", "SPACE", "does not define TABLES: .* TABLES = .*PaperTable"),
    ],
)
def test_errors_about_a_table(paper: Any, old: str, new: str, message: str) -> None:
    paper.path.write_text(paper.path.read_text().replace(old, new))
    with pytest.raises(UserError, match=message):
        find(str(paper.path))


@pytest.mark.parametrize("name", declarations.TABLES.names())
def test_shipped_tables_are_whole_and_their_rows_are_experiments(name: str, tmp_path: Path) -> None:
    scales = declarations.load_table(name).scales
    assert {"toy", "small", "paper"} <= scales.keys()
    for scale in scales:
        table = find(name, scale)
        assert table.space.question.endswith("?") and table.deviations
        assert table.space.seeds == tuple(range(1, len(table.space.seeds) + 1))
        assert {*table.marks} <= {*table.rows}
        means = [row["mean"].published for row in table.printed.values() if "mean" in row]
        assert all(0 < value <= 100 for value in means)
        parsed = {
            parse({**merge(table.space.base, changes), "storage": str(tmp_path)}).model_dump_json()
            for changes in table.space.rows.values()
        }
        duplicates = name == "cipherdaug/table12"  # both of whose bases are the baseline
        assert len(parsed) == len(table.space.rows) - duplicates

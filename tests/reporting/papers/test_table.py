"""A paper's table at a scale: what its file prints, the definitions of a module, errors in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.reporting.papers.table import Mark, Note, find, read_blocks
from augury.sweeping import declarations

FILE = """# A paper.

table1
row	section	name	label	D	De→En	avg	marks	bold
1	Baseline	None		1x	34.64	-		
2	Mixed	None	None, mixed	2x	36.19	36k	De→En=*;name=†	De→En;avg
3	Mixed	+FM		3x		94%		

marks
table	mark	against	p
table1	*	None	0.05

notes
table	row	column	as_read	written	kind	why
table1	1	De→En	34.6	34.64	correction	a digit is lost
table1	2	all	36	36	text differs	Section 3 gives 37
table1	2	avg			literature	of others
table1	header	D			added	not printed

deviations
scales	tables	deviation
toy paper		little text
toy	table1 table3	three rows
paper	table3	another seed
"""
OWN = """
from pathlib import Path
from augury.sweeping.declarations import PaperTable

TABLES = {"table1": PaperTable(
    paper="Nobody (1999)",
    where="Table 1",
    question="Does it help?",
    base={"name": "x", "task": "nmt"},
    scales={"toy": {}, "paper": {}},
    rows={"strong": {"regime.beta": 5}, "plain": {}},
    metric="valid/bleu",
    mode="max",
    seeds=(1, 2),
    published={
        "plain": {"mean": 30.0, "fr": None}, "oracle": {"mean": 99.0}, "gain": {"mean": 5.1}
    },
    tolerance=0.5,
    deviations={"toy": ["little text"]},
    improvements={"gain": ("strong", "plain")},
    rescored={"stronger": ("strong", "chrf")},
    unavailable={"oracle": "reads the references"},
)}
"""


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "table1.py"
    path.write_text(text)
    return str(path)


def of_file(tmp_path: Path, content: str) -> str:
    """The table with what a file prints in place of values."""
    (tmp_path / "paper.tsv").write_text(content, encoding="utf-8")
    values = OWN[OWN.index("    published={") : OWN.index("    tolerance")]
    columns = '{"De→En": "mean", "avg": "pairs made"}'
    text = OWN.replace(values, f'    published=Path("{tmp_path}/paper.tsv"), columns={columns},\n')
    reasons = '{"oracle": "reads the references"}'
    text = text.replace(reasons, '"of others"').replace('{"gain": ("strong", "plain")}', "{}")
    return write(tmp_path, text.replace('rescored={"stronger": ("strong", "chrf")}', "rescored={}"))


def test_what_a_file_prints(tmp_path: Path) -> None:
    table = find(of_file(tmp_path, FILE))
    first, second, third = table.printed.values()
    assert list(table.printed) == ["None", "None, mixed", "+FM"] and second.name == "None"
    assert (first.number, first.section) == (1, "Baseline")
    assert (first.values, first.texts) == ({"mean": 34.64}, {"mean": "34.64"})
    assert second.values == {"mean": 36.19, "pairs made": 36_000}
    assert second.cells == {"D": "2x", "De→En": "36.19", "avg": "36k"}
    assert (second.marks, second.bold) == ({"De→En": "*", "name": "†"}, ("De→En", "avg"))
    assert third.values == {"pairs made": 94}
    assert [row.borrowed for row in table.printed.values()] == [(), ("pairs made",), ()]
    assert table.notes == (
        Note("None", "De→En", "correction", "'34.6' is read as '34.64': a digit is lost"),
        Note("None, mixed", "", "text differs", "Section 3 gives 37"),
        Note("None, mixed", "avg", "literature", "of others"),
        Note("", "D", "added", "not printed"),
    )
    assert table.marks == {"None, mixed": Mark("*", "None", "0.05")}
    assert table.deviations == ("little text", "little text", "three rows")
    assert table.rows == ["None", "None, mixed", "+FM", "strong", "plain"]
    assert table.unavailable == dict.fromkeys(["None", "None, mixed", "+FM"], "of others")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\tMixed", "\n3\tMixed", "a block starts with '3\tMixed"),
        ("\tNone, mixed\t", "\t\t", "table1: two rows are called 'None'"),
        ("table1\t2\tall", "table1\t2", "notes, line 2 has 6 cells, but the header has 7"),
        ("\t94%\t", "\tn/a\t", "table1, row 3, column avg: 'n/a' is not a number"),
        ("\tavg\tmarks", "\tmean\tmarks", "unknown column of table1 'avg'"),
        ("table1\t2\tall", "table1\t4\tall", "unknown row in the notes .* '4': allowed: .* 2, 3"),
    ],
)
def test_errors_about_a_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    with pytest.raises(UserError, match=message):
        find(of_file(tmp_path, FILE.replace(old, new)))


def test_a_file_of_the_user(tmp_path: Path) -> None:
    table = find(write(tmp_path, OWN))
    assert (table.space.scale, table.comparable) == ("toy", False)
    assert table.rows == ["plain", "oracle", "gain", "strong"]  # printed order first
    values = [table.values(row) for row in table.rows]
    assert values == [{"mean": 30.0}, {"mean": 99.0}, {"mean": 5.1}, {}]
    assert table.reason("oracle") == "reads the references"
    of_paper = find(write(tmp_path, OWN), "paper")
    assert (table.deviations, of_paper.deviations) == (("little text",), ())
    assert of_paper.comparable


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oracle": {', '"orakel": {', "published values for 'orakel', which is not in rows"),
        ('("strong", "plain"', '("strnog", "plain"', "row that 'gain' of .* mean 'strong'"),
        ('("strong", "chrf"', '("strnog", "chrf"', "row that 'stronger' of .* mean 'strong'"),
        ('rows={"strong": {"regime.beta": 5}, "plain": {}}', 'keys={"a": [1]}', "one of its rows"),
        ("TABLES", "SPACE", "does not define TABLES: .* TABLES = .*PaperTable"),
    ],
)
def test_errors_about_a_table(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in OWN
    with pytest.raises(UserError, match=message):
        find(write(tmp_path, OWN.replace(old, new)))


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


@pytest.mark.parametrize(
    ("paper", "sizes", "stated"),
    [
        ("cipherdaug", 6, ("patience", "15 validation steps")),
        ("noisy_nmt", 11, ("fuzzy match, new pairs, En→Fr", "7290")),
        ("xnli_adversarial", 4, ("PGD steps K", "3")),
    ],
)
def test_files_have_numbers_in_the_text_and_name_tables_and_scales_that_there_are(
    paper: str, sizes: int, stated: tuple[str, str]
) -> None:
    names = [name for name in declarations.tables() if name.startswith(f"{paper}/")]
    tables = {name.partition("/")[2]: declarations.load_table(name) for name in names}
    (file,) = {table.published for table in tables.values()}
    assert isinstance(file, Path)
    blocks = read_blocks(file)
    in_text = {line["name"]: line["value"] for line in blocks["in_text"]}
    assert in_text[stated[0]] == stated[1] and len(in_text) >= 47
    assert len(blocks["table1"]) == sizes and {line["table"] for line in blocks["notes"]} <= {
        *blocks
    }
    for line in blocks["deviations"]:
        named = [tables[name] for name in line["tables"].split()] or [*tables.values()]
        for scale in line["scales"].split():
            assert any(scale in table.scales for table in named)

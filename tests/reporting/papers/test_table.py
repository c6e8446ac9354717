"""A paper's table at a scale: what its file prints, the definitions of a module, errors in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.reporting.papers.table import Mark, Note, find, read, read_blocks
from augury.sweeping import declarations

FILE = """# A paper.

table1
row	section	name	label	D	De→En	avg	marks	bold
1	Baseline	None		1x	34.64	-		
2	Mixed	None	None, mixed	2x	36.19	36k	De→En=*;name=†	De→En;avg
3	Mixed	+FM		3x		94%		

in_text
row	name	value
1	pairs	7154

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


def test_what_a_file_prints(tmp_path: Path) -> None:
    file = tmp_path / "paper.tsv"
    file.write_text(FILE, encoding="utf-8")
    columns = {"De→En": "mean", "avg": "pairs made"}
    rows, notes = read(read_blocks(file), "table1", columns, {"+FM": {"fuzzy pairs": "pairs"}})
    first, second, third = rows.values()
    assert list(rows) == ["None", "None, mixed", "+FM"] and second.name == "None"
    assert (first.number, first.section) == (1, "Baseline")
    assert (first.values, first.texts) == ({"mean": 34.64}, {"mean": "34.64"})
    assert second.values == {"mean": 36.19, "pairs made": 36_000}
    assert second.cells == {"D": "2x", "De→En": "36.19", "avg": "36k"}
    assert (second.marks, second.bold) == ({"De→En": "*", "name": "†"}, ("De→En", "avg"))
    assert third.values == {"pairs made": 94, "fuzzy pairs": 7154}
    assert [row.borrowed for row in rows.values()] == [set(), {"pairs made"}, set()]
    assert notes == [
        Note("None", "De→En", "correction", "'34.6' is read as '34.64': a digit is lost"),
        Note("None, mixed", "", "text differs", "Section 3 gives 37"),
        Note("None, mixed", "avg", "literature", "of others"),
        Note("", "D", "added", "not printed"),
    ]


def test_a_table_has_the_marks_and_deviations_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "paper.tsv").write_text(FILE, encoding="utf-8")
    printed = OWN[OWN.index("    published={") : OWN.index("    tolerance")]
    of_file = f'    published=Path("{tmp_path}/paper.tsv"), columns={{"De→En": "mean"}},\n'
    text = OWN.replace(printed, of_file).replace('{"toy": ["little text"]}', "None")
    text = text.replace("deviations=None", f'deviations=Path("{tmp_path}/paper.tsv")')
    text = text.replace('unavailable={"oracle": "reads the references"}', 'unavailable="of others"')
    table = find(write(tmp_path, text))
    assert table.marks == {"None, mixed": Mark("*", "None", "0.05")}
    assert table.deviations == ("little text", "three rows")
    assert table.rows == ["None", "None, mixed", "+FM", "strong", "plain"]
    assert table.unavailable == dict.fromkeys(["None", "None, mixed", "+FM"], "of others")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\tMixed", "\n3\tMixed", "a block starts with '3\tMixed"),
        ("\tNone, mixed\t", "\t\t", "table1: two rows are called 'None'"),
        ("1\tpairs\t7154", "1\tpairs", "in_text, line 1 has 2 cells, but the header has 3"),
        ("\t94%\t", "\tn/a\t", "table1, row 3, column avg: 'n/a' is not a number"),
        ("table1\t2\tall", "table1\t4\tall", "unknown row in the notes .* '4': allowed: .* 2, 3"),
    ],
)
def test_errors_about_a_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    file = tmp_path / "paper.tsv"
    file.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read(read_blocks(file), "table1", {"De→En": "test", "avg": "avg"})


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
        ('("strong", "plain"', '("strnog", "plain"', "row in the improvements .* mean 'strong'"),
        ('("strong", "chrf"', '("strnog", "chrf"', "row in the rescored rows .* mean 'strong'"),
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


@pytest.mark.parametrize("paper", ["cipherdaug", "noisy_nmt", "xnli_adversarial"])
def test_files_name_tables_and_scales_that_there_are(paper: str) -> None:
    names = [name for name in declarations.tables() if name.startswith(f"{paper}/")]
    tables = {name.partition("/")[2]: declarations.load_table(name) for name in names}
    (file,) = {table.published for table in tables.values()}
    assert isinstance(file, Path)
    blocks = read_blocks(file)
    assert {line["table"] for line in blocks["notes"]} <= {*blocks}
    for line in blocks["deviations"]:
        named = [tables[name] for name in line["tables"].split()] or [*tables.values()]
        for scale in line["scales"].split():
            assert any(scale in table.scales for table in named)

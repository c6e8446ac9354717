"""Tables of papers: the definitions of a module, errors about them, and the shipped tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.sweeping import declarations, published

MINIMAL = """
from augury.sweeping.declarations import PaperTable

TABLE = PaperTable(
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
)
"""


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "table1.py"
    path.write_text(text)
    return str(path)


def test_a_file_of_the_user(tmp_path: Path) -> None:
    table = published.find(write(tmp_path, MINIMAL))
    assert (table.space.scale, table.comparable) == ("toy", False)
    assert table.deviations == ("little text",)
    assert table.rows == ["plain", "oracle", "gain", "strong"]  # printed order first
    values = [table.values(row) for row in table.rows]
    assert values == [{"mean": 30.0}, {"mean": 99.0}, {"mean": 5.1}, {}]
    assert table.reason("oracle") == "reads the references"
    assert "relative improvement of 'strong' over 'plain' in per cent" in table.reason("gain")
    paper_scale = published.find(write(tmp_path, MINIMAL), "paper")
    assert (paper_scale.comparable, paper_scale.deviations) == (True, ())


KEYS = MINIMAL.replace('rows={"strong": {"regime.beta": 5}, "plain": {}}', 'keys={"a": [1]}')


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"oracle": {', '"orakel": {', "published values for 'orakel', which is not in rows"),
        ('("strong", "plain"', '("strnog", "plain"', "row in the improvements .* mean 'strong'"),
        ('("strong", "chrf"', '("strnog", "chrf"', "row in the rescored rows .* mean 'strong'"),
        (MINIMAL, KEYS, "must be one of its rows"),
        ("TABLE", "SPACE", "does not define TABLE: .* TABLE = PaperTable"),
    ],
)
def test_errors_about_a_table(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MINIMAL
    with pytest.raises(UserError, match=message):
        published.find(write(tmp_path, MINIMAL.replace(old, new)))


@pytest.mark.parametrize("paper", ["cipherdaug", "noisy_nmt", "xnli_adversarial"])
def test_files_of_deviations_name_tables_and_scales_that_there_are(paper: str) -> None:
    names = [name for name in declarations.tables() if name.startswith(f"{paper}/")]
    tables = {name.partition("/")[2]: declarations.load_table(name) for name in names}
    (file,) = {table.deviations for table in tables.values()}
    _, *lines = [line for line in file.read_text().splitlines() if line[0] != "#"]
    for line in lines:
        scales, of_tables, _ = line.split("\t")
        assert set(of_tables.split()) <= tables.keys()
        for name in of_tables.split():
            assert set(scales.split()) <= tables[name].scales.keys()
        assert set(scales.split()) <= {scale for table in tables.values() for scale in table.scales}


@pytest.mark.parametrize("name", declarations.tables())
@pytest.mark.parametrize("scale", ["toy", "small", "paper"])
def test_every_shipped_table_is_whole_at_every_scale(name: str, scale: str) -> None:
    table = published.find(name, scale)
    assert table.space.question.endswith("?") and table.deviations
    assert table.space.seeds == tuple(range(1, len(table.space.seeds) + 1))
    assert table.space.reference in table.space.rows and set(table.literature) <= set(table.rows)
    printed = [value for row in table.rows for value in table.values(row).values()]
    assert all(value > 0 and (value <= 100 or table.measure) for value in printed)


@pytest.mark.parametrize("name", declarations.tables())
def test_rows_of_shipped_tables_are_valid_experiments(name: str, tmp_path: Path) -> None:
    for scale in declarations.load_table(name).scales:
        table = published.find(name, scale)
        parsed = [
            parse({**merge(table.space.base, changes), "storage": str(tmp_path)}).model_dump_json()
            for changes in table.space.rows.values()
        ]
        duplicates = name == "cipherdaug/table12"  # both of whose bases are the baseline
        assert len(set(parsed)) == len(parsed) - duplicates

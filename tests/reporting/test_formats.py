from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from augury.reporting.formats import comma_separated, escaped, latex, markdown
from augury.reporting.results import load
from augury.reporting.table import Table, comparison

ODD = r"[a]&b_1 {50%} <x|y> \~^# $β × 5-2"


@pytest.fixture
def table(results: Any) -> Table:
    correct = {"base": [1, 0, 0, 0] * 50, ODD: [1, 1, 1, 0] * 50}
    folders = [
        results.classified(name, f"{index}a" * 8, seed, correct=own[seed:] + own[:seed], seconds=100 + 100 * index)
        for index, (name, own) in enumerate(correct.items())
        for seed in (1, 2)
    ]
    return comparison(load([*folders, results.run("later", "cc" * 8, 7)]), "test")


def test_markdown(table: Table) -> None:
    lines = markdown([table]).splitlines()
    first, second = (table.cells(row) for row in table.rows[:2])
    name, difference = ODD.replace("|", "\\|"), second[3].replace("*", "\\*")
    assert lines[2].count("|") == lines[3].count("|") == len(table.header()) + 1
    assert lines[4:6] == [
        f"| base | 2 | {first[2]} | – | – | 1.0 × | 1.2M | 400 | 10 | 5.4M | 1 min 40 s | 1.0 × |",
        f"| {name} | 2 | {second[2]} | {difference} | < 0.001 | 1.0 × | 1.2M | 400 | 10 | 5.4M | 3 min 20 s | 2.0 × |",
    ]
    assert "+50.0\\*\\* [" in lines[5]
    assert lines[7:] == ["", *(f"- {note}" for note in table.notes)]


def test_csv_has_every_number_exactly(table: Table) -> None:
    first, odd, later = csv.DictReader(io.StringIO(comma_separated([table])))
    row = table.rows[1]
    assert row.tested is not None and row.corrected is not None
    score = row.scores["accuracy"]
    assert (odd["system"], odd["seeds"], odd["metric"], odd["tested_over"]) == (
        ODD,
        "1 2",
        "accuracy",
        "seeds and sentences",
    )
    for name, value in {
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "n": 200,
        "difference": row.difference,
        "difference_low": row.tested.low,
        "difference_high": row.tested.high,
        "p": row.tested.p_value,
        "p_corrected": row.corrected,
        "train_seconds": 200.0,
        "time_factor": 2.0,
        "data_factor": 1.0,
    }.items():
        assert float(odd[name]) == value
    assert (first["difference"], first["p"], later["value"], later["device"]) == ("", "", "", "")


def test_csv_has_a_line_for_every_metric_and_test_set(results: Any) -> None:
    folders = [results.run(name, address * 8, bleu=30.0) for name, address in (("base", "aa"), ("cipher", "bb"))]
    tables = [comparison(load(folders), "test")] * 2
    lines = list(csv.DictReader(io.StringIO(comma_separated(tables))))
    assert [(line["system"], line["metric"], line["difference"]) for line in lines] == [
        ("base", "bleu", ""),
        ("base", "chrf", ""),
        ("cipher", "bleu", "0.0"),
        ("cipher", "chrf", ""),
    ] * 2


def test_latex_escapes_what_it_would_take_for_commands(table: Table) -> None:
    assert escaped(ODD) == (
        r"[a]\&b\_1 \{50\%\} \textless{}x\textbar{}y\textgreater{} \textbackslash{}\textasciitilde{}"
        r"\textasciicircum{}\# \$$\beta$ $\times$ 5-2"
    )
    lines = latex([table]).splitlines()
    assert lines[0] == r"% \usepackage{booktabs}"
    assert lines[4] == r"\begin{tabular}{l" + "r" * (len(table.header()) - 1) + "}"
    assert [lines[5], lines[7], lines[-3]] == [r"\toprule", r"\midrule", r"\bottomrule"]
    rows = [lines[6], *lines[8:-3]]
    assert len(rows) == 4
    for row in rows:
        assert row.endswith(r" \\") and len(re.findall(r"(?<!\\)&", row)) == len(table.header()) - 1
        assert row.isascii()
        opened = re.findall(r"(?<!\\)\{", row)
        assert len(opened) == len(re.findall(r"(?<!\\)\}", row)) and len(re.findall(r"(?<!\\)\$", row)) % 2 == 0
    assert rows[2].startswith("{}[a]")  # after a line break, LaTeX takes [..] for a length
    assert "5-2 &" in rows[2] and "+50.0** [" in rows[2]


def test_negative_numbers_have_a_minus_in_latex(results: Any) -> None:
    folders = [
        results.classified("base-1", "aa" * 8, correct=[1, 1, 1, 0] * 9),
        results.classified("c-2", "bb" * 8, correct=[1, 0, 0, 0] * 9),
    ]
    row = latex([comparison(load(folders), "test")]).splitlines()[9]
    assert row.startswith("{}c-2 & 1 & 25.0") and "$-$50.0** [$-$" in row


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_latex_compiles(table: Table, tmp_path: Path) -> None:
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}" + latex([table]) + r"\end{document}"
    (tmp_path / "table.tex").write_text(document)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0

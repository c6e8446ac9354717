"""One table in every form: terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from augury.reporting import tables
from augury.reporting.comparison import Comparison, comparison
from augury.reporting.papers import table as published
from augury.reporting.score_tables import frame, score_table
from augury.reporting.tables import LATEX_ESCAPES, latex, latex_escaped, markdown, plain_text, table
from augury.sweeping import declarations
from tests.run_folders import load

ODD = r"[a]&b_1 {50%} <x|y> \~^# $β × 5-2"


@pytest.fixture
def compared(results: Any) -> Comparison:
    correct = {"base": [1, 0, 0, 0] * 50, ODD: [1, 1, 1, 0] * 50}
    folders = [
        results.run(
            name,
            f"{index}a" * 8,
            seed,
            correct=labels[seed:] + labels[:seed],
            seconds=100 + 100 * index,
        )
        for index, (name, labels) in enumerate(correct.items())
        for seed in (1, 2)
    ]
    return comparison(load([*folders, results.run("later", "cc" * 8, 7)]), "test")


def test_wide_characters_keep_their_columns() -> None:
    _, _, first, wide, *_ = plain_text(
        [table(["system", "score"], [["baseline", "30.0"], ["暗号", "30.0"]])]
    ).splitlines()
    assert first.index("30.0") == wide.index("30.0") + 2


def test_markdown_has_every_cell_and_note(compared: Comparison) -> None:
    shown = score_table([compared])
    lines = markdown([shown]).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {len(shown.columns) + 1}
    assert ODD.replace("|", "\\|") in rows[3] and "+50.0\\* [" in rows[3]
    assert [line[2:] for line in lines if line.startswith("- ")] == list(shown.notes)


@pytest.mark.parametrize("text", ["=1+2|cmd", "+1", "-1", "@a", "\t=1"])
def test_csv_has_no_formulas(text: str) -> None:
    (row,) = csv.DictReader(io.StringIO(tables.csv(pd.DataFrame({"a": [text], "b": [-1.5]}))))
    assert row == {"a": f"'{text}", "b": "-1.5"}


def test_csv_has_every_number_exactly(compared: Comparison) -> None:
    base, row, unscored = compared.rows
    row = replace(row, corrected=0.04)
    shown = frame([replace(compared, rows=(base, row, unscored))])
    first, odd, later = csv.DictReader(io.StringIO(tables.csv(shown)))
    assert row.tested is not None and row.tested.p_value == 0.01
    score = row.scores["accuracy"]
    texts = (odd["system"], odd["seeds"], odd["metric"], odd["tested_over"])
    assert texts == (ODD, "1 2", "accuracy", "seeds and sentences")
    exact = {"value": score.value, "low": score.low, "high": score.high, "n": 200}
    exact |= {"difference": row.difference, "difference_low": row.tested.low}
    exact |= {"difference_high": row.tested.high, "p": row.tested.p_value, "p_corrected": 0.04}
    exact |= {"train_seconds": 200.0, "time_factor": 2.0, "data_factor": 1.0}
    assert {name: float(odd[name]) for name in exact} == exact
    assert (first["difference"], first["p"], later["value"], later["device"]) == ("", "", "", "")


def test_latex_escapes_what_it_would_take_for_commands(compared: Comparison) -> None:
    assert latex_escaped(ODD) == (
        r"[a]\&b\_1 \{50\%\} \textless{}x\textbar{}y\textgreater{} "
        r"\textbackslash{}\textasciitilde{}"
        r"\textasciicircum{}\# \$$\beta$ $\times$ 5-2"
    )
    lines = latex([score_table([compared])]).splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 4 and rows[2].startswith(
        "{}[a]"
    )  # after a line break, LaTeX takes [..] for a length
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == rows[0].count("&") and row.isascii()
        opened = re.findall(r"(?<!\\)\{", row)
        assert (
            len(opened) == len(re.findall(r"(?<!\\)\}", row))
            and len(re.findall(r"(?<!\\)\$", row)) % 2 == 0
        )


def test_rows_of_papers_have_no_letters_that_latex_lacks() -> None:
    """Current LaTeX defines those of Latin-1, dashes, dots and arrows."""
    known = {*LATEX_ESCAPES, *map(chr, range(256)), *"→…–"}
    for name in declarations.tables():
        paper_table = published.find(name)
        columns = [column for row in paper_table.printed.values() for column in row.values]
        assert not set("".join([*paper_table.rows, *columns])) - known


def test_negative_numbers_have_a_minus_in_latex() -> None:
    assert "{}c-2 & $-$50.0 [$-$1, 2-3]" in latex([table(["a", "b"], [["c-2", "-50.0 [-1, 2-3]"]])])

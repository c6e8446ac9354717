"""One table in every form: terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import pytest

from augury.reporting import rendering
from augury.reporting.comparison import Comparison, comparison
from augury.reporting.report import Report
from augury.reporting.score_tables import by_system, contents, frame, score_table
from augury.reporting.tables import latex, markdown
from tests.run_folders import load

ODD = r"[a]&b_1 {50%} <x|y> \~^# $β × 5-2"


@pytest.fixture
def compared(results: Any) -> Comparison:
    correct = {"base": [1, 0, 0, 0] * 50, ODD: [1, 1, 1, 0] * 50}
    for seconds, (name, labels) in enumerate(correct.items(), 1):
        for seed in (1, 2):
            given = {"correct": labels[seed:] + labels[:seed], "seconds": 100 * seconds}
            results.run(name, f"{seconds}a" * 8, seed, **given)
    addresses = results.store.addresses("runs")
    runs = [
        results.store.folder("runs", f"{address}/seed-{n}") for address in addresses for n in (1, 2)
    ]
    return comparison(load([*runs, results.run("later", "cc" * 8, 7)]), "test")


def test_csv_has_every_number_exactly(compared: Comparison) -> None:
    base, row, unscored = compared.rows
    row = replace(row, corrected=0.04)
    shown = frame([replace(compared, rows=(base, row, unscored))])
    report = Report(title="", answer="", records=shown)
    first, odd, later = csv.DictReader(io.StringIO(rendering.csv(report)))
    assert row.tested is not None
    score = row.scores["accuracy"]
    assert (odd["system"], odd["seeds"], odd["metric"]) == (ODD, "1 2", "accuracy")
    exact = {"value": score.value, "low": score.low, "high": score.high, "n": 200}
    exact |= {"difference": row.difference, "difference_low": row.tested.low}
    exact |= {"difference_high": row.tested.high, "p": row.tested.p_value, "p_corrected": 0.04}
    exact |= {"train_seconds": 200.0, "time_factor": 2.0, "data_factor": 1.0}
    assert {name: float(odd[name]) for name in exact} == exact
    assert (first["difference"], later["value"]) == ("", "")
    (content,) = contents([compared])
    assert content["rows"][1]["value"] == by_system(compared)[ODD]["accuracy/value"] == score.value
    texts = [cell.text for cell in score_table(compared).rows[1].cells]
    assert texts[2] == f"{score.value:.1f} [{score.low:.1f}, {score.high:.1f}]"


def test_markdown_escapes_what_it_would_take_for_tags_and_cells(compared: Comparison) -> None:
    assert r" \<x\|y> " in markdown(score_table(compared))


def test_latex_escapes_what_it_would_take_for_commands(compared: Comparison) -> None:
    lines = latex(score_table(compared)).splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 4
    name = r"{}[a]\&b\_1 \{50\%\} <x|y> \textbackslash \textasciitilde \textasciicircum \# \$"
    assert rows[2].startswith(rf"{name}$\beta$ $\times$ 5-2 &")
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == rows[0].count("&") and row.isascii()

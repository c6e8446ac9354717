"""Text, LaTeX, CSV and JSON of a reproduction hold every row, and say what does not compare."""

from __future__ import annotations

import csv as csv_reader
import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

from augury.reporting import rendering
from augury.reporting.papers.report import report
from augury.reporting.papers.reproduction import Measurement, Reproduction, TableLine
from augury.reporting.papers.tables import answer, matrices, rows, to_dict
from augury.sweeping.printed import PrintedRow


def lines_of(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


def test_text_at_another_scale(table7: Any, wide: None) -> None:
    shown = rendering.text(report(table7()))
    assert shown.startswith(
        "Table 7 of Nobody (1999), <Nothing>, at scale toy\nscale toy is not the paper's: published"
    )
    header = lines_of(shown, "row ")[0].split()
    assert header[:4] == ["row", "seeds", "literature", "accuracy"] and "published" not in header
    plain_row, *_ = lines_of(shown, "plain ")
    assert plain_row.split()[:6] == ["plain", "2", "69.1", "66.0", "±", "1.4"]
    better, *_ = lines_of(shown, "+A ")
    assert "79.0   80.0 ± 1.4" in better and "+14.0" in better and "1.5 ×   measured" in better
    assert lines_of(shown, "oracle")[0].split() == ["oracle", "0", "99.0", *["–"] * 7, "not", "run"]
    assert "oracle: reads the labels" in shown and "+A elsewhere: 78.9 (Table 8)" in shown
    assert "not as in the paper: two toy languages" in shown
    assert (
        "cost: 5 min 00 s of training in all\nOn the mean of the test sets, +A scores 14.0 "
        "accuracy more" in shown
    )


def test_text_at_the_scale_of_the_paper(table7: Any, wide: None) -> None:
    shown = rendering.text(report(table7("paper")))
    assert "do not compare" not in shown
    assert "measured − published: within the tolerance of ± 1, or beyond it" in shown
    assert (
        "-3.1 (beyond)" in lines_of(shown, "plain ")[0]
        and "+1.0 (within)" in lines_of(shown, "+A ")[0]
    )


def test_what_is_published_of_single_test_sets_stands_below(table7: Any, wide: None) -> None:
    shown = rendering.text(report(table7()))
    below = shown[shown.index("by test set") :]
    assert lines_of(below, "row")[0].split() == ["row", "qaa", "qab", "mean"]
    assert lines_of(below, "+A (published)")[0].split() == [
        "+A",
        "(published)",
        "–",
        "80.0",
        "79.0",
    ]
    assert lines_of(below, "+A  ")[0].split() == ["+A", "81.0", "79.0", "80.0"]
    assert "plain (published)" not in below  # of the mean alone


def test_cost_comes_below_where_there_is_no_room(
    table7: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = rendering.text(report(table7()))
    assert (
        max(map(len, shown[shown.index("\nrow") : shown.index("\nby test set")].splitlines()))
        <= 120
    )
    assert " ".join(lines_of(shown, "plain ")[1].split()) == "plain 1.0 × 1 min 00 s 1.0 × measured"


def test_latex(table7: Any) -> None:
    written = rendering.latex(report(table7()))
    assert (
        written.startswith("% \\usepackage{booktabs}\n")
        and written.count(r"\begin{tabular}{lrrrrrrrrrr}") == 1
    )
    assert r"{}plain & 2 & 69.1 & 66.0 $\pm$ 1.4 &" in written
    assert r"\textless{}Nothing\textgreater{}" in written and "two toy languages" in written
    assert written.count(r"\begin{table}") == written.count(r"\end{table}") == 2


def test_csv_has_every_row_and_column(table7: Any) -> None:
    lines = list(csv_reader.DictReader(io.StringIO(rendering.csv(report(table7())))))
    keys = [(line["row"].removeprefix("'"), line["test"]) for line in lines]  # +A is no formula
    assert keys == [
        *((row, test) for row in ("plain", "+A", "+A again") for test in ("mean", "qaa", "qab")),
        ("+B", "mean"),
        ("oracle", "mean"),
        *(("gain", test) for test in ("mean", "qaa", "qab")),
    ]
    assert [lines[3][name] for name in ("published", "measured", "difference")] == [
        "79.0",
        "80.0",
        "14.0",
    ]
    assert (lines[5]["published"], lines[4]["published"]) == ("80.0", "")
    assert (lines[9]["status"], lines[10]["why"]) == ("failed", "reads the labels")


def test_json(table7: Any) -> None:
    reproduction = json.loads(json.dumps(to_dict(table7())))
    assert [row["name"] for row in reproduction["rows"]] == [
        "plain",
        "+A",
        "+A again",
        "+B",
        "oracle",
        "gain",
    ]
    better, oracle = reproduction["rows"][1], reproduction["rows"][4]
    assert (better["published"], better["measured"]) == ({"mean": 79.0, "qab": 80.0}, 80.0)
    assert better["interval"][0] < 80.0 < better["interval"][1]
    assert better["literature"] == {"Table 7, at the paper's scale": 79.0, "Table 8": 78.9}
    assert (
        better["tests"]["qab"]["published"] == 80.0 and better["tests"]["qab"]["measured"] == 79.0
    )
    assert (oracle["measured"], oracle["interval"], oracle["status"]) == (None, None, "not run")
    assert (reproduction["comparable"], reproduction["reference"], reproduction["scale"]) == (
        False,
        "plain",
        "toy",
    )
    assert reproduction["cost"] == {"train_seconds": 300.0} and reproduction["deviations"] == [
        "two toy languages"
    ]


def test_before_anything_is_measured(paper: Any) -> None:
    paper.sweeps.configuration({}, "plain")
    reproduction = paper.reproduction(ended=False)
    assert answer(reproduction) == "Nothing is measured yet."
    assert "plain: the command ended before: give it again" in rendering.text(report(reproduction))
    assert [row["measured"] for row in to_dict(reproduction)["rows"]] == [None] * 6
    assert rendering.csv(report(reproduction)).count(
        "\n"
    ) == 1 + 8 and r"\end{tabular}" in rendering.latex(report(reproduction))


def test_long_errors_are_cut_in_text_and_whole_in_json(paper: Any) -> None:
    failing = paper.sweeps.configuration({}, "plain")
    paper.sweeps.trial(failing, 1, [], "failed", error="word " * 100)
    reproduction = paper.reproduction()
    assert (
        "word …" in rendering.text(report(reproduction))
        and max(map(len, rendering.text(report(reproduction)).splitlines())) < 300
    )
    assert to_dict(reproduction)["rows"][0]["why"].count("word") == 100


def quantities(printed: PrintedRow | None = None, **values: float) -> Any:
    """A reproduction of one row with these quantities."""
    measured = {name: Measurement(value, 0.5) for name, value in values.items()}
    line = TableLine("cipher", "measured", "", None, printed, {}, measured)
    notes = SimpleNamespace(notes=())
    table: Any = SimpleNamespace(
        measure=len, comparable=False, tolerance=0.5, printed=notes, where="Figure 6"
    )
    sweep: Any = None
    return Reproduction(table, sweep, (), {}, (line,))


def test_printed_quantities_have_the_decimals_of_the_paper() -> None:
    cells, texts = {"plain": "37.50", "rot-1": "-"}, {"plain": "37.50"}
    printed = PrintedRow(1, "cipher", "cipher", "", cells, {}, (), {"plain": 37.5}, texts)
    shown = rows(quantities(printed, **{"plain": 36.123, "rot-1": 35.0})).lines()
    assert shown == [
        ["row", "seeds", "plain", "rot-1", "status"],
        ["cipher", "0", "36.1 ± 0.5", "35 ± 0.5", "measured"],
        ["cipher (published)", "", "37.50", "–", ""],
    ]


def test_quantities_of_a_table_of_their_own_are_a_heat_map() -> None:
    reproduction = quantities(
        **{
            "noise": 0.1,
            "a | l0 | l1": 0.2,
            "a | l0 | l0": 0.4,
            "a | l1 | l1": 0.6,
            "b | x | y": 0.3,
        }
    )
    first, second = matrices(reproduction)
    assert (first.title, second.title) == ("cipher: a", "cipher: b")
    assert first.lines() == [
        ["", "l1", "l0"],
        ["l0", "0.2 ± 0.5", "0.4 ± 0.5"],
        ["l1", "0.6 ± 0.5", "–"],
    ]
    assert second.lines() == [["", "y"], ["x", "0.3 ± 0.5"]]
    shades = [cell.shade for row in first.rows for cell in row.cells[1:]]
    assert shades == [pytest.approx(1e-3), pytest.approx(0.5), pytest.approx(1.0), None]
    assert second.rows[0].cells[1].shade == pytest.approx(0.25)

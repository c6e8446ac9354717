"""The report of a paper's table: printed and measured values side by side, in every format."""

from __future__ import annotations

import csv as csv_reader
import io
import json
from typing import Any

import pytest

from augury.reporting import rendering
from augury.reporting.papers.report import by_column, part_tables, records_of, report
from augury.reporting.sweeps.locations import repeating


def lines_of(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def cell(reproduction: Any, name: str, column: str | None = None) -> dict[str, Any]:
    nothing = dict.fromkeys(reproduction.cells.columns)
    return records_of(reproduction)[name].get(column or reproduction.column, nothing)


def measured(reproduction: Any, name: str) -> dict[str, float]:
    records = records_of(reproduction)[name].items()
    return {at: record["measured"] for at, record in records if record["measured"] is not None}


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


def test_rows_that_are_measured_failed_shared_and_never_run(table7: Any) -> None:
    reproduction = table7("paper")
    failed = "seed 1 failed: Diverged: loss <nan>; seed 2 failed: Diverged: loss <nan>"
    assert {name: (line.status, line.why) for name, line in reproduction.lines.items()} == {
        "plain": ("measured", ""),
        "+A": ("measured", ""),
        "+A again": ("measured", "runs once, as +A: twice is once"),
        "+B": ("failed", failed),
        "oracle": ("not run", "reads the labels"),
        "gain": ("computed", "computed: relative improvement of '+A' over 'plain' in per cent"),
    }
    records = [cell(reproduction, name) for name in reproduction.lines]
    gain = pytest.approx(100 * 14 / 66)
    assert [record["measured"] for record in records] == [66.0, 80.0, 80.0, None, None, gain]
    assert [record["published"] for record in records] == [69.1, 79.0, None, None, 99.0, 14.3]
    gaps = [pytest.approx(-3.1), 1.0, None, None, None, pytest.approx(100 * 14 / 66 - 14.3)]
    assert [record["gap"] for record in records] == gaps
    assert [record["within"] for record in records] == [False, True, None, None, None, None]
    assert records[0]["sd"] == pytest.approx(2**0.5)
    assert measured(reproduction, "+A") == measured(reproduction, "+A again")
    assert measured(reproduction, "gain") == pytest.approx(
        {"mean": 100 * 14 / 66, "qaa": 100 * 10 / 71, "qab": 100 * 18 / 61}
    )
    better = records[1]
    assert better["difference_low"] < better["difference"] == 14 < better["difference_high"]
    assert reproduction.compared("+A")["time_factor"] == 1.5


def test_what_a_file_says_of_values(paper: Any, wide: None) -> None:
    """Another paper's never compares; a quantity stands beside its printed value; a mark is tested
    against the row that it names."""
    paper.of_file()
    for row, right in (("plain", [70, 72]), ("+A", [80, 82]), ("+B", [60, 61])):
        address = paper.measure(row, {"qaa": right, "qab": right})
        paper.quantities(address, **({"p": 48.0} if row == "+A" else {}))
    reproduction = paper.reproduction("paper")
    borrowed, shown = cell(reproduction, "+A"), rendering.text(report(reproduction))
    assert (borrowed["gap"], borrowed["published"], borrowed["comparable"]) == (None, 79.0, False)
    assert borrowed["within"] is None and cell(reproduction, "plain")["within"] is False
    assert cell(reproduction, "+A", "qab")["gap"] == 1.0
    below = shown[shown.index("by column") :]
    assert lines_of(below, "+A  ")[0].split() == ["+A", "81.0", "81.0", "48", "81.0"]
    against = paper.reproduction("paper", reference="+B").compared("+A")
    marked = reproduction.marked["+A"]
    tested = ("difference", "difference_low", "difference_high", "p_corrected")
    assert [marked[name] for name in tested] == [against[name] for name in tested]
    assert (cell(reproduction, "+A")["difference"], marked["difference"]) == (10.0, 20.5)


@pytest.mark.parametrize("scale", ["toy", "paper"])
def test_text(table7: Any, wide: None, scale: str) -> None:
    shown = rendering.text(report(table7(scale)))
    plain_row, better = (lines_of(shown, f"{name} ")[0] for name in ("plain", "+A"))
    assert plain_row.split()[:6] == ["plain", "2", "69.1", "66.0", "±", "1.4"]
    assert "79.0   80.0 ± 1.4" in better and "+14.0" in better and "1.5 ×   measured" in better
    assert ("literature" in shown) == ("do not compare" in shown) == (scale == "toy")
    assert ("-3.1 (beyond)" in plain_row) == ("+1.0 (within)" in better) == (scale == "paper")
    page = rendering.page(report(table7(scale)))
    assert ("two toy languages" in page) == ("1 deviation from" in shown) == (scale == "toy")
    assert "two toy languages" not in shown
    below = shown[shown.index("by column") :]
    assert lines_of(below, "oracle")[0].split()[1:] == ["(published)", "–", "98.0", "99.0"]


def test_json_and_csv_have_every_row_and_column(table7: Any) -> None:
    reproduction = table7()
    lines = list(csv_reader.DictReader(io.StringIO(rendering.csv(report(reproduction)))))
    exact = [lines[3][name] for name in ("published", "measured", "difference", "seeds")]
    assert exact == ["79.0", "80.0", "14.0", "1 2"] and len(lines) == 15
    assert (lines[9]["status"], lines[10]["why"]) == ("failed", "reads the labels")
    found = json.loads(json.dumps(report(reproduction).data, allow_nan=False))
    assert [row["row"] for row in found["rows"]] == list(reproduction.lines)
    better, oracle = found["rows"][1], found["rows"][4]
    mean = better["cells"]["mean"]
    assert (mean["published"], mean["text"], mean["measured"]) == (79.0, "79.0", 80.0)
    assert mean["low"] < 80.0 < mean["high"]
    assert better["cells"]["qab"]["measured"] == 79.0
    assert (oracle["cells"]["mean"]["measured"], oracle["status"]) == (None, "not run")
    assert (found["comparable"], found["reference"], found["scale"]) == (False, "plain", "toy")
    assert found["cost"] == {"train_seconds": 2 * 60.0 + 2 * 90.0}


def test_a_page_runs_no_text_and_says_how_to_go_on(paper: Any, read: Any, hostile: str) -> None:
    """Of a single test set, whose value is the printed mean."""
    paper.path.write_text(paper.path.read_text().replace("Does it help?", hostile))
    paper.measure("plain", {"qaa": [70, 72]})
    paper.measure("+A", {"qaa": [80]})
    paper.sweeps.configuration({"augment": ["b"]}, "+B")
    reproduction = paper.reproduction(ended=False)
    page = read(rendering.page(report(reproduction)))
    assert "img" not in page.tags and hostile in page.texts["p"]
    assert repeating(reproduction.sweep) in page.texts["pre"]
    again = "the command ended before: give it again"
    states = {name: (line.status, line.why) for name, line in reproduction.lines.items()}
    assert states["+A"] == ("partly measured", f"1 of 2 seeds; {again}")
    assert states["+A again"] == ("left out", "other rows were asked for")
    assert states["+B"] == ("not begun", again)
    record = cell(reproduction, "plain")
    assert (record["measured"], record["published"]) == (71.0, 69.1)


def test_without_the_reference_nothing_is_compared(paper: Any) -> None:
    paper.sweeps.configuration({}, "plain")
    paper.measure("+A", {"qaa": [80, 82], "qab": [78, 80]})
    record = cell(paper.reproduction(ended=False), "+A")
    assert (record["measured"], record["difference"], record["p"]) == (80.0, None, None)


def test_a_reference_that_runs_as_another_row_or_has_failed(table7: Any) -> None:
    assert cell(table7(reference="+A again"), "plain")["difference"] == -14
    failed = table7(reference="+B")
    assert failed.reference == "+B" and cell(failed, "plain")["difference"] is None


def test_before_anything_is_scored_there_is_no_answer(paper: Any) -> None:
    failing = paper.sweeps.configuration({}, "plain")
    paper.sweeps.trial(failing, 1, [], "failed", error="Diverged")
    reproduction = paper.reproduction()
    shown = report(reproduction)
    assert (reproduction.deciding, shown.answer) == (None, "Nothing is measured yet.")


def test_rows_that_are_other_rows_by_another_metric_or_a_system_a_column(paper: Any) -> None:
    """The first has no difference to rows of other measures; the mean of the second is that of its
    columns, once all are there."""
    source = paper.path.read_text()
    own = '"fixed": {"qab": 81}, "own": {"qaa": 90.0, "mean": 85.0}, "oracle": {"mean"'
    paper.path.write_text(source.replace('"oracle": {"mean"', own))
    paper.add(rescored='{"fixed": ("+A", "accuracy")}')
    paper.add(assembled='{"own": {"qaa": "plain", "qab": "+A"}}')
    paper.measure("plain", {"qaa": [70, 72], "qab": [60, 62]})
    before = paper.reproduction("paper", ended=False)
    assert before.lines["own"].status == "partly measured"
    assert measured(before, "own") == {"qaa": 71.0}
    paper.measure("+A", {"qaa": [80, 82], "qab": [78, 80]})
    reproduction = paper.reproduction("paper", ended=False)
    fixed = reproduction.lines["fixed"]
    assert measured(reproduction, "fixed") == measured(reproduction, "+A")
    assert (fixed.status, fixed.why) == ("measured", "the outputs of '+A', scored by accuracy")
    assert cell(reproduction, "fixed")["difference"] is None and not reproduction.compared("fixed")
    assert measured(reproduction, "own") == {"qaa": 71.0, "qab": 79.0, "mean": 75.0}
    assert cell(reproduction, "own")["gap"] == pytest.approx(-10.0)


def test_quantities_that_are_measured_on_runs(paper: Any) -> None:
    """Once; those of a table of their own stand there."""
    source = paper.path.read_text()
    printed = source[source.index("    published={") : source.index("    tolerance")]
    source = source.replace(printed, '    published={"plain": {"noise": 0.27}},\n')
    source = source[: source.index("    improvements")] + source[source.index("    unavailable") :]
    paper.path.write_text(source)
    values = {"noise": 0.1, "a | l0 | l1": 0.2, "a | l0 | l0": 0.4, "a | l1 | l1": 0.6}
    paper.add(measure=f"lambda system: {values | {'b | x | y': 0.3}}")
    address = paper.measure("plain", {"qaa": [70, 72]})
    paper.quantities(address, **values, **{"b | x | y": 0.3})
    reproduction = paper.reproduction("paper")
    records = records_of(reproduction)
    (shown,) = by_column(reproduction, records)
    assert shown.lines() == [
        ["row", "qaa", "noise"],
        ["plain", "71.0", "0.1"],
        ["plain (published)", "–", "0.27"],
    ]
    first, second = part_tables(records)
    assert (first.title, second.title) == ("plain: a", "plain: b")
    texts = [["", "l1", "l0"], ["l0", "0.2", "0.4"], ["l1", "0.6", "–"]]
    assert first.lines() == texts and second.lines() == [["", "y"], ["x", "0.3"]]

"""Every row of the table is there, measured or with the reason why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.reporting.comparison import comparison
from augury.reporting.papers.reproduction import Measurement


def test_rows_that_are_measured_failed_shared_and_never_run(table7: Any) -> None:
    reproduction = table7()
    assert [(line.name, line.status, line.reason) for line in reproduction.lines] == [
        ("plain", "measured", ""),
        ("+A", "measured", ""),
        ("+A again", "measured", "runs once, as +A: twice is once"),
        (
            "+B",
            "failed",
            "seed 1 failed: Diverged: loss <nan>; seed 2 failed: Diverged: loss <nan>",
        ),
        ("oracle", "not run", "reads the labels"),
        ("gain", "computed", "computed: relative improvement of '+A' over 'plain' in per cent"),
    ]
    assert (reproduction.column, list(reproduction.comparisons)) == ("mean", ["mean", "qaa", "qab"])
    plain, better, again, failed, oracle, _ = reproduction.lines
    measurements = [reproduction.measurement(line) for line in reproduction.lines]
    assert [measured.score and measured.value for measured in measurements] == [
        66.0,
        80.0,
        80.0,
        None,
        None,
        None,
    ]
    deviations = {column: measured.deviation for column, measured in plain.measurements.items()}
    assert deviations == {column: pytest.approx(2**0.5) for column in ("qaa", "qab", "mean")}
    assert better.measurements == again.measurements
    assert failed.measurements == oracle.measurements == {}
    assert reproduction.sweep.seconds == 2 * 60 + 2 * 90


def test_differences_are_those_of_the_two_level_test_on_the_mean(table7: Any) -> None:
    reproduction = table7()
    row = reproduction.measurement(reproduction.lines[1]).row
    assert row == comparison(reproduction.systems, "mean").rows[1]
    assert (row.difference, row.tested.over, row.time_factor) == (14.0, "seeds and sentences", 1.5)
    assert row.tested.low < 14 < row.tested.high


def test_published_values_compare_at_the_scale_of_the_paper_alone(table7: Any) -> None:
    toy, paper = table7("toy"), table7("paper")
    assert [toy.published(line) for line in toy.lines] == [69.1, 79.0, None, None, 99.0, 14.3]
    assert [paper.published(line) for line in paper.lines] == [69.1, 79.0, None, None, 99.0, 14.3]
    assert [toy.gap(line) for line in toy.lines] == [None] * 6
    gain = 100 * 14 / 66 - 14.3
    assert [paper.gap(line) for line in paper.lines] == [
        pytest.approx(-3.1),
        1.0,
        None,
        None,
        None,
        pytest.approx(gain),
    ]
    assert [paper.within(line) for line in paper.lines] == [False, True, None, None, None, None]
    assert toy.literature(toy.lines[1]) == {"Table 7, at the paper's scale": 79.0, "Table 8": 78.9}
    assert paper.literature(paper.lines[1]) == {"Table 8": 78.9}


def test_a_value_of_another_paper_never_compares(table7: Any) -> None:
    reproduction = table7("paper")
    plain, better = reproduction.lines[:2]
    borrowed = replace(better, printed=replace(better.printed, borrowed=frozenset({"mean"})))
    assert reproduction.within(better) is True and reproduction.comparable(better)
    assert (reproduction.gap(borrowed), reproduction.within(borrowed)) == (None, None)
    assert not reproduction.comparable(borrowed) and reproduction.published(borrowed) == 79.0
    assert reproduction.literature(borrowed) == {"Table 7, of another paper": 79.0, "Table 8": 78.9}
    of_another_test = replace(better.printed, borrowed=frozenset({"qab"}))
    assert reproduction.within(replace(better, printed=of_another_test)) is True


def test_improvements_are_computed_from_two_rows(table7: Any) -> None:
    reproduction = table7()
    gain = reproduction.lines[-1]
    assert gain.values == pytest.approx(
        {"mean": 100 * 14 / 66, "qaa": 100 * 10 / 71, "qab": 100 * 18 / 61}
    )
    assert reproduction.measurement(gain) == Measurement(gain.values["mean"])


def test_rows_that_were_left_out_or_not_begun(paper: Any) -> None:
    paper.measure("plain", {"qaa": [70, 72]})
    paper.measure("+A", {"qaa": [80]})
    paper.sweeps.configuration({"augment": ["b"]}, "+B")
    reproduction = paper.reproduction(ended=False)
    assert {line.name: (line.status, line.reason) for line in reproduction.lines[1:4]} == {
        "+A": ("partly measured", "1 of 2 seeds; the command ended before: give it again"),
        "+A again": ("left out", "other rows were asked for"),
        "+B": ("not begun", "the command ended before: give it again"),
    }


def test_of_one_test_set_there_is_no_mean(paper: Any) -> None:
    paper.measure("plain", {"qaa": [70, 72]})
    reproduction = paper.reproduction()
    assert (reproduction.column, list(reproduction.comparisons), reproduction.deciding.test) == (
        "qaa",
        ["qaa"],
        "qaa",
    )
    (line, *_) = reproduction.lines
    assert (reproduction.measurement(line).value, reproduction.published(line)) == (71.0, 69.1)


def test_without_the_reference_nothing_is_compared(paper: Any) -> None:
    paper.sweeps.configuration({}, "plain")
    paper.measure("+A", {"qaa": [80, 82], "qab": [78, 80]})
    reproduction = paper.reproduction(ended=False)
    plain, better, *_ = reproduction.lines
    assert (plain.status, better.status) == ("not begun", "measured")
    measured = reproduction.measurement(better)
    assert measured.value == 80.0
    assert (measured.row.difference, measured.row.tested) == (None, None)


def test_before_anything_is_scored(paper: Any) -> None:
    paper.sweeps.configuration({}, "plain")
    reproduction = paper.reproduction(ended=False)
    assert (reproduction.deciding, reproduction.comparisons) == (None, {})
    assert reproduction.measurement(reproduction.lines[0]) == Measurement()


def test_a_row_can_be_the_outputs_of_another_by_another_metric(paper: Any) -> None:
    """With its cost and seeds, and without a difference to rows of other measures."""
    content = paper.path.read_text()
    content = content.replace('"oracle": {"mean"', '"+A fixed": {"qab": 81.0}, "oracle": {"mean"')
    paper.path.write_text(f'{content[:-2]}    rescored={{"+A fixed": ("+A", "accuracy")}},\n)\n')
    paper.measure("plain", {"qaa": [70, 72], "qab": [60, 62]})
    paper.measure("+A", {"qaa": [80, 82], "qab": [78, 80]})
    reproduction = paper.reproduction("paper", ended=False)
    lines = {line.name: line for line in reproduction.lines}
    fixed, row = lines["+A fixed"], reproduction.measurement(lines["+A fixed"]).row
    assert fixed.values == lines["+A"].values and (fixed.status, fixed.published) == (
        "measured",
        {"qab": 81.0},
    )
    assert fixed.reason == "the outputs of '+A', scored by accuracy"
    assert (row.difference, row.tested, row.cost) == (
        None,
        None,
        reproduction.measurement(lines["+A"]).row.cost,
    )


def test_a_row_can_have_a_system_for_each_column(paper: Any) -> None:
    """As in-language training has.

    The mean is that of the columns, and is there when all of them are.
    """
    content = paper.path.read_text().replace(
        '"oracle": {"mean"', '"own": {"qaa": 90.0, "mean": 85.0}, "oracle": {"mean"'
    )
    added = 'assembled={"own": {"qaa": "plain", "qab": "+A"}},'
    paper.path.write_text(f"{content[:-2]}    {added}\n)\n")
    paper.measure("plain", {"qaa": [70, 72], "qab": [60, 62]})
    before = {line.name: line for line in paper.reproduction("paper", ended=False).lines}["own"]
    assert (before.status, before.values) == ("partly measured", {"qaa": 71.0})
    paper.measure("+A", {"qab": [78, 80]})
    reproduction = paper.reproduction("paper", ended=False)
    own = {line.name: line for line in reproduction.lines}["own"]
    assert (own.status, own.values) == ("measured", {"qaa": 71.0, "qab": 79.0, "mean": 75.0})
    assert reproduction.gap(own) == pytest.approx(-10.0)

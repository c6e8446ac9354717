"""Heat maps show every number, and colour it by its distance to the baseline's."""

from __future__ import annotations

from augury.reporting.heat import Cell, chart, systems_by_tests
from augury.reporting.results import Estimate
from augury.reporting.table import Row, Table


def row(name: str, value: float | None, difference: float | None = None, p: float | None = None) -> Row:
    scores = {} if value is None else {"accuracy": Estimate(value, value - 1, value + 1, "exact", 100, 1)}
    return Row(name, name, (1,), scores, difference, None, p, None, None)


def table(test: str, *rows: Row) -> Table:
    return Table(test, ("accuracy",), rows, 1, ())


def test_systems_against_test_sets() -> None:
    found = systems_by_tests(
        [
            table("en", row("plain", 80.0), row("<PGD>", 81.5, 1.5, 0.001), row("none", None)),
            table("sw", row("plain", 60.0), row("<PGD>", 58.0, -2.0, 0.5), row("none", None)),
        ]
    )
    assert found is not None
    (cells,) = found.plot["data"]
    assert (cells["x"], cells["y"]) == (["en", "sw"], ["plain", "&lt;PGD&gt;", "none"])
    assert cells["z"] == [[0.0, 0.0], [1.5, -2.0], [None, None]]
    assert cells["text"] == [["80.0<br>", "60.0<br>"], ["81.5<br>+1.5**", "58.0<br>-2.0"], ["", ""]]
    assert (cells["zmin"], cells["zmax"], cells["reversescale"]) == (-2.0, 2.0, False)
    assert found.plot["layout"]["yaxis"]["autorange"] == "reversed"
    assert "&lt;PGD&gt; on sw: 58.0 [57.0, 59.0] -2.0" in found.caption


def test_nothing_scored_is_no_chart() -> None:
    assert systems_by_tests([table("en", row("plain", None)), table("sw", row("plain", None))]) is None


def test_equal_systems_have_a_scale_still() -> None:
    found = systems_by_tests([table("en", row("plain", 80.0)), table("sw", row("plain", 60.0))])
    assert found is not None and (found.plot["data"][0]["zmin"], found.plot["data"][0]["zmax"]) == (-1.0, 1.0)


def test_least_may_be_best() -> None:
    drawn = chart(
        {(1, 0): Cell(3.0, "3", "three")}, ["a"], ["b", "c"], x="x", y="y", level=4, reach=2, least_first=True
    )
    (cells,) = drawn["data"]
    assert (cells["z"], cells["reversescale"], cells["zmin"], cells["zmax"]) == ([[None], [3.0]], True, 2, 6)

"""Every benchmark at its smallest, and the page of their results."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks import frame
from benchmarks.report import BENCHMARKS, PAGE, RESULTS, main, page, rows

SHARED = {"frame", "report"}
APART = {"gpu"}
"""Those with tests of their own."""
QUICK = {"encipher", "scaling"}
"""Those that take seconds at their smallest."""


def test_every_file_is_a_benchmark_with_a_question() -> None:
    files = {file.stem for file in (frame.ROOT / "benchmarks").glob("*.py")}
    assert files - SHARED - APART == set(BENCHMARKS)


def test_page_is_that_of_the_kept_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RESULTS)


def test_rows_take_the_names_of_their_keys() -> None:
    content = {"of": {"a": [{"x": 1, "deep": {}}], "b": [{"x": [2, 0.5]}]}}
    assert list(rows(content, "of.*.*")) == [{"*2": "a", "x": 1}, {"*2": "b", "x": [2, 0.5]}]


def test_chart_has_a_line_for_every_name_over_logarithmic_sizes() -> None:
    points = [{"name": name, "size": size, "s": 1.5 * size} for name in "ab" for size in (1, 10)]
    text = frame.chart(points, "size", "name")
    assert text.count("scatter") >= 2 and "log" in text


def test_ratio_is_the_median_of_ratios_within_rounds() -> None:
    assert frame.ratio([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == 2.0


def test_contenders_run_once_a_round_in_rotating_order() -> None:
    order: list[str] = []
    contenders = {name: lambda name=name: order.append(name) for name in "abc"}
    samples = frame.in_turn(contenders, 2)
    assert order == ["a", "b", "c", "b", "c", "a"]
    assert {name: len(clocks) for name, clocks in samples.items()} == {"a": 2, "b": 2, "c": 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in BENCHMARKS],
)
@pytest.mark.timeout(900)
def test_benchmark_runs_at_its_smallest(name: str, tmp_path: Path) -> None:
    if BENCHMARKS[name].corpora and "AUGURY_DATA" not in os.environ:
        pytest.skip("AUGURY_DATA is unset: no real corpora")
    main([name, "--smallest", "--results", str(tmp_path)])
    content = json.loads((tmp_path / f"{name}.json").read_text())
    assert content["origin"]["commit"] and content["origin"]["machine"]["cores"]
    assert list(rows(content["result"], BENCHMARKS[name].rows))
    assert f"`{content['origin']['command']}`" in page(tmp_path)

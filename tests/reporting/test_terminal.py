"""All test sets are in one table, their notes are given once, and of many sets the scores alone."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting import experiment, rendering
from augury.reporting.comparison import comparison
from augury.reporting.results import load
from augury.reporting.score_tables import by_test
from augury.reporting.tables import plain_text


def folders(results: Any, tests: int) -> list[Any]:
    systems = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("a", 30.0), ("b", 31.0))]
    for run in systems:
        content = run.read_json("scores.json")
        sets = {f"set{index}": content["tests"]["test"] for index in range(tests)}
        run.write_json("scores.json", content | {"tests": sets})
    return systems


def test_several_sets_are_one_table_with_notes_and_costs_once(results: Any) -> None:
    systems = load(folders(results, 2))
    shown = rendering.text(experiment.report(systems, "sets"), width=200)
    assert (
        shown.count("[95 % interval]")
        == shown.count("wall time/seed")
        == shown.count("seeds: 1")
        == 1
    )
    cells = [line.split() for line in shown.splitlines() if line.startswith(("a ", "b "))]
    tests = [words[:2] for words in cells if len(words) > 1 and words[1].startswith("set")]
    assert tests == [["a", "set0"], ["b", "set0"], ["a", "set1"], ["b", "set1"]]


def test_of_many_sets_the_scores_alone_are_shown(results: Any) -> None:
    systems = load(folders(results, 5))
    comparisons = [comparison(systems, f"set{index}") for index in range(5)]
    shown = rendering.text(experiment.report(systems, "sets"), width=200)
    assert shown.count("[95 % interval]") == 1
    assert [[cell.text for cell in row.cells] for row in by_test(comparisons).rows] == [
        ["a", *["30.0"] * 5],
        ["b", *["31.0"] * 5],
    ]
    assert all(f"set{index}" in shown for index in range(5))


def test_a_model_that_has_not_learned_is_warned_about(results: Any) -> None:
    runs = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("none", 0.4), ("some", 1.4))]
    (warning,) = comparison(load(runs), "test").warnings
    assert "none" in warning and "some" not in warning


@pytest.mark.parametrize(("correct", "warned"), [(40, True), (60, True), (90, False)])
def test_labels_no_better_than_one_label_are_warned_about(
    results: Any, correct: int, warned: bool
) -> None:
    """55 of the 100 examples have one label; the interval of 60 right ones holds 55."""
    results.inferences([("a", "b", label) for label in ["neutral"] * 55 + ["entailment"] * 45])
    run = results.classified("a", "aa" * 8, correct=[1] * correct + [0] * (100 - correct))
    assert bool(comparison(load([run]), "test").warnings) == warned


def test_without_test_sets_the_validations_are_listed(results: Any) -> None:
    run = results.run("a", "aa" * 8, history=[(1, {"valid/bleu": 12.0}), (2, {"valid/bleu": 11.0})])
    shown = plain_text([experiment.validations(load([run]))])
    assert "12.00" in shown and run.uri in shown

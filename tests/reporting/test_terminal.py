"""All test sets are in one table, their notes are given once, and of many sets the scores alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.reporting import experiment, rendering
from augury.reporting.answer import answer
from augury.reporting.comparison import comparison
from augury.reporting.score_tables import by_test
from augury.reporting.tables import plain_text
from tests.run_folders import load, outcome


def folders(results: Any, tests: int) -> list[Any]:
    systems = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("a", 30.0), ("b", 31.0))]
    for run in systems:
        content = run.read_record("scores.json")
        sets = {f"set{index}": content["tests"]["test"] for index in range(tests)}
        run.write_record("scores.json", content | {"tests": sets})
    return systems


def test_several_sets_are_one_table_with_notes_and_costs_once(results: Any) -> None:
    systems = load(folders(results, 2))
    shown = rendering.text(experiment.report(systems, "sets"), width=200)
    assert shown.count("[95 % interval]") == shown.count("wall time/seed") == 1
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


def test_a_model_no_better_than_a_trivial_output_is_warned_about(results: Any) -> None:
    """A constant scores 17.9 BLEU on this text: 99.0 is better, 9.0 is not."""
    results.corpus([(f"s{number}", f"w{number} x{number} the end .") for number in range(100)])
    runs = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("no", 9.0), ("so", 99.0))]
    table = comparison(load(runs), "test")
    warning, _ = table.warnings
    assert "no (9.0)" in warning and "so" not in warning.split("learnt")[0]
    tested = replace(table.rows[1], corrected=0.0001)
    assert tested.meaningless and not tested.mark
    assert "mean nothing" in answer(replace(table, rows=(table.rows[0], tested)))


def test_advice_names_the_setting_that_ended_training(results: Any) -> None:
    results.corpus([(f"s{number}", f"w{number} x{number} the end .") for number in range(100)])
    run = results.run("no", "aa" * 8, bleu=1.0, parameters={"training.patience": 3})
    outcome(20.0, stopped_by="patience").write(run)
    (warning,) = comparison(load([run]), "test").warnings
    assert "training.patience (now 3)" in warning and "train longer" not in warning
    outcome(20.0, stopped_by="schedule").write(run)
    described = run.read_record("run.json")
    described["parameters"]["training.max_epochs"] = 10
    run.write_record("run.json", described)
    (warning,) = comparison(load([run]), "test").warnings
    assert "train longer: raise training.max_epochs (now 10)" in warning


def test_what_never_acted_is_warned_about(results: Any) -> None:
    runs = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("a", 30.0), ("b", 31.0))]
    content = runs[1].read_record("scores.json")
    content["cost"] |= {"onset": 180.0, "updates": 108}
    runs[1].write_record("scores.json", content)
    table = comparison(load(runs), "test")
    assert any("regime.warmup_steps" in warning and "180" in warning for warning in table.warnings)


@pytest.mark.parametrize(("correct", "warned"), [(40, True), (60, True), (90, False)])
def test_labels_no_better_than_one_label_are_warned_about(
    results: Any, correct: int, warned: bool
) -> None:
    """55 of the 100 examples have one label; the interval of 60 right ones holds 55."""
    results.inferences([("a", "b", label) for label in ["neutral"] * 55 + ["entailment"] * 45])
    run = results.classified("a", "aa" * 8, correct=[1] * correct + [0] * (100 - correct))
    assert bool(comparison(load([run]), "test").warnings) == warned


def test_the_unit_of_budgets_that_are_held_equal_is_told(results: Any) -> None:
    budget: dict[str, Any] = {"training.max_epochs": 6, "training.patience": 3}
    counted = budget | {"training.equal": "updates"}
    runs = [
        results.run("a", "aa" * 8, bleu=30.0, parameters=budget),
        results.run("b", "bb" * 8, bleu=31.0, parameters=counted),
    ]
    (note,) = (note for note in comparison(load(runs), "test").details if "6 epochs" in note)
    assert "at most 6 epochs of the original text, counted in updates" in note


def test_without_test_sets_the_validations_are_listed(results: Any) -> None:
    run = results.run("a", "aa" * 8, history=[(1, {"valid/bleu": 12.0}), (2, {"valid/bleu": 11.0})])
    shown = plain_text([experiment.validations(load([run]))])
    assert "12.00" in shown and run.uri in shown

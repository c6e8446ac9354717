"""What a generator adds to the platform: its corpora are pairs made of what was given."""

from __future__ import annotations

from typing import Any

import pytest

from augury.experiments.graph import Graph


@pytest.mark.parametrize("form", ["text", "reorder", "hypothesis"])
def test_a_run_reads_the_pairs_of_its_form(toy: Any, form: str) -> None:
    experiment = toy.experiment(form)
    known = Graph(toy.store).plan(experiment).address
    run = toy.prepared(experiment)
    assert run.address == known and run.inputs[0].rows == (4 if form == "hypothesis" else 108)
    assert run.corpus("train").address == toy.made(experiment).address


def test_forms_and_their_settings_make_different_models(toy: Any) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("text", {}),
        ("reorder", {}),
        ("reorder", {"min_coverage": 0.7}),
    ]
    graph = Graph(toy.store)
    experiments = [toy.experiment(form, corpus=corpus) for form, corpus in changes]
    assert len({graph.plan(experiment).address for experiment in experiments}) == 3


def test_tests_are_scored_where_a_reference_says_something(toy: Any) -> None:
    more = {"tests": {"more": toy.text("more", [("cat sees dog .", "cat dog sees .")])}}
    for form in ("text", "reorder"):
        assert toy.prepared(toy.experiment(form, corpus=more)).tests == ["more"]
    assert (
        toy.prepared(
            toy.experiment("hypothesis", corpus={"tests": {"more": toy.nli["train"]}})
        ).tests
        == []
    )

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.experiment import parse
from augury.text.subwords import TRUNCATED
from augury.text.tokens import Tokens
from trainables import seq2seq


@pytest.mark.parametrize("form", ["text", "reorder", "hypothesis"])
def test_the_address_is_known_before_anything_is_made(toy: Any, form: str) -> None:
    given = toy.experiment(form)
    known = seq2seq.address(given, toy.store)
    assert not Path(toy.store.root).exists()
    prepared = seq2seq.prepare(given, toy.store)
    assert prepared.address == known
    assert [each.role for each in prepared.inputs] == ["train", "valid"]
    assert prepared.inputs[0].rows == (4 if form == "hypothesis" else 108)
    assert all(Path(toy.store.root, folder).is_dir() for folder in prepared.artifacts.values())


def test_what_changes_the_model_changes_the_address_and_nothing_else_does(toy: Any) -> None:
    def address(form: str = "reorder", **changes: Any) -> str:
        return str(seq2seq.address(toy.experiment(form, **changes), toy.store))

    same = address()
    assert address(name="other", seeds=[5], execution={"threads": 2}, scoring={"metrics": ["chrf"]}) == same
    different = [
        address("text"),
        address(corpus={"min_coverage": 0.7}),
        address(max_pieces=20),
        address(model={**toy.tiny, "layers": 2}),
        address(model={**toy.tiny, "vocabulary_size": 81}),
        address(training={"max_passes": 2, "max_examples": 32}),
        address(regime={"name": "plain", "label_smoothing": 0.1}),
    ]
    assert len({same, *different}) == 8


def test_long_sides_are_cut_and_counted(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    prepared = toy.prepared(toy.experiment("text", max_pieces=5))
    folder = toy.store.folder("tokens", prepared["tokens"]["source"].partition("/")[2])
    assert folder.manifest()["counts"] == {TRUNCATED: 108}
    assert set(Tokens(folder).lengths.tolist()) == {5}
    assert "cut to 5 subwords: 108 of 108 rows of 'source'" in capsys.readouterr().err


def test_tests_are_scored_where_a_reference_says_something(toy: Any) -> None:
    more = {"tests": {"more": toy.text("more", [("cat sees dog .", "cat dog sees .")])}}
    for form, names in (("text", ["more"]), ("reorder", ["more"])):
        roles = [each.role for each in seq2seq.prepare(toy.experiment(form, corpus=more), toy.store).inputs]
        assert roles[2:] == names
    labelled = {"tests": {"more": toy.nli["train"]}}
    found = seq2seq.prepare(toy.experiment("hypothesis", corpus=labelled), toy.store)
    assert [each.role for each in found.inputs] == ["train", "valid"]


def test_a_corpus_without_validation_text_is_refused(toy: Any) -> None:
    content = toy.content({"form": "text", **toy.parallel, "every": None})
    with pytest.raises(UserError, match="no valid"):
        seq2seq.prepare(parse(content), toy.store)  # type: ignore[arg-type]

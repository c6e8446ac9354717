"""The experiment file of classification: its two forms of a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.regimes.regime import SOURCE
from tests.tiny import PARALLEL
from trainables.classification import TASK

CORPUS: dict[str, Any] = {
    "language": "qaa",
    "labels": ["affirmative", "negative"],
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}


def experiment(sections: Mapping[str, Any] = MappingProxyType({}), **corpus: Any) -> Any:
    content = {"name": "toy", "task": "classification", "corpus": {**CORPUS, **corpus}}
    return parse({**content, **sections})


@pytest.mark.parametrize(
    ("form", "columns"),
    [({}, ("text",)), ({"form": "pairs"}, ("sentence1", "sentence2"))],
)
def test_the_form_says_what_is_read(form: dict[str, str], columns: tuple[str, ...]) -> None:
    parsed = experiment(**form)
    assert TASK.sides(parsed) == {SOURCE: columns} and TASK.columns(parsed) == columns
    assert parsed.scoring.metrics == ("accuracy", "macro_f1")


@pytest.mark.parametrize("form", ["sentences", "pairs"])
def test_operators_apply_where_the_columns_allow(form: str) -> None:
    reorder = {"operator": "reorder", "use": "view", "parallel": PARALLEL}
    views = [reorder, {"operator": "eda", "copies": 1, "use": "view"}]
    parsed = experiment({"augment": views, "regime": "coregularised"}, form=form)
    assert parsed.view_names == ["reorder-qab", "eda-1"]
    with pytest.raises(UserError, match="these records have no premise, hypothesis"):
        experiment({"augment": [{"operator": "semantic"}]}, form=form)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"labels": ["one"]}, "labels"),
        ({"form": "pairs", "train": {"file": "a.tsv", "text_column": "a"}}, "text_column"),
    ],
)
def test_contradictions(corpus: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        experiment(**corpus)

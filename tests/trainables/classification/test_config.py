"""The experiment file of classification: its two forms of a corpus."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.regimes.regime import SOURCE
from trainables.classification import TASK

CORPUS: dict[str, Any] = {
    "language": "qaa",
    "labels": ["affirmative", "negative"],
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}


def experiment(**corpus: Any) -> Any:
    return parse({"name": "toy", "task": "classification", "corpus": {**CORPUS, **corpus}})


@pytest.mark.parametrize(
    ("form", "columns"),
    [({}, ("text",)), ({"form": "pairs"}, ("sentence1", "sentence2"))],
)
def test_the_form_says_what_is_read(form: dict[str, str], columns: tuple[str, ...]) -> None:
    parsed = experiment(**form)
    assert TASK.sides(parsed) == {SOURCE: columns} and TASK.columns(parsed) == columns
    assert parsed.scoring.metrics == ("accuracy", "macro_f1")


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"form": "pair"}, "did you mean 'pairs'"),
        ({"labels": ["one"]}, "labels"),
        ({"train": {"file": "a.tsv", "sentence1_column": "a"}}, "sentence1_column"),
        ({"form": "pairs", "train": {"file": "a.tsv", "text_column": "a"}}, "text_column"),
    ],
)
def test_contradictions(corpus: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        experiment(**corpus)

"""Punctuation fixing (Li and Specia 2019): the golden lines, and a metric of its own beside the
plain one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.scoring import registry
from augury.scoring.punctuation import fix
from augury.scoring.registry import metric_class, title
from augury.scoring.scores import score

GOLDEN = {
    'c\'est "super" !': "c’est «super» !",
    'il a dit "oui" et "non".': "il a dit «oui» et «non».",
    '5" de neige': "5« de neige",
}


def test_golden_lines() -> None:
    assert {line: fix(line) for line in GOLDEN} == GOLDEN
    assert fix('"oui"', quote_space="\u202f") == "«\u202foui\u202f»"


@given(st.text(alphabet="a'\"«’ »"))
def test_fixing_again_changes_nothing(line: str) -> None:
    assert fix(fix(line)) == fix(line)


def test_the_step_has_a_line_of_its_own() -> None:
    hypotheses, references = list(GOLDEN), list(GOLDEN.values())
    names = ("bleu", "bleu-fixed", "bleu:lower-fixed", "chrf-fixed-narrow")
    plain, fixed, lower, narrow = score(hypotheses, references, language="fr", metrics=names)
    assert plain.value < fixed.value == pytest.approx(100)
    assert [result.name for result in (plain, fixed, lower, narrow)] == [*names]
    assert fixed.signature == f"{plain.signature}|punctuation:fr" and "case:lc" in lower.signature
    assert narrow.signature.endswith("punctuation:fr-narrow")
    assert [title(name) for name in names[1:3]] == [
        "BLEU, punctuation fixed",
        "BLEU (lower), punctuation fixed",
    ]
    assert metric_class("ter-fixed").lower_is_better and "-fixed" not in "".join(registry.names())


def test_references_stay() -> None:
    fixed, plain = score(["l'eau"], ["l'eau"], language="fr", metrics=["chrf-fixed", "chrf"])
    assert fixed.value < plain.value == 100


def test_there_are_rules_for_french_alone() -> None:
    for language in ("de", None):
        with pytest.raises(UserError, match="fixes the punctuation of fr, not of"):
            registry.metric("bleu-fixed", language)
    with pytest.raises(UserError, match="have no punctuation"):
        metric_class("accuracy-fixed")

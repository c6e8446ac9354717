"""The measures of an operator's output, and their limits."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from augury.augment.control import Control
from augury.augment.fuzzy_match import FuzzyMatch
from augury.augment.health import Health, HealthLimits, UnusableOutput, require, tally
from augury.augment.operator import OperatorOutput


def sums(new: dict[str, list[str]], **old: list[str]) -> dict[str, int]:
    made_of = {name: pa.array(column) for name, column in old.items()}
    return tally(OperatorOutput(pa.table(new), made_of=made_of))


def test_sums_by_hand() -> None:
    """Empty where there was text; copied; `x` was made from two texts. Of two columns both must be
    copied, and one may be empty; one that stays as it is does not count."""
    new = {"a": ["a", "a", ""], "b": ["b", "c", "b"]}
    two = sums(new, a=["a", "a", "a"], b=["b", "b", "b"])
    assert (two["texts"], two["empty"], two["copied"]) == (3, 1, 1)
    new = {"a": ["a", " ", "x", "x", "x"], "b": ["b"] * 5}
    old = {"a": ["a", "b", "cc", "cc", "d"]}
    assert sums(new, **old) == sums(new, b=["b"] * 5, **old) == SUMS


SUMS = {"texts": 5, "empty": 1, "copied": 1, "pairs": 4, "repeated": 1}


def test_shares_are_of_texts_or_of_what_was_to_be_made() -> None:
    counts = {"rejected, too long": 3, "rejected, empty": 2, "kept": 5}
    measured = Health.of(Control(kind="shuffle"), 5, counts, SUMS)
    assert measured.measures == {"yield": 4 / 10}  # copies are normal
    assert measured.lost == {"too long": 3, "empty": 2} and measured.requested == 10
    matches = Health.of(FuzzyMatch(), 5, counts, SUMS)
    assert matches.measures == {"copied": 1 / 5, "repeated": 1 / 4}
    assert Health(**matches.to_dict()) == matches


@pytest.mark.parametrize(
    ("measures", "setting"),
    [
        ({"yield": 0.4}, "min_yield"),
        ({"copied": 0.9}, "max_copied"),
        ({"repeated": 0.9}, "max_repeated"),
        ({"WER": 0.97}, "max_wer"),
    ],
)
def test_every_limit_names_its_setting_and_can_be_lifted(
    measures: dict[str, Any], setting: str
) -> None:
    output = Health("x", "x", 40, measures=measures)
    (fault,) = output.faults(HealthLimits())
    assert f"health.{setting} is" in fault
    with pytest.raises(UnusableOutput, match=setting):
        require([output], HealthLimits())
    assert output.faults(HealthLimits.model_validate({setting: None})) == []

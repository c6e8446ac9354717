"""The measures of an operator's output, and their limits."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from augury.augment.health import (
    Health,
    HealthLimits,
    Tally,
    UnusableOutput,
    require,
    tally,
)
from augury.augment.operator import Rate


def sums(new: list[str], old: list[str]) -> Tally:
    return tally([pa.array(new)], [pa.array(old)], [1.0])


def test_sums_by_hand() -> None:
    """Empty where there was text; copied; `x` was made from two texts; 6 characters for 7. Of two
    columns both must be copied, and one may be empty."""
    new = [pa.array(["a", "a", ""]), pa.array(["b", "c", "b"])]
    old = [pa.array(["a", "a", "a"]), pa.array(["b", "b", "b"])]
    assert tally(new, old, [1.0, 1.0])[:3] == (3, 1, 1)
    assert sums(["a", " ", "x", "x", "x"], ["a", "b", "cc", "cc", "d"]) == Tally(
        5, 1, 1, 4, 1, 5, 7.0
    )


def test_shares_are_of_texts_or_of_what_was_to_be_made() -> None:
    measured = Health.of(
        "x", 5, {"too long": 3, "empty": 2}, Tally(5, 1, 1, 4, 1, 5, 7.0), operator="x"
    )
    shares = (measured.empty, measured.copied, measured.repeated, measured.length)
    assert shares == (3 / 10, 1 / 5, 1 / 4, 5 / 7)
    assert Health.from_dict(measured.to_dict()) == measured


@pytest.mark.parametrize(
    ("measures", "setting"),
    [
        ({"made": 40, "lost": {"too long": 60}}, "min_yield"),
        ({"made": 100, "empty": 0.3}, "max_empty"),
        ({"made": 100, "copied": 0.9}, "max_copied"),
        ({"made": 100, "length": 4.0}, "max_length_drift"),
        ({"made": 100, "rates": {"asr": Rate(0.1, 0.02, 1000)}}, "min_realised"),
        ({"made": 100, "measures": {"WER": 97.0}}, "max_wer"),
    ],
)
def test_every_limit_names_its_setting_and_can_be_lifted(
    measures: dict[str, Any], setting: str
) -> None:
    output = Health("x", "x", **measures)
    (fault,) = output.faults(HealthLimits())
    assert f"health.{setting} is" in fault
    with pytest.raises(UnusableOutput, match=setting):
        require([output], HealthLimits())
    assert output.faults(HealthLimits.model_validate({setting: None})) == []

from __future__ import annotations

from augury.reporting.sweeps.wording import between, measured, seeds, written


def test_scores_have_one_decimal_and_losses_more() -> None:
    assert [written(value) for value in (31.24, -31.26, 3.456, 0.1234, 0.0, None)] == [
        "31.2",
        "-31.3",
        "3.46",
        "0.123",
        "0.000",
        "–",
    ]
    assert written(0.36, like=31.2) == "0.4"


def test_an_interval_has_the_decimals_of_its_mean() -> None:
    assert between(31.2, 9.87, 32.0) == "31.2 [9.9, 32.0]"
    assert between(2.5, 2.41, 2.59) == "2.50 [2.41, 2.59]"
    assert between(31.2, None, None) == "31.2"


def test_names() -> None:
    assert [measured(name) for name in ("valid/bleu", "valid/loss")] == ["validation BLEU", "validation loss"]
    assert [seeds(count) for count in (1, 3)] == ["1 seed", "3 seeds"]

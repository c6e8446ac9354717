from __future__ import annotations

import pytest

from augury.reporting.charts import COLOURS, look, time_unit


def test_time_units() -> None:
    assert [time_unit(longest) for longest in (0, 299, 300, 18_000)] == [
        ("seconds", 1.0),
        ("seconds", 1.0),
        ("minutes", 60.0),
        ("hours", 3600.0),
    ]


@pytest.mark.parametrize("page", ["#ffffff", "#14171c"])
def test_colours_stand_out_in_light_and_in_dark(page: str) -> None:
    def luminance(colour: str) -> float:
        channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in COLOURS:
        dark, light = sorted((luminance(colour), luminance(page)))
        assert (light + 0.05) / (dark + 0.05) >= 3.0, colour  # WCAG 1.4.11


def test_systems_are_told_apart_without_colour() -> None:
    drawn = [look(index) for index in range(8)]
    assert len({one.colour for one in drawn}) == len({(one.dash, one.symbol) for one in drawn}) == 8

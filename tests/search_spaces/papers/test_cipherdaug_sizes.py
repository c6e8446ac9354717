"""The sizes that the paper prints are those of the configurations, or declared contradictions."""

from __future__ import annotations

import pytest

from augury.sweeping import published
from search_spaces.papers.cipherdaug.sizes import Size, sizes, trained

SIZES = list(sizes())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size.where}-{size.row}-{size.column}")
def test_a_printed_size_is_that_of_the_configuration_or_declared(size: Size) -> None:
    assert size.agrees != bool(size.contradiction), size


def test_every_row_with_a_printed_size_that_is_run_is_compared() -> None:
    assert len(SIZES) == 3 + 2 * 8 + 2 * 6 + 1
    assert sum(not size.agrees for size in SIZES) == 3 + 4  # of 10.1M, of 31M


@pytest.mark.parametrize(
    ("printed", "computed", "agrees"),
    [
        ("37M", 37_949_440, True),  # cut
        ("44M", 43_831_296, True),  # rounded
        ("44M", 45_000_000, False),
        ("10.1M", 10_240_000, False),
        ("4.1M", 4_194_816, True),
        ("1.2x", 1.187, True),
        ("1x", 1.187, True),
        ("1.2x", 1.3, False),
    ],
)
def test_sizes_agree_up_to_the_last_printed_digit(
    printed: str, computed: float, agrees: bool
) -> None:
    assert Size("", "", "", printed, computed, "").agrees == agrees


@pytest.mark.parametrize(
    ("row", "entries"),
    [("Transformer", 36_000), ("CipherDAug - 1 key", 48_000), ("CipherDAug - 2 keys", 60_000)],
)
def test_wmt14_has_one_matrix_for_source_target_and_output(row: str, entries: int) -> None:
    table = published.find("cipherdaug/table3", "paper", "wmt14-en-de")
    assert trained(table, row) == 44_138_496 + entries * 512

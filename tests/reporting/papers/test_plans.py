"""A paper's table before anything is run."""

from __future__ import annotations

import re

import pytest

from augury.core.store import Store
from augury.reporting.papers.tables import plan_text
from augury.sweeping import published
from augury.sweeping.plan import Plan
from augury.sweeping.published import Published


def text(table: Published) -> str:
    return plan_text(table, Plan(table.space, Store("nowhere"), {}))


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("cipherdaug/table7", "sep", "37.65"),
        ("cipherdaug/table2", "CipherDAug - 2 keys", "37.60"),
        ("cipherdaug/table12", "data-diverse, base", "34.7"),
        ("cipherdaug/table8", "Transformer", "Hallucinations 23"),
    ],
)
def test_values_are_as_they_are_printed(name: str, row: str, value: str) -> None:
    (line,) = [
        line
        for line in text(published.find(name, "paper")).splitlines()
        if line.startswith(f"{row} ")
    ]
    assert re.split(r"\s{2,}", line)[1] == value


def test_deviations_are_listed() -> None:
    table = published.find("cipherdaug/table3", "paper", "wmt14-en-de")
    shown = [line for line in text(table).splitlines() if line.startswith("not as in the paper: ")]
    assert [line.removeprefix("not as in the paper: ") for line in shown] == list(table.deviations)

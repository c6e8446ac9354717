"""The contracts that docs/extending.md shows are those of the code, and its examples are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from augury.analysis.analysis import Analysis
from augury.augment.operator import Operator
from augury.experiments import task
from augury.experiments.task import Task
from augury.regimes.regime import Regime

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "extending.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def methods(contract: type) -> set[str]:
    return {name for name, value in vars(contract).items() if callable(value) and name[0] != "_"}


@pytest.mark.parametrize(
    ("heading", "contract"),
    [
        ("An operator", Operator),
        ("A regime", Regime),
        ("A task", Task),
        ("An analysis", Analysis),
    ],
)
def test_a_contract_is_shown_as_it_is(heading: str, contract: type) -> None:
    shown = re.findall(r"^\| `(\w+)\([^|]*\)` \|", section(heading), re.MULTILINE)
    assert shown and set(shown) <= methods(contract)


@pytest.mark.parametrize("owner", task.LACKS)
def test_what_only_some_can_do_is_shown_with_its_methods(owner: type) -> None:
    (row,) = re.findall(rf"^\| `{owner.__name__}` \|.*$", PAGE, re.MULTILINE)
    inherited = {name for base in owner.__mro__[1:] for name in methods(base)}
    assert methods(owner) - inherited <= set(re.findall(r"`(\w+)`", row))

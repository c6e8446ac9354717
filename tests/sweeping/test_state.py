"""A sweep is found by its name, and by its space where that has one sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.sweeping.state import DEFINITION, KIND, resolve


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("mine-default", "mine-default"),
        ("mine", "mine-default"),
        ("./mine.py", "mine-default"),
        ("beta", None),  # of two scales
        ("mine-def", None),
        ("other", "other-toy-optuna"),
        ("min", None),
    ],
)
def test_names_that_lead_to_a_sweep(tmp_path: Path, word: str, name: str | None) -> None:
    store = Store(tmp_path)
    scales = {"mine-default": "default", "beta-toy": "toy", "beta-small": "small", "other-toy-optuna": "toy"}
    for known, scale in scales.items():
        store.folder(KIND, known).write_json(DEFINITION, {"scale": scale})
    if name is None:
        with pytest.raises(UserError):
            resolve(store, word)
    else:
        assert resolve(store, word) == name

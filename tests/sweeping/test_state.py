"""The state of a sweep: found by its name or by its space, as its driver leaves it, and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.sweeping.state import DEFINITION, SWEEPS, resolve


def test_a_sweep_is_found_by_its_name_or_its_space(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for sweep in ("mine-default", "beta-toy", "beta-small"):
        store.folder(SWEEPS, sweep).write_record(DEFINITION, {})
    assert resolve(store, "mine") == resolve(store, "mine-default") == "mine-default"
    for text, said in (("beta", "beta-toy"), ("min", "no sweep")):
        with pytest.raises(UserError, match=said):
            resolve(store, text)

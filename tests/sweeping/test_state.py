"""The state of a sweep: found by its name or by its space, as its driver leaves it, and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.integrity import Damaged
from augury.core.store import Store
from augury.sweeping.state import DEFINITION, KIND, STATE, records, resolve


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mine", "mine-default"),
        ("beta", None),  # ambiguous: two scales
        ("min", None),
    ],
)
def test_a_sweep_is_found_by_its_name_or_its_space(
    tmp_path: Path, text: str, name: str | None
) -> None:
    store = Store(tmp_path)
    for sweep in ("mine-default", "beta-toy", "beta-small"):
        store.folder(KIND, sweep).write_record(DEFINITION, {})
    if name is None:
        with pytest.raises(UserError, match="beta-toy" if text == "beta" else "no sweep"):
            resolve(store, text)
    else:
        assert resolve(store, text) == name


@pytest.mark.parametrize("name", [DEFINITION, STATE])
def test_a_record_that_has_changed_is_named_and_written_anew(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = Store(tmp_path).folder(KIND, "mine")
    for record in (DEFINITION, STATE):
        sweep.write_record(record, {"seeds": [1]})
    assert sweep.earlier_record(name)["seeds"] == [1]
    changed = sweep.read(name).replace(b"1]", b"2]").replace(b"1\n", b"2\n")
    assert changed != sweep.read(name)
    (tmp_path / KIND / "mine" / name).write_bytes(changed)
    with pytest.raises(Damaged, match=name):
        records(sweep)
    assert sweep.earlier_record(name) == {}
    assert f"{name} is damaged" in capsys.readouterr().err

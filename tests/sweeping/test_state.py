"""A sweep is found by its name, or by its space if that has a single sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.integrity import Damaged
from augury.core.store import Store
from augury.sweeping.state import DEFINITION, KIND, STATE, earlier_record, records, resolve


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mine-default", "mine-default"),
        ("mine", "mine-default"),
        ("./mine.py", "mine-default"),
        ("beta", None),  # ambiguous: two scales
        ("mine-def", None),
        ("other", "other-toy-optuna"),
        ("min", None),
        ("cipherdaug/table3", "cipherdaug-table3-paper-iwslt17-fr-en"),
    ],
)
def test_sweeps_are_resolved_by_name_and_space(tmp_path: Path, text: str, name: str | None) -> None:
    store = Store(tmp_path)
    scales = {
        "mine-default": "default",
        "beta-toy": "toy",
        "beta-small": "small",
        "other-toy-optuna": "toy",
    }
    scales["cipherdaug-table3-paper-iwslt17-fr-en"] = "paper/iwslt17-fr-en"
    for sweep, scale in scales.items():
        store.folder(KIND, sweep).write_record(DEFINITION, {"scale": scale})
    if name is None:
        with pytest.raises(UserError):
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
    assert earlier_record(sweep, name)["seeds"] == [1]
    changed = sweep.read(name).replace(b"1]", b"2]").replace(b"1\n", b"2\n")
    assert changed != sweep.read(name)
    (tmp_path / KIND / "mine" / name).write_bytes(changed)
    with pytest.raises(Damaged, match=name):
        records(sweep)
    assert earlier_record(sweep, name) == {}
    assert f"{name} is damaged" in capsys.readouterr().err

"""Names with any characters: a storage and a system may have them, other names are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Augury
from tests.tiny import content

ODD = "a 'b' \"c\" #%20?:*[1]{2}\\", "-$(²)①=;,&<`|!~"


def write(folder: Path, **settings: Any) -> Path:
    file = folder / "tiny.yaml"
    tiny = {**content("classification", folder / "store"), **settings}
    file.write_text(yaml.safe_dump(tiny, allow_unicode=True), encoding="utf-8")
    return file


@pytest.mark.trains
@pytest.mark.parametrize(("storage", "system"), [(ODD[0], ODD[1]), ("-é漢😀\n\t\u202ec", ODD[0])])
def test_a_storage_and_a_system_have_any_name(
    storage: str, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, augury: Augury
) -> None:
    monkeypatch.chdir(tmp_path)
    systems = {system: {}, "other": {"training.learning_rate": 0.002}}
    augury(
        "train", write(tmp_path, storage=storage, systems=systems), "--set=training.max_epochs=1"
    )
    assert [entry.name for entry in Path().iterdir() if entry.is_dir()] == [storage]
    listed = augury("runs", "--json", "--", storage).json
    assert system in [run["system"] for run in listed]
    augury("compare", f"--storage={storage}", "--", f"tiny/{system}", "tiny/other")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"systems": {"one": {}, "\u202ea": {"training.max_epochs": 1}}}, "not seen"),
        ({"name": "a/b"}, "name: "),
        ({"name": "a\n"}, "name: "),
        ({"name": "a" * 101}, "name: "),
    ],
)
def test_other_names_are_refused(
    settings: dict[str, Any], message: str, tmp_path: Path, augury: Augury
) -> None:
    assert message in augury("config", write(tmp_path, **settings), code=2).error

"""Names with any characters: a storage and a system may have them, other names are refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from tests.tiny import content

ODD = "a 'b' \"c\" #%20?:*[1]{2}\\", "-$(²)①=;,&<`|!~"


@pytest.mark.trains
@pytest.mark.parametrize(("storage", "system"), [(ODD[0], ODD[1]), ("-é漢😀\n\t\u202ec", ODD[0])])
def test_a_storage_and_a_system_have_any_name(
    storage: str,
    system: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = content("classification", Path(storage))
    settings["training"]["max_epochs"] = 1
    settings["systems"] = {system: {}, "other": {"training.learning_rate": 0.002}}
    Path("tiny.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    assert main(["train", "tiny.yaml"]) == 0
    assert [entry.name for entry in Path().iterdir() if entry.is_dir()] == [storage]
    capsys.readouterr()
    assert main(["runs", "--json", "--", storage]) == 0
    assert system in [run["system"] for run in json.loads(capsys.readouterr().out)]
    assert main(["compare", f"--storage={storage}", "--", f"tiny/{system}", "tiny/other"]) == 0


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\u202ea"])
def test_a_system_has_a_name_that_is_seen(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = {"one": {}, name: {"training.max_epochs": 1}}
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content("classification", tmp_path / "store", systems=systems)))
    assert main(["config", str(path)]) == 2
    assert "not seen" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a b", "a/b", "-a", ".a", "a\n", "a:b", "a#b", "", "a" * 101])
def test_an_experiment_with_another_name_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content("classification", tmp_path / "store", name=name)))
    assert main(["config", str(path)]) == 2
    assert "name: " in capsys.readouterr().err


@pytest.mark.parametrize("number", ["²", "①", "١", "1_0", " 1"])
def test_other_digits_are_no_numbers(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content("classification", tmp_path / "store")))
    for words in (
        ["train", str(path), "--seeds", number],
        ["train", str(path), "--set", f"augment.{number}.copies=1"],
        ["compare", f"tiny/{number}", "tiny/2", f"--storage={tmp_path}"],
    ):
        with suppress(SystemExit):  # of flags
            assert main(words) == 2
        message = capsys.readouterr().err
        assert message and "Traceback" not in message

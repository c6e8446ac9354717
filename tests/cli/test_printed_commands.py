"""Commands that terminal and pages print can be typed: they parse, and what they name is there."""

from __future__ import annotations

import base64
import html
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.experiments.spec import parse
from augury.experiments.systems import load
from augury.reporting import run_names
from tests import commands, tiny

HERE = Path(__file__).parent
QUICK = HERE.parent / "sweeping" / "quick.py"
FAST = ["--set", "training.max_updates=16"]


def printed(text: str, pages: list[Path]) -> tuple[list[list[str]], dict[str, str]]:
    """Return the words of every `augury` command, and the experiment files that pages offer."""
    shown, files = [text], {}
    for page in pages:
        content = page.read_text(encoding="utf-8")
        for _, block in re.findall(r"<(code|pre)\b[^>]*>(.*?)</\1>", content, re.DOTALL):
            shown.append(html.unescape(re.sub(r"<[^>]+>", "", block)))
        for tag in re.findall(r"<a [^>]*download=[^>]*>", content):
            name, data = re.search(r'download="([^"]+)"', tag), re.search(r'base64,([^"]+)"', tag)
            assert name and data
            files[html.unescape(name[1])] = base64.b64decode(data[1]).decode()
    return [argv for block in shown for argv in commands.words(block)], files


def check(argv: list[str], files: dict[str, str]) -> None:
    """Run what is cheap to run of a command, and see that what it names is there."""
    verb, *rest = argv
    ((_, arguments),) = commands.parsed(" ".join(["augury", verb, *map(quoted, rest)]))
    if verb in ("sweep", "reproduce"):
        assert main([*argv, "--dry-run"]) == 0
    elif verb == "compare":
        assert main(argv) == 0
    elif verb in ("train", "config"):
        if arguments.experiment in files:
            parse(yaml.safe_load(files[arguments.experiment]))
        else:
            load(arguments.experiment, arguments.assignments)
    else:
        assert verb in ("translate", "analyze", "export"), f"no check of {argv}"
        name = arguments.trained
        for run in [name] if isinstance(name, str) else name:
            storage = getattr(arguments, "storage", "results")
            assert all(folder.complete for folder in run_names.find(run, storage))


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


@pytest.mark.trains
def test_commands_of_a_training_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    training = {"max_updates": 2, "validate_every": 1}  # a race decides at validations
    content = tiny.content("nmt", tmp_path / "store", baseline=True, training=training)
    Path("my.yaml").write_text(yaml.safe_dump(content))
    assert main(["config", "my.yaml", "--set", "seeds=[1, 2]"]) == 0
    assert main(["train", "my.yaml"]) == 0
    told = "\n".join(capsys.readouterr())
    typed, files = printed(told, list(tmp_path.glob("store/**/*.html")))
    assert {argv[0] for argv in typed} == {"train", "sweep", "translate"}
    assert ["train", "my.yaml", "--set", "seeds=[1, 2]"] in typed
    for argv in typed:
        check(argv, files)


@pytest.mark.slow
def test_commands_of_sweeps_and_tables_given_by_path_can_be_typed(
    local_ray: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    sweeping = tmp_path / "spaces" / "sweeping"
    sweeping.mkdir(parents=True)
    shutil.copy(QUICK, sweeping / "mine.py")
    storage = ["--storage", "store", "--seeds", "1", *FAST]
    assert main(["sweep", "spaces/sweeping/mine.py", *storage]) == 0
    rows = ["--rows", "baseline", "no agreement"]
    assert main(["reproduce", str(HERE / "quick_table.py"), *rows, *storage]) == 0
    told = "\n".join(capsys.readouterr())
    monkeypatch.chdir(tmp_path.parent)  # pages are read from anywhere
    typed, files = printed(told, list(tmp_path.glob("store/**/*.html")))
    assert {"sweep", "reproduce", "train"} <= {argv[0] for argv in typed}
    for argv in typed:
        check(argv, files)

"""One damaged run, report or sweep: a row that says so, and everything else goes on."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from augury.core import store as stores
from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking.sync import sync_storage
from tests import tiny

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(900)]

RUN, REPORT, SWEEP = "run.json", "reports/tiny/report.json", "sweeps/s/sweep.json"
Change = Callable[[bytes], bytes]


def record(content: object) -> Change:
    """Replace a record by another that is intact."""

    def change(_: bytes) -> bytes:
        folder = Store(stores.temporary_directory("record")).folder("a", "b")
        folder.write_record("x.json", content)  # type: ignore[arg-type]
        return folder.read("x.json")

    return change


def runs_at(*paths: str) -> Change:
    return record({"systems": {"one": list(paths)}, "title": "tiny", "answer": "", "scores": {}})


DAMAGE: dict[str, tuple[str, Change]] = {
    "empty": (RUN, lambda _: b""),
    "half": (RUN, lambda old: old[: len(old) // 2]),
    "a byte": (RUN, lambda old: old.replace(b'"name"', b'"nane"', 1)),
    "a list": (RUN, lambda _: b"[1]"),
    "a number": (RUN, lambda _: b"3"),
    "other entries": (RUN, record({"seed": "x"})),
    "scores": ("scores.json", lambda old: old[:-9]),
    "history": ("history/00000001.jsonl", lambda _: b"{"),
    "report": (REPORT, lambda old: old[: len(old) // 2]),
    "paths of a report": (REPORT, runs_at("../../etc", "/etc", "", "runs/none/seed-1", "runs")),
    "sweep": (SWEEP, lambda _: b"{"),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an experiment file and its storage, with a run of each of three systems."""
    directory = tmp_path_factory.mktemp("damaged")
    content = tiny.content(
        "nmt",
        directory / "results",
        training={"max_tokens": 400, "max_updates": 2, "validate_every": 1},
        systems={name: {"training.learning_rate": rate} for name, rate in RATES.items()},
    )
    (directory / "tiny.yaml").write_text(yaml.safe_dump(content))
    rates = {"one": RATES["one"], "four": 4e-3}
    content["systems"] = {name: {"training.learning_rate": rate} for name, rate in rates.items()}
    (directory / "others.yaml").write_text(yaml.safe_dump(content))
    assert main(["train", str(directory / "tiny.yaml")]) == 0
    return directory


RATES = {"one": 1e-3, "two": 2e-3, "three": 3e-3}


@pytest.mark.parametrize("kind", DAMAGE)
def test_everything_else_goes_on(
    kind: str,
    trained: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = str(tmp_path / "results")
    shutil.copytree(trained / "results", root)
    listed = run_json(capsys, "runs", root)
    damaged = next(run for run in listed if run["name"] == "tiny/three/1")
    name, change = DAMAGE[kind]
    file = Path(root, name) if "/" in name and "history" not in name else Path(damaged["run"], name)
    if "history" in name:
        file = next(file.parent.glob("*"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(change(file.read_bytes() if file.exists() else b""))
    stores._known.clear()

    states = {run["run"]: run["state"] for run in run_json(capsys, "runs", root)}
    of_run = name in (RUN, "scores.json")
    assert (states.pop(damaged["run"]) == "damaged") == of_run
    assert list(states.values()) == ["scored"] * 2
    intact = list(states)
    assert main(["compare", *intact, "--storage", root]) == 0
    for word in (intact[0], "tiny/one/1"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ba\n")))
        assert main(["translate", word, "--storage", root]) == 0
    assert main(["watch", "--storage", root, "--once"]) == 0
    assert main(["gc", root]) == 0
    verified = 0 if kind in ("history", "other entries", "paths of a report") else 1
    assert main(["verify", root]) == verified
    capsys.readouterr()
    try:
        sync_storage(Store(root), Tracking(uri=f"sqlite:///{tmp_path}/mlflow.db"))
    except ValueError as error:
        assert len(str(error).splitlines()) == 2  # the damaged one alone
    assert main(["train", str(trained / "others.yaml"), "--storage", root]) == 0

    place = Path(damaged["run"]).relative_to(root)
    assert main(["runs", root, str(place), "--delete", "--yes"]) == 0
    assert not Path(damaged["run"]).exists() and all(map(Path.exists, map(Path, intact)))


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    """Run a command and return what it prints as JSON."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out))

"""Every kind of stored file is damaged in turn: what can be made again is, the rest is refused, and
with one damaged run, report or sweep everything else goes on."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from augury.cli import main
from augury.core import store as stores
from augury.core.directories import temporary_directory
from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking.export import Exporter
from tests import tiny
from tests.tracking.reading import states as tracked

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(900)]

Change = Callable[[bytes], bytes]


def flip(content: bytes) -> bytes:
    """Flip a bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def half(content: bytes) -> bytes:
    """Cut the file off."""
    return content[: len(content) // 2]


class Damage(NamedTuple):
    file: str
    """A pattern below the storage, of which the first file is damaged."""
    change: Change
    verb: str
    """The command that reads it."""
    said: str


MADE, SCORED, BEFORE = "it is made anew", "it is scored anew", "from the checkpoint before"
REFUSED = "train it again"
TO_REMOVE, TO_REPEAT = "to train the run from the beginning", "repeat the command that made it"
RUN = "runs/*/seed-1"
BY_KIND = {
    "corpus": Damage("corpora/*/part-00000.parquet", flip, "train", MADE),
    "manifest": Damage("corpora/*/manifest.json", half, "train", MADE),
    "view": Damage("views/*/part-00000.parquet", flip, "train", MADE),
    "fit": Damage("fits/*/fitted.json", half, "train", MADE),
    "vocabulary": Damage("vocabularies/*/sentencepiece-0.model", flip, "train", MADE),
    "token ids": Damage("tokens/*/part-00000.parquet.arrow", flip, "train", MADE),
    "scores": Damage(f"{RUN}/scores.json", flip, "train", SCORED),
    "statistics": Damage(f"{RUN}/counts/test.npz", flip, "train", SCORED),
    "CTranslate2": Damage(f"{RUN}/ctranslate2/model.bin", flip, "translate", MADE),
    "weights": Damage(f"{RUN}/weights.safetensors", flip, "weights", REFUSED),
    "outcome": Damage(f"{RUN}/outcome.json", half, "weights", REFUSED),
    "run, cut off": Damage(f"{RUN}/run.json", half, "train", REFUSED),
    "vocabulary, when used": Damage(
        "vocabularies/*/sentencepiece-0.model", flip, "translate", TO_REPEAT
    ),
    "state": Damage(f"{RUN}/checkpoints/*3/state.pt", flip, "continue", BEFORE),
    "checkpoint": Damage(f"{RUN}/checkpoints/*3/model.safetensors", half, "continue", BEFORE),
    "earlier checkpoint": Damage(
        f"{RUN}/checkpoints/*2/model.safetensors", flip, "continue", TO_REMOVE
    ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an experiment file and its storage, with a run of three updates."""
    directory = tmp_path_factory.mktemp("damage")
    content = tiny.content(
        "nmt",
        directory / "results",
        augment=[{"operator": "cipher", "keys": [1]}],
        regime="multi_source",
        training={
            "max_tokens": 400,
            "max_updates": 3,
            "validate_every": 1,
            "weights": "averaged",
            "average_last": 2,
        },
    )
    (directory / "tiny.yaml").write_text(yaml.safe_dump(content))
    assert main(["train", str(directory / "tiny.yaml")]) == 0
    return directory


def contents(root: Path) -> dict[str, bytes]:
    """Return the files that are functions of their address, and what a run ends with."""
    kinds = ("corpora", "views", "fits", "vocabularies", "tokens")
    files = [file for kind in kinds for file in (root / kind).rglob("*")]
    run = next(root.glob(RUN))
    files += [run / "weights.safetensors", run / "scores.json", *run.glob("ctranslate2/*")]
    files += [*run.glob("counts/*"), *run.glob("hypotheses/*")]
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("kind", BY_KIND)
def test_damage_is_mended_or_named(
    kind: str,
    trained: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pattern, change, verb, said = BY_KIND[kind]
    root = tmp_path / "results"  # another one, which this process has not checked yet
    shutil.copytree(trained / "results", root)
    before, run = contents(root), next(root.glob(RUN))
    file = sorted(root.glob(pattern))[0]
    file.write_bytes(change(file.read_bytes()))
    if verb == "continue":  # as a run that was killed before its end
        for name in ("manifest.json", "outcome.json", "weights.safetensors", "scores.json"):
            (run / name).unlink()
    if verb in ("continue", "weights"):
        shutil.rmtree(run / "ctranslate2")
    name = str(file.relative_to(root))
    capsys.readouterr()
    assert main(["runs", str(root), "--verify"]) == 1
    assert capsys.readouterr().out.startswith(f"{name} ")

    command = ["translate", str(run)]
    if verb in ("train", "continue"):
        command = ["train", str(trained / "tiny.yaml"), "--storage", str(root)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ba\n")))
    code, messages = main(command), capsys.readouterr().err
    assert "Traceback" not in messages
    (line,) = [line for line in messages.splitlines() if said in line]
    assert f"{root}/{name}" in line
    if said in (REFUSED, TO_REMOVE, TO_REPEAT):
        assert code == (1 if said == TO_REMOVE else 2)  # a trial that fails
    else:
        after = contents(root)
        if verb == "continue":  # the scores say how long training took
            del before[f"{run.relative_to(root)}/scores.json"]
        assert code == 0 and after.items() >= before.items()
        assert main(["runs", str(root), "--verify"]) == 0


REPORT, SWEEP = "reports/tiny/report.json", "sweeps/s/sweep.json"


def record(content: object) -> Change:
    """Replace a record by another that is intact."""

    def change(_: bytes) -> bytes:
        folder = Store(temporary_directory("record")).folder("a", "b")
        folder.write_record("x.json", content)  # type: ignore[arg-type]
        return folder.read("x.json")

    return change


def runs_at(*paths: str) -> Change:
    return record({"systems": {"one": list(paths)}, "title": "tiny", "answer": "", "scores": {}})


OF_ONE: dict[str, tuple[str, Change]] = {
    "a byte": ("run.json", lambda old: old.replace(b'"name"', b'"nane"', 1)),
    "other entries": ("run.json", record({"seed": "x"})),
    "scores": ("scores.json", half),
    "history": ("history.jsonl", lambda _: b"{"),
    "report": (REPORT, half),
    "paths of a report": (REPORT, runs_at("../../etc", "/etc", "", "runs/none/seed-1", "runs")),
    "sweep": (SWEEP, lambda _: b"{"),
}


RATES = {"one": 1e-3, "two": 2e-3, "three": 3e-3}


@pytest.fixture(scope="module")
def three_systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.mark.parametrize("kind", OF_ONE)
def test_everything_else_goes_on(
    kind: str,
    three_systems: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = str(tmp_path / "results")
    shutil.copytree(three_systems / "results", root)
    listed = run_json(capsys, "runs", root)
    damaged = next(run for run in listed if run["name"] == "tiny/three/1")
    name, change = OF_ONE[kind]
    file = Path(root, name) if "/" in name else Path(damaged["run"], name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(change(file.read_bytes() if file.exists() else b""))
    stores._known.clear()

    states = {run["run"]: run["state"] for run in run_json(capsys, "runs", root)}
    of_run = name in ("run.json", "scores.json")
    assert (states.pop(damaged["run"]) == "damaged") == of_run
    assert list(states.values()) == ["scored"] * 2
    intact = list(states)
    assert main(["compare", *intact, "--storage", root]) == 0
    for word in (intact[0], "tiny/one/1"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ba\n")))
        assert main(["translate", word, "--storage", root]) == 0
    assert main(["runs", root, "--clean"]) == 0
    verified = 0 if kind in ("history", "other entries", "paths of a report") else 1
    assert main(["runs", root, "--verify"]) == verified
    capsys.readouterr()
    tracking = Tracking(uri=f"sqlite:///{tmp_path}/mlflow.db")
    assert Exporter(tracking, Store(root)).storage() > 0
    rows = tracked(f"sqlite:///{tmp_path}/mlflow.db")
    said = [state for _, state in rows.values() if state.startswith("damaged: ")]
    assert len(said) == (of_run or kind == "history")
    assert sum(
        "seed" in row and state == "finished" for row, (_, state) in rows.items()
    ) == 3 - len(said)
    assert main(["train", str(three_systems / "others.yaml"), "--storage", root]) == 0

    place = Path(damaged["run"]).relative_to(root)
    assert main(["runs", root, str(place), "--delete", "--yes"]) == 0
    assert not Path(damaged["run"]).exists() and all(map(Path.exists, map(Path, intact)))


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    """Run a command and return what it prints as JSON."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out))

"""NLI on the command line: training and labelling."""

from __future__ import annotations

import contextlib
import io
import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from augury.cli import main
from augury.corpora.corpus import LABELS

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(600)]

NOUNS, VERBS = ("cat", "dog", "bird", "fish"), ("runs", "sleeps", "sings", "eats", "waits")


def write_pairs(file: Path, count: int, seed: int) -> dict[str, str]:
    """Write premises with a verb, and hypotheses with the same verb, its negation or another
    verb."""
    drawn = random.Random(seed)
    lines = ["premise\thypothesis\tlabel"]
    for _ in range(count):
        noun, (verb, other), label = (
            drawn.choice(NOUNS),
            drawn.sample(VERBS, 2),
            drawn.choice(LABELS),
        )
        predicate = {"entailment": verb, "neutral": other, "contradiction": f"{verb} not"}[label]
        lines.append(f"the {noun} {verb} here\tit {predicate}\t{label}")
    file.write_text("".join(f"{line}\n" for line in lines))
    return {"file": str(file)}


def write_experiment(directory: Path) -> Path:
    content = {
        "name": "inference",
        "task": "nli",
        "storage": str(directory / "store"),
        "corpus": {
            "language": "en",
            "train": write_pairs(directory / "train.tsv", 800, 1),
            "valid": write_pairs(directory / "valid.tsv", 60, 2),
            "tests": {"test": write_pairs(directory / "test.tsv", 90, 3)},
        },
        "model": {
            "architecture": "tiny",
            "vocabulary_size": 60,
            "layers": 1,
            "hidden_size": 32,
            "dropout": 0,
        },
        "max_length": 24,
        "training": {"learning_rate": 0.004, "max_epochs": 12, "patience": 12},
        "execution": {"executor": "local", "launcher": "direct", "threads": 1},
        "tracking": {"enabled": False},
    }
    path = directory / "inference.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    directory = tmp_path_factory.mktemp("nli")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["train", str(write_experiment(directory)), "--json"]) == 0
    return SimpleNamespace(result=json.loads(printed.getvalue()), directory=directory)


def test_the_task_is_learned(trained: SimpleNamespace) -> None:
    (system,) = trained.result["systems"]
    accuracy = system["tests"]["test"]["accuracy"]
    assert accuracy["n"] == 90 and accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert accuracy["value"] > 55  # chance: 33
    page = Path(trained.result["page"]).read_text()
    assert "premise" in page and "entailment" in page


def test_translate_labels_standard_input(
    trained: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, *rows = (trained.directory / "test.tsv").read_text().splitlines()
    pairs = "".join(row.rpartition("\t")[0] + "\n" for row in rows)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(pairs.encode())))
    assert main(["translate", trained.result["runs"][0]]) == 0
    written = (Path(trained.result["runs"][0]) / "hypotheses" / "test.txt").read_text()
    assert capsys.readouterr().out == written and "contradiction\n" in written
    assert main(["translate", trained.result["runs"][0], "--beam", "2"]) == 2
    assert "runs of task nli have no decoding settings" in capsys.readouterr().err


def test_settings_without_effect_do_not_train_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """PGD with three steps of length 1 never leaves ε = 3, so that ε = 3 and no ε are the same
    run, as in sweeps."""
    path = str(write_experiment(tmp_path))
    short = ["--set", "training.max_epochs=1", "--json"]
    runs = []
    for regime in ("{name: adversarial, preset: paper}", "{name: adversarial, epsilon: null}"):
        assert (
            main(["train", path, "--set", f"regime={regime}", "--set", "baseline=false", *short])
            == 0
        )
        out, messages = capsys.readouterr()
        runs.append(json.loads(out)["runs"])
        if "preset" in regime:
            assert (
                "regime.epsilon has no effect: 3 steps of 1 cannot exceed it: nothing is projected"
                in messages
            )
    assert runs[0] == runs[1] and "found, not trained again" in messages

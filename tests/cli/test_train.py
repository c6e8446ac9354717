"""`augury train`: the output for runs with and without test sets, and for failed runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.experiments import running
from augury.experiments.run import Run
from augury.training.launch import Crashed

NOTE = "Synthetic text made by a grammar"
CONTENT = {
    "name": "toy",
    "task": "nmt",
    "baseline": False,
    "augment": [{"operator": "cipher", "keys": [1]}],
    "corpus": {"source_language": "de", "target_language": "en", "train": {"builtin": 60}, "valid": {"builtin": 6}},
    "vocabulary": {"size": 200, "size_per_key": 60},
    "regime": {"name": "coregularised"},
    "model": {
        "architecture": "tiny",
        "hidden_size": 16,
        "feedforward_size": 16,
        "attention_heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
    },
    "training": {"max_tokens": 300, "max_updates": 4, "validate_every": 2, "average_last": 1},
    "validation": {"sentences": 4},
    "decoding": {"beam": 1, "max_length": 12},
    "scoring": {"metrics": ["bleu"], "bootstrap_samples": 20},
    "execution": {"executor": "local", "launcher": "direct", "threads": 1},
    "tracking": {"enabled": False},
}

REVERSAL = """
import pyarrow as pa
from augury.augment.operator import Made, Operator

class Reversal(Operator):
    operator: str = "reversal"

    def bind(self, fitted, store):
        def apply(block):
            texts = [" ".join(reversed(text.split())) for text in block.column("source").to_pylist()]
            return Made(pa.table({"id": block.column("id"), "text": texts}))
        return apply

OPERATOR = Reversal
"""


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage shared by the tests of this file, so that the model is trained once."""
    return tmp_path_factory.mktemp("train")


def train(storage: Path, *flags: str, **changes: Any) -> int:
    """Train the toy experiment with changes; return the exit code."""
    path = storage / "toy.yaml"
    path.write_text(yaml.safe_dump({**CONTENT, "storage": str(storage / "store"), **changes}))
    return main(["train", str(path), *flags])


def test_without_test_sets_the_runs_and_their_validations_are_shown(
    storage: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(storage, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    (run,) = result["runs"]
    assert (result["tables"], result["answer"], result["page"], result["failures"]) == ([], None, None, [])
    best = result["validations"][run]
    assert set(best) == {"loss", "perplexity", "bleu"}
    assert train(storage) == 0
    header, _, line, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["system", "seed", "best", "loss", "best", "perplexity", "best", "BLEU", "run"]
    assert line.split() == ["toy", "1", f"{best['loss']:.2f}", f"{best['perplexity']:.2f}", f"{best['bleu']:.2f}", run]
    assert not (storage / "store" / "reports").exists()


def test_a_run_that_is_scored_again_describes_its_test_set(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    described = []
    for size in (3, 5):
        assert train(storage, "--json", "--set", f"corpus.tests={{news: {{builtin: {size}}}}}") == 0
        result = json.loads(capsys.readouterr().out)
        assert result["systems"][0]["tests"]["news"]["bleu"]["n"] == size
        described.append(json.loads((Path(result["runs"][0]) / "run.json").read_text()))
        written = yaml.safe_load((Path(result["runs"][0]) / "experiment.yaml").read_text())
        assert written["corpus"]["tests"]["news"]["builtin"] == size
    assert [[corpus["name"] for corpus in run["inputs"]] for run in described] == [["train", "valid", "news"]] * 2
    assert [run["inputs"][2]["rows"] for run in described] == [3, 5]
    assert [run["parameters"]["corpus.tests.news.builtin"] for run in described] == [3, 5]
    assert described[0]["inputs"][2]["address"] != described[1]["inputs"][2]["address"]


def test_systems_have_the_names_of_the_experiment(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = {**CONTENT["corpus"], "tests": {"news": {"builtin": 3}}}  # type: ignore[dict-item]
    assert train(storage, "--json", corpus=tests, systems={"CipherDAug": {}}) == 0
    out, error = capsys.readouterr()
    result = json.loads(out)
    assert result["systems"][0]["name"] == result["tables"][0]["rows"][0]["name"] == "CipherDAug"
    assert json.loads((Path(result["runs"][0]) / "run.json").read_text())["name"] == "toy"
    assert "update 4" not in error
    assert result["answer"].startswith("On news, CipherDAug reaches BLEU")


def test_training_with_an_operator_and_a_regime_by_path(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (storage / "reversal.py").write_text(REVERSAL)
    (storage / "twice.py").write_text(
        "from augury.regimes.multi_source import MultiSource\n\n"
        "class Twice(MultiSource):\n    name: str = 'twice'\n\nREGIME = Twice\n"
    )
    plugins = {"augment": [{"operator": str(storage / "reversal.py")}], "regime": str(storage / "twice.py")}
    runs = []
    for text in (REVERSAL, REVERSAL + "# changed"):
        (storage / "reversal.py").write_text(text)
        assert train(storage, "--json", **plugins) == 0
        runs += json.loads(capsys.readouterr().out)["runs"]
    described = json.loads((Path(runs[0]) / "run.json").read_text())
    assert (described["parameters"]["augment.0.operator"], described["parameters"]["regime.name"]) == (
        "reversal",
        "twice",
    )
    assert runs[0] != runs[1]
    kept = [path.read_text() for path in Path(runs[0]).glob("plugins/*/reversal.py")]
    assert kept == [REVERSAL] and len(list(Path(runs[0]).glob("plugins/*/twice.py"))) == 1


def test_all_output_notes_that_text_is_synthetic(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(storage) == 0
    assert capsys.readouterr().out.count(NOTE) == 1
    tests = ("--set", "corpus.tests={news: {builtin: 3}}")
    assert train(storage, *tests) == 0
    assert capsys.readouterr().out.count(NOTE) == 1
    assert train(storage, "--json", *tests) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["tables"][0]["notes"][-1].startswith(NOTE) and result["systems"][0]["notes"][0].startswith(NOTE)


def test_a_seed_whose_workers_crash_does_not_stop_the_others(
    storage: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    train_run = running.train

    def crashing(run: Run) -> bool:
        if run.seed == 1:
            raise Crashed("the workers failed 3 times")  # as the Ray Train launcher does
        return train_run(run)

    monkeypatch.setattr(running, "train", crashing)
    longer = ("--set", "training.max_updates=6", "--set", "seeds=[1, 2]")
    assert train(storage, "--json", *longer) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["failures"] == ["toy, seed 1 crashed: the workers failed 3 times"]
    assert list(result["systems"][0]["runs"]) == ["2"] and len(result["runs"]) == 1


def test_failures_are_reported_if_no_run_succeeds(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(storage, "--json", "--set", "training.learning_rate=1e30", "--set", "seeds=[1, 2]") == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["systems"], result["runs"], result["answer"]) == ([], [], None)
    assert [failure[: len("toy, seed 1 diverged:")] for failure in result["failures"]] == [
        "toy, seed 1 diverged:",
        "toy, seed 2 diverged:",
    ]


def test_training_on_an_object_store(
    storage: Path, remote: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augury.core.locks.POLL_SECONDS", 0.01)
    flags = ("--json", "--set", "storage=remote://bucket/store", "--set", "corpus.tests={news: {builtin: 3}}")
    assert train(storage, *flags) == 0
    first = json.loads(capsys.readouterr().out)
    (run,) = first["runs"]
    assert run.startswith("remote://bucket/store/runs/") and first["tables"][0]["rows"][0]["scores"]["bleu"]["n"] == 3
    assert train(storage, *flags) == 0
    out, error = capsys.readouterr()
    assert json.loads(out) == first and f"found, not trained again ({run})" in error

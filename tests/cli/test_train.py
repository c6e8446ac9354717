"""`augury train`: the output for runs with and without test sets, and for failed runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.experiments import trial
from augury.experiments.run import Run
from augury.training.trained import Crashed
from tests import tiny
from tests.cli.conftest import Augury, Done

pytestmark = pytest.mark.trains

TOY = {
    "name": "toy",
    "corpus": tiny.PARALLEL,
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": "coregularised",
    "training": {"max_tokens": 300, "max_updates": 4, "validate_every": 2, "average_last": 1},
    "scoring": {"metrics": ["bleu"], "bootstrap_samples": 20},
}
"""An experiment without test sets."""
REVERSAL = """
import pyarrow as pa
from augury.augment.operator import OperatorOutput, Operator

class Reversal(Operator):
    operator: str = "reversal"

    def bind(self, fitted, store):
        def apply(block):
            sources = block.column("source").to_pylist()
            texts = [" ".join(reversed(text.split())) for text in sources]
            return OperatorOutput(pa.table({"id": block.column("id"), "text": texts}))
        return apply

OPERATOR = Reversal
"""
TESTED = {"corpus.tests": {"news": {"builtin": 3}}}
"""The setting of a test set."""


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage shared by the tests of this file, so that the model is trained once."""
    return tmp_path_factory.mktemp("train")


Train = Callable[..., Done]


@pytest.fixture
def train(storage: Path, augury: Augury) -> Train:
    """Train the toy experiment, with changes and dotted settings."""

    def run(
        *flags: str, code: int = 0, settings: dict[str, Any] | None = None, **changes: Any
    ) -> Done:
        content = tiny.content("nmt", storage / "store", **TOY | changes)
        (storage / "toy.yaml").write_text(yaml.safe_dump(content))
        words = [f"--set={key}={json.dumps(value)}" for key, value in (settings or {}).items()]
        return augury("train", storage / "toy.yaml", *words, *flags, code=code)

    return run


def of_run(uri: str, name: str) -> Any:
    return yaml.safe_load((Path(uri) / name).read_text())


def test_without_test_sets_the_runs_and_their_validations_are_shown(
    storage: Path, train: Train
) -> None:
    result = train("--json").json
    (run,) = result["runs"]
    assert not any(result[key] for key in ("tables", "answer", "page", "failures"))
    best = result["validations"][run]
    assert set(best) == {"loss", "perplexity", "bleu"}
    _, _, line, *_ = train().out.splitlines()
    values = [f"{best[name]:.2f}" for name in ("loss", "perplexity", "bleu")]
    assert line.split() == ["toy", "1", *values, run]
    assert not (storage / "store" / "reports").exists()


def test_a_run_that_is_scored_again_describes_its_test_set(train: Train) -> None:
    described = []
    for size in (3, 5):
        result = train("--json", settings={"corpus.tests": {"news": {"builtin": size}}}).json
        assert result["systems"][0]["tests"]["news"]["bleu"]["n"] == size
        (run,) = result["runs"]
        described.append(of_run(run, "run.json"))
        written = of_run(run, "experiment.yaml")
        assert written["corpus"]["tests"]["news"]["builtin"] == size
        assert described[-1]["parameters"]["corpus.tests.news.builtin"] == size
        names = [corpus["name"] for corpus in described[-1]["inputs"]]
        assert names == ["train", "valid", "news"] and described[-1]["inputs"][2]["rows"] == size
    assert described[0]["inputs"][2]["address"] != described[1]["inputs"][2]["address"]


def test_training_with_an_operator_and_a_regime_by_path(storage: Path, train: Train) -> None:
    (storage / "twice.py").write_text(
        "from augury.regimes.multi_source import MultiSource\n\n"
        "class Twice(MultiSource):\n    name: str = 'twice'\n\nREGIME = Twice\n"
    )
    operator, regime = str(storage / "reversal.py"), str(storage / "twice.py")
    runs = []
    for text in (REVERSAL, REVERSAL + "# changed"):
        Path(operator).write_text(text)
        runs += train("--json", augment=[{"operator": operator}], regime=regime).json["runs"]
    parameters = of_run(runs[0], "run.json")["parameters"]
    assert (parameters["augment.0.operator"], parameters["regime.name"]) == ("reversal", "twice")
    assert runs[0] != runs[1]
    kept = [path.read_text() for path in Path(runs[0]).glob("plugins/*/reversal.py")]
    assert kept == [REVERSAL] and len(list(Path(runs[0]).glob("plugins/*/twice.py"))) == 1


def test_a_seed_whose_workers_crash_does_not_stop_the_others(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = trial.evaluate

    def crashing(run: Run) -> None:
        if run.seed == 1:
            raise Crashed("the workers failed 3 times")  # as the Ray Train launcher does
        score(run)

    monkeypatch.setattr(trial, "evaluate", crashing)
    longer = {"training.max_updates": 6, "seeds": [1, 2]}
    result = train("--json", settings=longer, code=1).json
    assert result["failures"] == ["toy, seed 1 failed: Crashed: the workers failed 3 times"]
    assert list(result["systems"][0]["runs"]) == ["2"] and len(result["runs"]) == 1


def test_further_seeds_extend_the_page_and_other_settings_replace_it(
    storage: Path, train: Train
) -> None:
    def page(**changes: Any) -> tuple[list[str], int]:
        settings = {"training.max_updates": changes.pop("updates", 4), **changes}
        result = train("--json", settings=TESTED | settings, name="paged").json
        assert result["page"] == str(storage / "store" / "reports/paged/index.html")
        return [*result["systems"][0]["runs"]], Path(result["page"]).stat().st_mtime_ns

    seeds, written = page()
    assert seeds == ["1"] and page() == (["1"], written)  # nothing new: the page is kept
    assert page(seeds=[2])[0] == page()[0] == ["1", "2"]
    assert page(seeds=[2], updates=6)[0] == ["2"] and page()[0] == ["1"]

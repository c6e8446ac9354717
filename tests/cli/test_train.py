"""`augury train`: the output for runs with and without test sets, and for failed runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.core.store import Store
from augury.experiments import trial
from augury.experiments.run import Run
from augury.sweeping.state import DEFINITION
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
    "scoring": {"metrics": ["bleu"]},
}
"""An experiment without test sets."""
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


def test_a_run_that_is_scored_again_describes_its_test_set(train: Train) -> None:
    for size in (3, 5):
        result = train("--json", settings={"corpus.tests": {"news": {"builtin": size}}}).json
        assert result["tables"][0]["rows"][0]["n"] == size
        (run,) = result["runs"]
        written, described = of_run(run, "experiment.yaml"), of_run(run, "run.json")
        assert written["corpus"]["tests"]["news"]["builtin"] == size
        assert described["parameters"]["corpus.tests.news.builtin"] == size
        names = [(corpus["name"], corpus["rows"]) for corpus in described["inputs"]]
        assert len(names) == 3 and names[2] == ("news", size)


def test_a_seed_whose_workers_crash_does_not_stop_the_others(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = trial.score_run

    def crashing(run: Run) -> None:
        if run.seed == 1:
            raise Crashed("the workers failed 3 times")  # as the Ray Train launcher does
        score(run)

    monkeypatch.setattr(trial, "score_run", crashing)
    longer = {"training.max_updates": 6, "seeds": [1, 2]}
    result = train("--json", settings=longer, code=1).json
    assert result["failures"] == ["toy, seed 1 failed: Crashed: the workers failed 3 times"]
    assert list(result["systems"][0]["runs"]) == ["2"] and len(result["runs"]) == 1


def test_the_page_shows_what_was_asked_for_and_is_kept_where_nothing_is_new(
    storage: Path, train: Train
) -> None:
    def page(**changes: Any) -> tuple[list[str], int]:
        settings = {"training.max_updates": changes.pop("updates", 4), **changes}
        result = train("--json", settings=TESTED | settings, name="paged").json
        assert result["page"] == str(storage / "store" / "reports/paged/index.html")
        return [*result["systems"][0]["runs"]], Path(result["page"]).stat().st_mtime_ns

    seeds, written = page()
    assert seeds == ["1"] and page() == (["1"], written)  # nothing new: the page is kept
    assert page(seeds=[1, 2])[0] == ["1", "2"] and page(seeds=[2], updates=6)[0] == ["2"]


def test_a_sweep_that_recommends_nothing_yet_is_told_from_a_missing_file(
    tmp_path: Path, augury: Augury
) -> None:
    folder = Store(tmp_path).folder("sweeps", "agreement-toy")
    folder.write_record(DEFINITION, {})
    file = folder.location("recommended.yaml")
    error = augury("train", file, code=2).error
    assert "sweep agreement-toy recommends nothing yet" in error

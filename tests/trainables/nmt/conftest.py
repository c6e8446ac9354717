"""Runs whose model has not learned anything, as training leaves them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.training.checkpoint import parameters
from tests import tiny
from tests.trainables.nmt import checkpoints
from tests.trainables.nmt.tuned import CORPUS, Make, content, finished
from trainables.nmt import TASK
from trainables.nmt.translation import Translation

Untrained = Callable[..., Run]


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Untrained:
    """Makes a run with random weights, not scored; the arguments change its experiment."""

    def make(**changes: Any) -> Run:
        root = tmp_path_factory.mktemp("untrained")
        tests = {"one": {"builtin": 5}, "two": {"builtin": 3}}
        cleaned = {"filter": {"lowercase": True, "unescape": True}}
        sections: dict[str, Any] = {
            "name": "toy",
            "corpus": {**CORPUS, "tests": tests, **cleaned},
            "model": {**tiny.OF_TASK["nmt"]["model"], "feedforward_size": 16},
            "scoring": {"metrics": ["bleu:lower", "chrf"]},
            "training": {"max_epochs": 5},
            "validation": {},
        }
        experiment: Any = tiny.experiment("nmt", root, **{**sections, **changes})
        run = prepare(experiment, Store(root))
        weights = parameters(Translation(run).module)
        for name, weight in weights.items():
            if "_proj." in name or ".fc" in name:  # larger, so that outputs depend on the source
                xavier = math.sqrt(6 / sum(weight.shape))
                weight *= name.endswith(".weight") * 2 * xavier / weight.abs().max().clamp(min=1e-9)
        return finished(run, weights)

    return make


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Writes the checkpoint of a family once."""
    root, written = tmp_path_factory.mktemp("checkpoints"), dict[str, str]()
    experiment = parse({**content(root, "none"), "model": {"architecture": "tiny"}})
    train = TASK.corpus(experiment, "train", Store(root))
    texts = [*train.column("source"), *train.column("target")]

    def write(family: str) -> str:
        if family not in written:
            written[family] = checkpoints.write(family, texts, root / family)
        return written[family]

    return write


@pytest.fixture
def prepared(checkpoint: Callable[[str], str], tmp_path: Path) -> Make:
    """Makes the run of a family, not trained."""

    def make(family: str, **changes: Any) -> Run:
        experiment = parse(content(tmp_path, checkpoint(family), **changes))
        TASK.check(experiment, Store(tmp_path))
        return prepare(experiment, Store(tmp_path))

    return make

"""Two tiny runs of one corpus, the second with a cipher."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Folder
from augury.sweeping.driver import run_experiment
from tests import tiny

SENTENCES = 40


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Folder]:
    storage: Path = tmp_path_factory.mktemp("analyses")
    experiment = tiny.experiment(
        "nmt",
        storage,
        corpus={**tiny.PARALLEL, "tests": {"test": {"builtin": SENTENCES}}},
        systems={
            "plain": {},
            "cipher": {"augment": [{"operator": "cipher", "keys": [1]}], "regime": "multi_source"},
        },
    )
    runs, failures, _ = run_experiment(experiment)
    assert not failures
    return [folder for seeds in runs.values() for folder in seeds.values()]

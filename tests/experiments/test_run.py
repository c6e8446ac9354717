"""A run as a value: written, read, sent to other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.run import Run, describe
from tests import tiny

VIEW_AND_RECORDS = {
    "augment": [
        {"operator": "cipher", "keys": [1]},
        {"operator": "eda", "copies": 1},
        {"operator": "word_drop", "tau": 0.5},
    ],
    "regime": "multi_source",
    "training": {"preset": "released_code", "max_tokens": 400, "max_epochs": 2},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    storage = tmp_path_factory.mktemp("run")
    return prepare(tiny.experiment("nmt", storage, **VIEW_AND_RECORDS), Store(storage))


def test_a_run_is_read_as_it_was_written(run: Run) -> None:
    described = run.with_seed(7)
    assert described.folder.name == f"runs/{run.address}/seed-7" and run.seed == 1
    describe(described, "tiny")
    assert Run.read(described.folder) == described != run
    assert set(run.views) == {"rot-1"} and set(run.records) == {"eda"} and run.tests == ["test"]
    assert run.corpus("train").rows == 60


def test_another_process_has_the_same_run(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run"
    file.write_bytes(pickle.dumps(run))
    code = (
        "import pickle, sys; from pathlib import Path; run = "
        "pickle.loads(Path(sys.argv[1]).read_bytes()); "
        "Path(sys.argv[1]).write_bytes(pickle.dumps(run)); print(type(run.experiment).__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "trainables.nmt.config"
    assert pickle.loads(file.read_bytes()) == run


def test_a_folder_of_another_version_is_refused(run: Run) -> None:
    folder = run.with_seed(8).folder
    with pytest.raises(UserError, match="is not a run: give the folder of a seed"):
        Run.read(folder)
    content = run.to_dict()
    del content["fits"]
    folder.write_record("run.json", {"run": content})
    with pytest.raises(
        UserError, match=r"another version of Augury \(it has no fits\).* train it again"
    ):
        Run.read(folder)

"""A run as a value: written, read, sent to other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

from augury.experiments.run import Run, describe
from tests import tiny

VIEW_AND_RECORDS = {
    "augment": [
        {"operator": "cipher", "keys": [1]},
        {"operator": "eda", "copies": 1},
    ],
    "regime": "multi_source",
    "training": {"preset": "released_code", "max_tokens": 400, "max_epochs": 2},
}


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    """And by another process that it is sent to."""
    made = tiny.prepared("nmt", tmp_path, **VIEW_AND_RECORDS)
    described = made.with_seed(7)
    assert described.folder.name == f"runs/{made.address}/seed-7" and made.seed == 1
    describe(described, "tiny")
    assert Run.read(described.folder) == described != made
    assert set(made.views) == {"rot-1"} and set(made.records) == {"eda"} and made.tests == ["test"]
    assert made.corpus("train").rows == 60
    sent = pickle.loads(pickle.dumps(made))
    assert sent == made and type(sent.experiment) is type(made.experiment)

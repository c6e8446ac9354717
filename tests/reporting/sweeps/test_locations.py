from __future__ import annotations

from typing import Any

import pytest

from augury.core.naming import command, mlflow_command
from augury.reporting.sweeps.locations import locations
from augury.tracking.export import LEVEL


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def test_where_it_lies(sweeps: Any) -> None:
    sweeps.configuration({"regime.beta": 1})
    sweep = sweeps.load()
    root = sweeps.results.store.root
    assert locations(sweep) == {
        "storage": root,
        "sweep": f"{root}/sweeps/beta",
        "MLflow": mlflow_command(f"sqlite:///{root}/mlflow.db"),
        "in MLflow": f"tags.augury.sweep = 'beta' and tags.{LEVEL} = 'configuration'",
    }
    sweeps.folder.sub("tune").write("events", b"")
    assert locations(sweep)["TensorBoard"] == command(
        "tensorboard", "--logdir", f"{root}/sweeps/beta/tune"
    )


def test_a_server_and_no_server(sweeps: Any) -> None:
    address = sweeps.configuration({"regime.beta": 1})
    sweeps.trial(address, 1, [30], parameters={"tracking.uri": "http://server:5000"})
    assert locations(sweeps.load())["MLflow"] == "http://server:5000"
    sweeps.trial(address, 1, [30], parameters={"tracking.enabled": False})
    assert list(locations(sweeps.load())) == ["storage", "sweep"]

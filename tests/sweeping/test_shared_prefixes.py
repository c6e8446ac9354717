"""A sweep over what follows a warm-up trains the warm-up once, with the results of one that does
not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.sweeping import plan, state
from tests.sweeping.sweeps import decisions, results, sweep

SPACE = """
from augury.sweeping.declarations import SearchSpace
from tests.sweeping.quick import BASE

SPACE = SearchSpace(
    question="Does the weight of agreement matter after a long warm-up?",
    base={**BASE, "regime": {"name": "coregularised", "warmup_steps": 20}},
    keys={"regime.beta": [0, 1, 5]},
    metric="valid/loss",
    mode="min",
    seeds=(1, 2),
)
"""

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow, pytest.mark.long]


@pytest.fixture(params=["all", "race"])
def flags(request: Any) -> tuple[str, ...]:
    """The rung of a race comes with 16 updates, within the warm-up."""
    return "--scheduler", request.param, "--seeds", "1", "2", "--set", "training.max_updates=32"


def test_it_ends_as_without_a_common_beginning(
    tmp_path: Path, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    space, shared, alone = (tmp_path / name for name in ("space.py", "shared", "alone"))
    space.write_text(SPACE)
    line = (*flags, "--executor", "local")
    sweep(shared, *line, space=str(space))
    monkeypatch.setattr(plan, "share_beginnings", lambda options, plan: None)
    sweep(alone, *line, space=str(space))
    assert decisions(shared) == decisions(alone)
    assert results(shared) == results(alone)
    assert len(_complete(shared)) > len(_complete(alone)) == len(results(alone))


@pytest.mark.usefixtures("local_ray")
def test_on_ray_it_is_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
    space, local, ray = (tmp_path / name for name in ("space.py", "local", "ray"))
    space.write_text(SPACE)
    sweep(local, *flags, "--executor", "local", space=str(space))
    sweep(ray, *flags, "--executor", "ray", space=str(space))
    assert decisions(ray) == decisions(local)
    assert results(ray) == results(local)
    assert state.load(Store(ray), "quick").count("failed") == 0


def _complete(storage: Path) -> list[Path]:
    return [*storage.glob("runs/*/seed-*/_COMPLETE")]

from __future__ import annotations

import os
from typing import Any

import pytest

from augury.errors import UserError
from augury.execution import LocalExecutor, RayExecutor, choose
from augury.progress import Stage


def squares() -> Any:
    return lambda number: number * number


@pytest.mark.slow
def test_both_executors_give_results_in_the_order_of_the_items(local_ray: Any) -> None:
    items = list(range(23))
    for executor in (LocalExecutor(), RayExecutor()):
        with Stage("squares", len(items)) as stage:
            assert executor.map(squares, items, stage) == [item * item for item in items]
        assert stage.done == 23


def complaining() -> Any:
    def task(number: int) -> int:
        raise UserError("key 3 leaves the text unchanged")

    return task


@pytest.mark.slow
def test_a_user_error_on_ray_is_one_here(local_ray: Any) -> None:
    with pytest.raises(UserError, match="key 3 leaves"), Stage("tasks", 2) as stage:
        RayExecutor().map(complaining, [1, 2], stage)


def test_auto_says_what_it_chose_and_why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert choose("auto", 1.0, "augment").name == "local"
    assert "augment: executor local (about 1.0 s of one core's work)" in capsys.readouterr().err
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert choose("auto", 1.0, "augment").name == "ray"
    assert "a cluster is given" in capsys.readouterr().err


def test_auto_takes_ray_for_much_work_on_many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    assert choose("auto", 300.0, "augment").name == "ray"
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert choose("auto", 300.0, "augment").name == "local"
    assert choose("ray", 0.0, "augment").name == "ray"

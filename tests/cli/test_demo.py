"""`augury demo` is a sweep of `augmentations` on a shipped experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.cli import demo, main, sweep, verbs
from augury.core.errors import UserError
from augury.sweeping.plan import Plan


def planned(*words: str) -> Plan:
    return sweep.make_plan(*sweep.prepare(verbs.parser("sweep", words).parse_args(words)))


@pytest.mark.parametrize("task", demo.ROWS)
def test_its_rows_are_compared_with_the_baseline(task: str, tmp_path: Path) -> None:
    words = demo.sweep_of(task, str(tmp_path), ["corpus.train.builtin=50"])
    plan = planned(*words)
    assert not plan.left_out and not plan.merged
    names = [planned.name for planned in plan.configurations.values()]
    assert names == ["baseline", *demo.ROWS[task]]
    assert plan.space.seeds == (1,)
    assert plan.base().corpus.train.builtin == 50  # type: ignore[attr-defined]
    assert plan.store.root == str(tmp_path)


def test_seeds_can_be_set(tmp_path: Path) -> None:
    assert planned(*demo.sweep_of("nmt", str(tmp_path), ["seeds=[3]"])).space.seeds == (3,)


def test_rows_of_a_sweep_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = demo.sweep_of("nmt", str(tmp_path))[:2]
    rows = ["--storage", str(tmp_path), "--rows"]
    names = planned(*words, *rows, "RAML", "PGD 0.01").configurations.values()
    assert [configuration.name for configuration in names] == ["baseline", "RAML", "PGD 0.01"]
    assert main(["sweep", *words, *rows, "RALM", "--dry-run"]) == 2
    assert "did you mean 'RAML'" in capsys.readouterr().err
    with pytest.raises(UserError, match="leaves nothing to compare with baseline"):
        planned(*words, *rows, "baseline")

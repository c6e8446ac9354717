"""What the flags of `augury sweep` and `augury demo` describe, without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from augury.cli import demo, sweep, verbs
from augury.cli.common import without_storage
from augury.sweeping.budget import make_plan
from tests import tiny
from tests.cli.conftest import Augury


def test_what_is_set_acts_as_the_flag_does(tmp_path: Path) -> None:
    content = tiny.content("nmt", tmp_path / "other", seeds=[1], baseline=False)
    content |= {"augment": [{"operator": "cipher", "keys": [1]}], "regime": "coregularised"}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(content))
    words = ["agreement", str(tmp_path / "my.yaml"), "--set", f"storage={tmp_path}/here"]
    words += ["--set", "seeds=[5, 7]", "--set", "name=mine"]
    _, options = sweep.prepare(verbs.parser("sweep", words).parse_args(words))
    assert (options.storage, options.seeds, options.name) == (f"{tmp_path}/here", (5, 7), "mine")
    assert not options.assignments


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("agreement --set storage=a --storage b", "storage"),
        ("augmentations my.yaml --set training.max_epohcs=4", "--set training.max_epohcs"),
        ("augmentations missing.yaml --budget 15", "--budget '15'"),  # before anything is read
        ("augmentations my.yaml --rows RALM", "did you mean 'RAML'"),
        ("augmentations my.yaml --rows baseline", "leaves nothing to compare with baseline"),
    ],
)
def test_what_cannot_act_is_refused(
    words: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, augury: Augury
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(yaml.safe_dump(tiny.content("nmt", tmp_path / "store")))
    error = augury("sweep", *words.split(), "--dry-run", code=2).error
    assert named in error and error.count("augury: ") == 1, error


def test_rows_that_are_named_are_all_besides_a_reference_that_is_a_point(tmp_path: Path) -> None:
    space = {"question": "Does it?", "base": {}, "metric": "valid/loss", "seeds": [1]}
    space |= {"keys": {"regime.beta": [0, 5]}, "reference": {"regime.tau": 1}}
    space["rows"] = {"a": {"regime.tau": 2}, "b": {"regime.tau": 3}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(space))
    words = [str(tmp_path / "mine.yaml"), "--rows", "b"]
    asked, _ = sweep.prepare(verbs.parser("sweep", words).parse_args(words))
    assert list(asked.rows) == ["b"] and not asked.keys
    assert asked.reference == {"regime.tau": 1}


@pytest.mark.parametrize("given", ["--set storage=a", "--set=storage=a", "--storage a"])
def test_a_command_is_stored_without_its_storage(given: str) -> None:
    kept = without_storage(f"augury sweep agreement --set seeds=[1] {given} --json")
    assert kept == "augury sweep agreement --set 'seeds=[1]' --json"


@pytest.mark.parametrize("task", demo.ROWS)
def test_the_rows_of_a_demo_are_compared_with_the_baseline(task: str, tmp_path: Path) -> None:
    words = demo.sweep_of(task, str(tmp_path), ["corpus.train.builtin=50", "seeds=[3]"])
    plan = make_plan(*sweep.prepare(verbs.parser("sweep", words).parse_args(words)))
    assert not plan.left_out and not plan.merged
    names = [planned.name for planned in plan.configurations.values()]
    assert names == ["baseline", *demo.ROWS[task]] and plan.space.seeds == (3,)
    assert plan.base().corpus.train.builtin == 50  # type: ignore[attr-defined]
    assert plan.store.root == str(tmp_path)

"""What the flags of `augury sweep` and `augury demo` describe, without running anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import demo, sweep, verbs
from augury.core.store import Store
from augury.experiments.recording import unrecorded
from augury.sweeping import sweep as sweeps
from augury.sweeping.budget import make_plan
from tests import tiny
from tests.cli.conftest import Augury


def prepared(folder: Path, *flags: str, **sections: Any) -> tuple[Any, Any]:
    """Return the space and the options of a sweep of the augmentations of a small experiment."""
    file = folder / "my.yaml"
    file.write_text(yaml.safe_dump(tiny.content("nli", folder / "store", **sections)))
    words = ["augmentations", str(file), "--rows", "R-Drop", *flags]
    return sweep.prepare(verbs.parser("sweep", words).parse_args(words))


@pytest.mark.parametrize("experiment", [True, False])
def test_what_is_set_acts_as_the_flag_does(tmp_path: Path, experiment: bool) -> None:
    words = ["agreement", "--set", f"storage={tmp_path}/here", "--set", "seeds=[5, 7]"]
    words += ["--set", "name=mine"]
    if experiment:
        content = tiny.content("nmt", tmp_path / "other", seeds=[1])
        content |= {"augment": [{"operator": "cipher", "keys": [1]}], "baseline": False}
        content |= {"regime": {"name": "coregularised"}}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content))
        words[1:1] = [str(tmp_path / "my.yaml")]
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


@pytest.mark.parametrize(("named", "later"), [((), True), (("R-Drop", "WordDrop"), False)])
def test_only_rows_that_are_named_are_trained(
    named: tuple[str, ...], later: bool, tmp_path: Path
) -> None:
    space, options = prepared(tmp_path, "WordDrop")
    store = Store(options.storage)
    race = sweeps._Driver(
        space,
        replace(options, rows=named),
        unrecorded,
        lambda *_: None,
        store,
        store.folder("sweeps", "test"),
    )
    race.plan = make_plan(space, options)
    planned = len(race.plan.configurations)
    scheduler = race._scheduler()
    while work := scheduler.work():
        scheduler.tell(work[0].configuration, work[0].seed, 0.5)
    assert (len(race.plan.configurations) > planned) == later


@pytest.mark.parametrize("task", demo.ROWS)
def test_the_rows_of_a_demo_are_compared_with_the_baseline(task: str, tmp_path: Path) -> None:
    words = demo.sweep_of(task, str(tmp_path), ["corpus.train.builtin=50", "seeds=[3]"])
    plan = make_plan(*sweep.prepare(verbs.parser("sweep", words).parse_args(words)))
    assert not plan.left_out and not plan.merged
    names = [planned.name for planned in plan.configurations.values()]
    assert names == ["baseline", *demo.ROWS[task]] and plan.space.seeds == (3,)
    assert plan.base().corpus.train.builtin == 50  # type: ignore[attr-defined]
    assert plan.store.root == str(tmp_path)

"""Experiments as they are written: systems, faults and their lines, defaults. Whatever a setting
is set to, it is taken or refused as an error of the user's."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from augury.core import config
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.experiments.systems import expand, load
from tests import tiny

BASE: dict[str, Any] = {
    "name": "toy",
    "task": "nmt",
    "corpus": tiny.PARALLEL,
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "beta": 2},
}
SHIPPED = sorted((Path(__file__).parents[2] / "search_spaces" / "experiments").glob("*.yaml"))


def test_the_plain_baseline_stands_beside_the_system() -> None:
    compared: Any = expand(parse(BASE))
    assert list(compared) == ["baseline", "toy"]
    assert compared["baseline"].augment == () and compared["baseline"].regime.name == "plain"
    assert compared["toy"].regime.beta == 2
    assert list(expand(parse({**BASE, "baseline": False}))) == ["toy"]


def test_systems_differ_by_their_dotted_keys_and_presets() -> None:
    systems = {
        "plain": {"regime": "plain", "augment": []},
        "stronger": {"regime.beta": 7},
        "code": {"training.preset": "released_code", "regime.preset": "released_code"},
    }
    compared: Any = expand(parse({**BASE, "systems": systems}))
    assert list(compared) == ["plain", "stronger", "code"]
    assert compared["stronger"].regime.beta == 7 and len(compared["stronger"].augment) == 1
    warm_ups = [system.training.warmup_updates for system in compared.values()]
    assert warm_ups == [8000, 8000, 6000]
    assert compared["code"].regime.warmup_views == "cipher" and compared["code"].regime.beta == 2


def test_a_preset_replaces_that_of_the_file() -> None:
    """With its values, in systems and stages; what the file says itself stays."""
    regime = {"name": "coregularised", "preset": "low_resource", "tau": 3}
    training = {"preset": "released_code", "patience": 3}
    other = {"training.preset": "paper", "regime.preset": "paper"}
    content = {**BASE, "regime": regime, "training": training}
    systems: Any = expand(parse({**content, "systems": {"plain": {}, "other": other}}))
    assert systems["plain"].training.max_tokens == 5000 and systems["plain"].regime.beta == 1
    staged = expand(parse({**content, "stages": {"then": other}}))
    for changed in (systems["other"], last(staged)):
        assert (changed.training.max_tokens, changed.training.patience) == (4096, 3)
        assert (changed.regime.beta, changed.regime.tau) == (5, 3)


def last(systems: Mapping[str, Any]) -> Any:
    return [*systems.values()][-1]


def test_models_of_operators_are_plain_in_all_stages() -> None:
    text = {"language": "qab", "train": {"builtin": 9}}
    content = {**BASE, "regime": "plain", "stages": {"tune": {"training.max_updates": 2}}}
    content["augment"] = [{"operator": "back_translation", "monolingual": text}]
    (models,) = last(expand(parse(content))).models
    translator = models["translator"]
    assert translator.stage and not translator.augment and not translator.before.augment


def test_a_regime_of_views_may_be_shared_by_systems_that_make_them() -> None:
    cipher = {"augment": [{"operator": "cipher", "keys": [1]}]}
    systems = {"plain": {"regime": "plain"}, "cipher": cipher}
    assert expand(parse({**BASE, "augment": [], "systems": systems}))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_are_valid(path: Path) -> None:
    assert expand(load(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "nmtt"}, "unknown task 'nmtt': did you mean 'nmt'?"),
        ({"regim": 1}, "unknown key 'regim': did you mean 'regime'?"),
        ({"augment": []}, "needs views, and the experiment has none"),
        ({"stages": {"first": {}}}, "'first' is no name of a stage"),
        ({"seeds": 3}, r"for 3 seeds write \[1, 2, 3\], for the single seed 3 \[3\]"),
        ({"regime.beta": -1}, "beta = -1: must be at least 0"),
    ],
)
def test_what_no_run_can_have_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(config.merge(BASE, change))


TEXT = "train: {builtin: 9}, valid: {builtin: 9}"
PAIRS = f"{{source_language: qaa, target_language: qab, {TEXT}}}"
HEAD = ["name: x", "task: nmt", f"corpus: {PAIRS}"]
"""The first lines of an experiment file."""


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def places(error: pytest.ExceptionInfo[UserError]) -> list[str]:
    """Where an error says that the faults are."""
    _, *faults = str(error.value).splitlines()
    return [fault.partition(": ")[0].strip() for fault in faults]


def test_faults_have_the_line_of_the_file_or_the_override(tmp_path: Path) -> None:
    path = write(
        tmp_path / "toy.yaml",
        "name: toy",
        "task: nmt",
        "corpus:",
        "  source_language: german",
        "  target_language: en",
        "  train: {builtin: 0}",
        "seeds: 3",
        "regime: {name: coregularised, betta: 1}",
    )
    with pytest.raises(UserError, match=str(path)) as error:
        load(path, {"training.max_tokens": "x", "training.max_updates": "y"})
    assert sorted(places(error)) == [
        *("--set training.max_tokens", "--set training.max_updates"),
        *("line 4", "line 6", "line 7", "line 8"),
    ]


def test_faults_name_the_file_that_holds_the_line(tmp_path: Path) -> None:
    """A value of the base, one of the file, and one key of the base that is right."""
    base = ["training:", "  max_tokens: -1", "  patience: 0", "  workers: 1"]
    write(tmp_path / "base.yaml", *HEAD[1:], *base)
    mine = ["extends: base.yaml", "name: mine"]
    path = write(tmp_path / "mine.yaml", *mine, "training:", "  patience: x")
    with pytest.raises(UserError, match=str(path)) as error:
        load(path)
    assert places(error) == [f"{tmp_path}/base.yaml, line 4", "line 4"]
    write(path, *mine, "training: {max_tokens: 9, patience: 7}")
    loaded = load(path, {"training.patience": 8, "seeds": [4, 5]})
    assert (loaded.training.max_tokens, loaded.training.patience) == (9, 8)
    assert list(loaded.seeds) == [4, 5]
    with pytest.raises(UserError, match="needs 'task:'"):
        load(path, {"task": None})


def test_views_that_nobody_reads_are_refused() -> None:
    with pytest.raises(UserError, match="does not read the view rot-1: leave its operator out"):
        parse({**BASE, "regime": "plain"})


def test_defaults_of_training_follow_whether_a_model_starts_from_nothing(tmp_path: Path) -> None:
    scratch = tiny.content("nli", tmp_path)
    scratch.pop("training")
    pretrained = {key: value for key, value in scratch.items() if key != "model"}
    tuned, learned = parse(pretrained).training, parse(scratch).training
    assert learned.learning_rate > 5 * tuned.learning_rate
    both = {**pretrained, "systems": {"tuned": {}, "learned": {"model": scratch["model"]}}}
    assert [system.training for system in expand(parse(both)).values()] == [tuned, learned]


BAD: tuple[Any, ...] = (10**18, -1, float("inf"), "", "a\0b", True, None, [], {"": 1})
OPERATORS = {
    "nmt": ({"operator": "cipher", "keys": [1]}, {"operator": "raml"}),
    "nli": ({"operator": "eda"}, {"operator": "noise", "spelling": 0.1}, {"operator": "semantic"}),
}
REGIME = {"nmt": "coregularised", "nli": "adversarial"}
ALLOCATING = re.compile(r"builtin|lexicon|size|layers|positions|copies|samples|threads|^steps")
"""In the names of settings of which a large value takes memory or an age."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every section, item and value below one."""
    children = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list) and value and isinstance(value[0], dict):
        children = enumerate(value)
    for key, child in children:
        yield from paths(child, (*path, key))
    if path:
        yield path


def with_value(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    content = copy.deepcopy(content)
    section: Any = content
    for key in path[:-1]:
        if isinstance(section, dict) and not isinstance(section.get(key), dict | list):
            section[key] = {}
        section = section[key]
    section[path[-1]] = value
    return content


@pytest.mark.parametrize("task", OPERATORS)
def test_bad_values_are_errors_of_the_user(task: str, tmp_path: Path) -> None:
    changes = {"augment": list(OPERATORS[task]), "regime": {"name": REGIME[task]}}
    content = tiny.content(task, tmp_path, **changes)
    (experiment,) = expand(parse(content)).values()
    resolved = experiment.model_dump(mode="json")
    content["augment"] = resolved["augment"]
    settings = [path for path in paths(resolved) if path[0] not in ("systems", "stages")]
    for place, path in enumerate(settings):
        for value in BAD[place % 3 :: 3]:  # each setting a third of them
            with suppress(UserError):
                expand(parse(with_value(content, path, value)))
        if ALLOCATING.search(str(path[-1])):
            with pytest.raises(UserError):
                expand(parse(with_value(content, path, 10**18)))

"""Search spaces in YAML: equal to those in Python, domains, and errors with their lines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Store
from augury.sweeping import plan, space
from augury.sweeping.plan import SweepOptions
from tests import tiny

MINIMAL = """question: Does it help?
base: {name: x, task: nmt}
keys:
  regime.beta: [0, 5]
metric: valid/bleu
seeds: [1, 2]
"""


def write(folder: Path, text: str, name: str = "mine.yaml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_it_is_what_the_same_space_in_python_is(tmp_path: Path) -> None:
    python = """from augury.sweeping.declarations import SearchSpace

SPACE = SearchSpace(
    question="Does it help?", base={"name": "x", "task": "nmt"}, keys={"regime.beta": [0, 5]},
    metric="valid/bleu", mode="max", seeds=(1, 2),
)
"""
    of_yaml, of_python = (
        space.find(write(tmp_path, text, name))
        for text, name in ((MINIMAL, "mine.yaml"), (python, "mine.py"))
    )
    assert replace(of_yaml, declared=of_python.declared) == of_python


def test_small_values_of_a_loss_are_the_best(tmp_path: Path) -> None:
    text = MINIMAL.replace("valid/bleu", "valid/loss")
    assert space.find(write(tmp_path, text)).mode == "min"
    assert space.find(write(tmp_path, text + "mode: max\n")).mode == "max"


def test_domains_are_those_of_ray_tune(tmp_path: Path) -> None:
    text = MINIMAL.replace(
        "[0, 5]", "{loguniform: [0.1, 10]}\n  regime.tau: {choice: [1, 2]}\n  seeds.x: [1]"
    )
    found = space.find(write(tmp_path, text))
    drawn = space.sample(found, samples=20)
    assert found.search == "random" and len({point["regime.beta"] for point in drawn}) == 20
    assert all(0.1 <= point["regime.beta"] <= 10 for point in drawn)
    assert {point["regime.tau"] for point in drawn} == {1, 2}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("question:", "querstion:", "line 1: unknown key 'querstion': did you mean 'question'"),
        ("[0, 5]", "{loguniforn: [1, 2]}", "line 4: regime.beta: .*did you mean 'loguniform'"),
        ("[0, 5]", "{loguniform: 1}", "line 4: regime.beta is .*one domain with its arguments"),
        ("[0, 5]", "{uniform: [1, 2, 3]}", "line 4: regime.beta: uniform"),
        ("[1, 2]", "[]", "line 6: seeds"),
        ("{name: x, task: nmt}", "nowhere.yaml", "no experiment file"),
    ],
)
def test_faults_have_their_lines(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, MINIMAL.replace(before, after)))


def test_an_experiment_is_no_space(tmp_path: Path) -> None:
    path = write(tmp_path, "name: x\ntask: nmt\ncorpus: {}\n")
    with pytest.raises(UserError, match=f"sweep augmentations {path}$"):
        space.find(path)


def test_its_plan_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a bare file name, on an experiment file beside it."""
    monkeypatch.chdir(tmp_path)
    experiment = tiny.experiment("nmt", tmp_path / "store").model_dump(
        mode="json", exclude_unset=True
    )
    Path("my.yaml").write_text(yaml.safe_dump(experiment))
    keys = "keys:\n  training.learning_rate: [0.001, 0.002]\n"
    text = MINIMAL.partition("keys:")[0].replace("{name: x, task: nmt}", "my.yaml") + keys
    write(tmp_path, text + "metric: valid/bleu\nseeds: [1]\n")
    assert main(["sweep", "mine.yaml", "--dry-run", "--storage", "store", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["question"] == "Does it help?" and len(plan["configurations"]) == 2


def test_its_relative_paths_begin_at_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "spaces"
    folder.mkdir()
    content = tiny.content("nmt", tmp_path / "store", regime="multi_source", baseline=False)
    write(folder, yaml.safe_dump(content), "base.yaml")
    code = (
        "from augury.augment.cipher import Cipher\n\nclass Own(Cipher):\n    operator: str = 'own'"
    )
    write(folder, f"{code}\n\nOPERATOR = Own\n", "own.py")
    fields = {
        "question": "Which key?",
        "base": "base.yaml",
        "keys": {"augment": [[{"operator": "./own.py", "keys": [key]}] for key in (1, 2)]},
        "metric": "valid/bleu",
        "seeds": [1],
    }
    write(folder, yaml.safe_dump(fields))
    found = space.find("spaces/mine.yaml")
    options = SweepOptions(str(tmp_path / "store"), "x", (1,), "all", "grid")
    planned = plan.of_options(found, options, Store(tmp_path / "store")).configurations.values()
    operators = [configuration.experiment.augment[0] for configuration in planned]
    assert [operator.to_dict()["keys"] for operator in operators] == [[1], [2]]
    assert {type(operator).__name__ for operator in operators} == {"Own"}


def test_what_lies_in_a_storage_is_no_base(tmp_path: Path) -> None:
    stored = tmp_path / "results" / "sweeps" / "x"
    stored.mkdir(parents=True)
    write(stored, "{}", "sweep.json")
    write(stored, yaml.safe_dump(tiny.content("nmt", tmp_path)), "recommended.yaml")
    base = "results/sweeps/x/recommended.yaml"
    text = MINIMAL.replace("{name: x, task: nmt}", base)
    with pytest.raises(UserError, match=base):
        space.find(write(tmp_path, text))

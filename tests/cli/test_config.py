"""`augury config`: the preflight, `--syntax`, and the JSON Schema."""

from __future__ import annotations

import copy
import json
import shlex
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from augury.cli import main
from augury.cli.config import json_schema

SHIPPED = Path(__file__).parents[2] / "search_spaces" / "experiments"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An experiment on ten pairs, one of which is filtered, without test sets."""
    sentences = [f"das Haus {number} geht gern" for number in range(10)]
    (tmp_path / "a.de").write_text("\n".join(sentences) + "\n")
    (tmp_path / "a.en").write_text("\n".join([*sentences[:9], "no"]) + "\n")
    path = tmp_path / "toy.yaml"
    path.write_text(
        f"name: toy\ntask: nmt\nstorage: {tmp_path}/store\nseeds: [1, 2]\naugment: "
        f"[{{operator: cipher, keys: [1]}}]\n"
        "regime: coregularised\ncorpus:\n  source_language: de\n  target_language: en\n  every: 3\n"
        "  filter: {max_ratio: 1.5}\n"
        f"  train: {{source: {tmp_path}/a.de, target: {tmp_path}/a.en}}\n"
    )
    return path


def test_it_states_the_addresses_that_are_trained(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setting without effect changes none."""

    def addresses(form: str, *settings: str) -> list[str]:
        assert main(["config", str(path), f"--{form}", "--json", *settings]) == 0
        content = json.loads(capsys.readouterr().out)
        if form == "resolved":
            return [system["address"] for system in content.values()]
        return list(dict.fromkeys(node["step"][0] for node in content))

    idle = ("--set", "training.warmup_share=0.1", "--set", "training.warmup_updates=17")
    assert addresses("resolved", *idle) == addresses("graph", *idle)
    assert addresses("resolved", *idle) == addresses("resolved", *idle[:2])


def test_it_states_the_shares_of_labels_and_what_the_largest_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, often in (("train", 12), ("valid", 9), ("test", 7)):
        rows = [f"a film {row}\t{'good' if row < often else 'bad'}" for row in range(12)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["text\tlabel", *rows, "x\tbad\n"]))
    texts = {name: {"file": f"{tmp_path}/{name}.tsv"} for name in ("train", "valid", "test")}
    content = {
        "name": "toy",
        "task": "classification",
        "storage": f"{tmp_path}/store",
        "corpus": {
            "language": "en",
            "labels": ["good", "bad"],
            "train": texts["train"],
            "valid": texts["valid"],
            "tests": {"test": texts["test"]},
        },
        "model": {"architecture": "tiny"},
    }
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(content))
    assert main(["config", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [text["labels"] for text in facts["texts"]] == [
        {"good": 12, "bad": 1},
        {"good": 9, "bad": 4},
        {"good": 7, "bad": 6},
    ]
    (note,) = [caution for caution in facts["cautions"] if "always answering" in caution]
    assert "valid are 'good'" in note and "accuracy 69.2, macro F1 40.9" in note
    assert main(["config", str(path)]) == 0
    assert "labels of train: good 92.3 %, bad 7.7 %" in capsys.readouterr().out


def test_it_reports_texts_runs_and_cost(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["systems"], facts["seeds"], facts["runs"], facts["test_sets"]) == (
        ["baseline", "toy"],
        [1, 2],
        4,
        [],
    )
    assert [(text["name"], text["rows_in"], text["rows"]) for text in facts["texts"]] == [
        ("train", 10, 6),
        ("valid", 10, 3),
    ]
    assert [
        (entry["reason"], entry["rows"], entry["setting"])
        for entry in facts["texts"][0]["left_out"]
    ] == [
        ("ratio", 1, "corpus.filter.max_ratio"),
        ("held out", 3, "corpus.every"),
    ]
    cost = facts["cost"]["by_system"]
    assert facts["cost"]["seconds"] == pytest.approx(
        2 * (cost["baseline"]["seconds"] + cost["toy"]["seconds"]) / facts["cost"]["at_once"]
    )
    assert len(facts["cautions"]) == 1
    assert main(["config", str(path)]) == 0
    shown = capsys.readouterr().out
    for text in (
        "2 systems (baseline, toy) × 2 seeds = 4 runs",
        "a.en, line 10: das Haus 9 geht gern | no",
        "cost",
    ):
        assert text in shown


@pytest.mark.parametrize(("epochs", "long"), [(10, False), (10**7, True)])
def test_a_long_experiment_has_a_command_for_a_first_look(
    path: Path, epochs: int, long: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = ["--set", f"training.max_epochs={epochs}"]
    assert main(["config", str(path), *setting, "--json"]) == 0
    look = json.loads(capsys.readouterr().out)["look"]
    assert (look is not None) == long
    if long:
        _, *words = shlex.split(look)
        shown = words.index("--seeds")
        assert words[:shown] == ["train", str(path), *setting]
        assert words[shown + 1 : -1] == ["1", "--set"]
        assert 1 <= int(words[-1].removeprefix("training.max_epochs=")) <= epochs / 2


def test_only_the_file_is_checked_with_syntax(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path.parent / "a.de").unlink()
    assert main(["config", str(path), "--syntax", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 4 and not (path.parent / "store").exists()
    assert main(["config", str(path)]) == 2
    assert "no file" in capsys.readouterr().err


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


@pytest.fixture(scope="module")
def editor() -> Any:
    """A validator for the schema, as editors use."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", SHIPPED.glob("*.yaml"), ids=lambda path: path.stem)
def test_shipped_experiments_satisfy_the_schema(path: Path, editor: Any) -> None:
    editor.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


GOOD = {
    "name": "x",
    "task": "nmt",
    "corpus": {"source_language": "de", "target_language": "en", "train": {"builtin": 60}},
    "augment": [{"operator": "cipher", "keys": [1]}, {"operator": "./mine.py", "any": 1}],
    "regime": {"name": "coregularised", "preset": "paper", "beta": 3},
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("regime", {"name": "coregularised", "betta": 3}),
        ("regime", {"name": "coregularised", "preset": "papers"}),
        ("regime", "plian"),
        ("augment", [{"operator": "cipher", "kees": [1]}]),
        ("training", {"learning_rate": "fast"}),
        ("task", "nmtt"),
        ("seed", 1),
    ],
)
def test_the_schema_rejects_errors(key: str, value: Any, editor: Any) -> None:
    editor.validate(GOOD)
    with pytest.raises(jsonschema.ValidationError):
        editor.validate({**copy.deepcopy(GOOD), key: value})

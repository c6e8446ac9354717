"""What the README tells people to type exists and works."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import augury.augment
from augury.augment import operator
from augury.cli import main
from augury.cli.verbs import VERBS
from augury.core.config import merge
from augury.core.store import Store
from augury.corpora import builtin
from augury.corpora.known import KNOWN
from augury.experiments import trainable
from augury.experiments.experiment import load, parse, systems
from augury.sweeping import points, published, space
from tests.commands import parsed

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str, holding: str = "") -> str:
    """The first block of a language that holds a text."""
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in found if holding in text)


def test_its_table_is_of_the_demo_as_it_is(tmp_path: Path) -> None:
    """`make docs` writes both anew."""
    root = Path(__file__).parents[1]
    kept = json.loads((root / "docs" / "demo.json").read_text(encoding="utf-8"))
    loaded = load(root / "search_spaces" / "experiments" / "demo_nmt.yaml", [f"storage={tmp_path}"])
    task, store = trainable.find("nmt"), Store(tmp_path)
    assert kept["addresses"] == {name: task.address(system, store) for name, system in systems(loaded).items()}
    assert kept["table"] in README


def test_its_experiment_is_valid() -> None:
    experiment = parse(yaml.safe_load(block("yaml")))
    assert list(systems(experiment)) == ["baseline", "my-corpus"] and experiment.seeds == (1, 2, 3)


def test_its_experiment_passes_the_preflight_on_800_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    pairs = [(pair.source, pair.target) for pair in builtin.generate("train", 800)]
    for side, name in enumerate(("train.de", "train.en")):
        Path("data", name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    Path("data/dev.tsv").write_text("de\ten\n" + "".join("\t".join(pair) + "\n" for pair in pairs[:50]))
    rows = "".join(json.dumps({"src": source, "ref": target}) + "\n" for source, target in pairs[:50])
    Path("data/news.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    Path("my.yaml").write_text(block("yaml"))
    assert main(["config", "my.yaml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["test_sets"], found["texts"][0]["rows_in"], found["runs"]) == (["news"], 800, 6)


def test_its_operator_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uppercase.py").write_text(block("python", "OPERATOR"), encoding="utf-8")
    monkeypatch.setattr(augury.augment, "__path__", [*augury.augment.__path__, str(tmp_path)])
    parsed = operator.parse({"operator": "uppercase"})
    assert "uppercase" in operator.names() and [part.name() for part in parsed.parts()] == ["uppercase"]
    block_ = pa.table({"id": ["a", "b"], "source": ["haus ä", "Maus"]})
    made = parsed.bind({}, Store(tmp_path))(block_).table
    assert made.to_pydict() == {"id": ["a", "b"], "text": ["HAUS Ä", "MAUS"]}


def test_its_space_can_be_swept(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(block("python", "QUESTION"), encoding="utf-8")
    found = space.find(str(path))
    listed = points.sample(found)
    assert [parse(merge(found.base, point)).training.validations for point in listed] == [20, 20, 20]


def test_its_table_can_be_reproduced(tmp_path: Path) -> None:
    path = tmp_path / "table1.py"
    path.write_text(block("python", "published"), encoding="utf-8")
    table = published.find(str(path))
    assert [table.values(row) for row in table.rows] == [{"test2016": 26.1}, {"test2016": 27.4}]
    assert [parse(merge(table.space.base, row)).regime.label_smoothing for row in table.space.rows.values()] == [0, 0.1]


def test_its_commands_can_be_typed() -> None:
    blocks = [text for language, text in re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL) if not language]
    commands = [verb for text in blocks for verb, _ in parsed(text)]
    assert len(set(commands)) > 10


def test_it_names_every_space() -> None:
    for name in space.known():
        assert f"| `{name}` |" in README, name


def test_it_names_every_verb_and_known_corpus() -> None:
    for verb in VERBS:
        assert f"augury {verb}" in README or f"make {verb}" in README, verb
    for name in KNOWN:
        assert name in README, name
    for goal in re.findall(r"make (demo|test|install)", README):
        assert f"\n{goal}:" in (Path(__file__).parents[1] / "Makefile").read_text()

"""The experiment file that is written for somebody's own texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.cli.drafting import draft
from augury.experiments.spec import Experiment, parse
from augury.experiments.systems import expand
from trainables.nmt.draft import TEXTS

NMT: dict[str, Any] = {
    "name": "mine",
    "task": "nmt",
    "corpus": {"source_language": "de", "target_language": "en"},
    "train": {"source": "a.de", "target": "a.en"},
}
COLUMNS = {"columns": {"premise": "a", "hypothesis": "b", "label": "c"}}
NLI: dict[str, Any] = {
    "name": "pairs",
    "task": "nli",
    "corpus": {"language": "en"},
    "train": {"file": "a.tsv", **COLUMNS},
    "valid": {"file": "b.tsv", **COLUMNS},
}
NAMED = {"news": {"source": "n.de", "target": "n.en"}, "2016": {"source": "m", "target": "m"}}
OWN = {
    "task": "./docs/examples/sentiment.py",
    "corpus": {"language": "en", "labels": ["good", "no"]},
    "train": {"file": "a.tsv", "columns": {"text": "a", "label": "b"}, "labels": {"-1": None}},
    "valid": None,
}


def drafted(rows: int = 2400, **options: Any) -> Experiment:
    return parse(yaml.safe_load(draft(**options, rows=rows)))


@pytest.mark.parametrize("rows", [800, *(size["rows"] + 1 for size in TEXTS["sizes"][:-1])])
@pytest.mark.parametrize("options", [NMT, NLI, NMT | {"tests": NAMED}, NLI | OWN])
def test_it_is_an_experiment_of_a_baseline_and_a_system(options: dict[str, Any], rows: int) -> None:
    experiment = drafted(rows, **options)
    name = "CipherDAug" if options["task"] == "nmt" else "EDA"
    assert list(expand(experiment)) == ["baseline", name]
    assert experiment.test_sets == list(options.get("tests", ["test"]))


@pytest.mark.parametrize(("hidden", "layers", "rate"), [(384, 12, 1e-4), (768, 12, 1e-5)])
def test_the_learning_rate_follows_the_size_of_an_encoder(
    hidden: int, layers: int, rate: float, tmp_path: Path
) -> None:
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "vocab_size": 250_000}
    (tmp_path / "config.json").write_text(json.dumps({**sizes, "intermediate_size": 4 * hidden}))
    assert drafted(**NLI, model=str(tmp_path)).training.learning_rate == rate


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
)


@settings(max_examples=25, deadline=None)
@given(source=TEXT, target=TEXT, column=TEXT, name=TEXT)
def test_names_of_files_and_columns_survive(
    source: str, target: str, column: str, name: str
) -> None:
    text = {"source": source, "target": target}
    aligned = draft(**NMT | {"train": text, "tests": {name: text}}, rows=9)
    corpus = yaml.safe_load(aligned)["corpus"]
    assert corpus["train"] == {**text, "portion": [0, 0.9]}
    assert corpus["tests"] == {name: text}
    table = {"file": source, "columns": {"premise": column}, "header": [column, target]}
    pairs = draft(**NLI | {"valid": table}, rows=9)
    assert yaml.safe_load(pairs)["corpus"]["valid"] == table

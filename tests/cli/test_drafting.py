"""The experiment file that is written for somebody's own texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from augury.cli.drafting import DraftOptions, draft, held_out_share
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from trainables.nmt.draft import TIERS

NMT = {
    "name": "mine",
    "task": "nmt",
    "languages": {"source_language": "de", "target_language": "en"},
    "train": ("a.de", "a.en"),
}
NLI = {
    "name": "pairs",
    "task": "nli",
    "languages": {"language": "en"},
    "train": ("a.tsv",),
    "valid": ("b.tsv",),
    "columns": {"premise": "a", "hypothesis": "b", "label": "c"},
}


@pytest.mark.parametrize("rows", [800, *(tier.max_rows + 1 for tier in TIERS[:-1])])
@pytest.mark.parametrize(
    "options",
    [
        NMT,
        NLI,
        NMT
        | {
            "valid": ("v.de", "v.en"),
            "tests": {"news": ("n.de", "n.en"), "2016": ("m.de", "m.en")},
        },
        NMT | {"train": ("a.tsv",), "columns": {"source": "de", "target": "en"}},
        NLI | {"tests": {"b": ("c.tsv",)}, "model": "/a/model"},
        NLI
        | {
            "task": "./docs/examples/sentiment.py",
            "columns": {"text": "a", "label": "b"},
            "labels": ("good", "bad"),
        },
    ],
)
def test_it_is_an_experiment_of_a_baseline_and_a_system(
    options: dict[str, Any], rows: float
) -> None:
    experiment = parse(yaml.safe_load(draft(DraftOptions(**options, rows=int(rows)))))
    name = "CipherDAug" if options["task"] == "nmt" else "EDA"
    assert list(expand(experiment)) == ["baseline", name]
    assert experiment.test_sets == list(options.get("tests", ["test"]))


@pytest.mark.parametrize(
    ("hidden", "layers", "rate"), [(384, 6, 1e-4), (384, 12, 1e-4), (768, 12, 1e-5)]
)
def test_the_learning_rate_follows_the_size_of_an_encoder(
    hidden: int, layers: int, rate: float, tmp_path: Path
) -> None:
    sizes = {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": 4 * hidden,
        "vocab_size": 250_000,
    }
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    drafted = draft(DraftOptions(**NLI, model=str(tmp_path), rows=2400))
    assert parse(yaml.safe_load(drafted)).training.learning_rate == rate


@pytest.mark.parametrize(("model", "rate"), [("tiny", 1e-3), (None, 1e-5)])
def test_a_model_that_is_not_known_has_the_rate_of_its_kind(model: str | None, rate: float) -> None:
    drafted = draft(DraftOptions(**NLI, model=model, rows=2400))
    assert parse(yaml.safe_load(drafted)).training.learning_rate == rate


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
)


@given(source=TEXT, target=TEXT, column=TEXT, name=TEXT)
def test_names_of_files_and_columns_survive(
    source: str, target: str, column: str, name: str
) -> None:
    aligned = yaml.safe_load(
        draft(
            DraftOptions(
                **NMT
                | {
                    "train": (source, target),
                    "valid": (source, target),
                    "tests": {name: (source, target)},
                },
                rows=9,
            )
        )
    )
    assert (
        aligned["corpus"]["train"]
        == {"source": source, "target": target}
        == aligned["corpus"]["tests"][name]
    )
    table = yaml.safe_load(
        draft(
            DraftOptions(
                **NLI
                | {
                    "columns": {"premise": column, "hypothesis": "h", "label": "l"},
                    "train": (source,),
                },
                rows=9,
            )
        )
    )
    assert (table["corpus"]["train"]["premise_column"], table["corpus"]["train"]["file"]) == (
        column,
        source,
    )


@pytest.mark.parametrize(
    ("rows", "held_out"), [(4, 0), (30, 3), (800, 80), (10_000, 1000), (1_000_000, 1000)]
)
def test_a_tenth_or_a_thousand_rows_are_held_out(rows: int, held_out: int) -> None:
    assert int(rows * held_out_share(rows)) == held_out


@pytest.mark.parametrize("rows", [800, *(tier.max_rows + 1 for tier in TIERS[:-1])])
def test_a_race_knows_where_it_decides(rows: float) -> None:
    experiment = parse(yaml.safe_load(draft(DraftOptions(**NMT, rows=int(rows)))))
    assert experiment.training.validations


@pytest.mark.parametrize(("model", "hidden"), [("tiny", 96), ("small", None), (None, 96)])
def test_a_translation_model_from_nothing_can_be_named(
    model: str | None, hidden: int | None
) -> None:
    experiment = parse(yaml.safe_load(draft(DraftOptions(**NMT, model=model, rows=800))))
    drawn = experiment.model.to_dict()
    assert (drawn["architecture"], drawn["hidden_size"]) == (model or "tiny", hidden)
    assert list(expand(experiment)) == ["baseline", "CipherDAug"]

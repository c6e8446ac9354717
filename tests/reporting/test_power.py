"""What an experiment can see, before it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.rng import generator
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.reporting.power import TYPICAL, planned_power, power, power_lines
from augury.scoring.power import Components, components


@pytest.fixture
def experiment(tmp_path: Path, results: Any) -> Any:
    """An experiment with a test set of 150 pairs, in the storage of `results`."""
    lines = [f"das Haus {number} geht gern" for number in range(150)]
    for side in ("de", "en"):
        (tmp_path / f"a.{side}").write_text("".join(f"{line}\n" for line in lines))
    files = {"source": str(tmp_path / "a.de"), "target": str(tmp_path / "a.en")}
    return parse(
        {
            "name": "toy",
            "task": "nmt",
            "seeds": [1, 2, 3],
            "storage": results.store.root,
            "augment": [{"operator": "cipher", "keys": [1]}],
            "regime": "coregularised",
            "scoring": {"metrics": ["bleu"]},
            "corpus": {
                "source_language": "de",
                "target_language": "en",
                "train": files,
                "every": 5,
                "tests": {"news": files},
            },
        }
    )


def test_without_stored_runs_it_is_that_of_typical_models(experiment: Any, results: Any) -> None:
    systems = [*expand(experiment).values()]
    (statement,) = planned_power(systems, results.store, 3)
    rows = cached_corpus(experiment.corpus, "news", results.store.root).rows
    expected = TYPICAL["bleu"].smallest_difference(3, rows, 1)
    assert (statement.test, statement.systems, statement.power.smallest) == ("news", 0, expected)
    assert statement.power.text.startswith(f"power: 3 seeds and {rows} sentences may miss")
    (one,), (two,) = (planned_power(systems, results.store, seeds) for seeds in (1, 2))
    assert one.power == two.power and power_lines([one]) != power_lines([two])
    assert planned_power([experiment], results.store, 3) == [] and components([], 100) is None


def test_stored_runs_of_the_test_set_are_better_known(experiment: Any, results: Any) -> None:
    address = cached_corpus(experiment.corpus, "news", results.store.root).address
    for name in ("a", "b"):
        for seed in (1, 2):
            correct = (generator(name, seed).random(300) < 0.7).astype(int).tolist()
            results.run(name, name * 16, seed, correct=correct, test="news", text=address)
    scoring = experiment.scoring.model_copy(update={"metrics": ("accuracy",)})
    experiment = experiment.model_copy(update={"scoring": scoring})
    (statement,) = planned_power([experiment, experiment], results.store, 2)
    typical = TYPICAL["accuracy"].smallest_difference(2, 150, 1)
    assert statement.systems == 2 and statement.power.smallest != pytest.approx(typical)


def test_no_difference_is_as_large_as_the_range_of_a_metric() -> None:
    unknown = Components(seeds=4_000.0, seeds_and_sentences=0.0, systems_and_sentences=0.0)
    shown = power("accuracy", unknown, 2, 26, 1)
    assert shown is not None and shown.smallest > 100
    assert "any difference" in shown.text and "150" not in shown.text

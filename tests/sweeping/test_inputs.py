"""What trials wait for: models of operators and earlier stages are trials of the same sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.execution.graph import Graph
from augury.experiments.systems import canonical, expand
from augury.experiments.training import train
from augury.sweeping.inputs import Inputs
from augury.sweeping.state import TrialKey
from tests import tiny
from tests.sweeping.sweeps import sweep

BACK = {
    "operator": "back_translation",
    "monolingual": {"language": "qab", "train": {"builtin": 9, "seed": 2}},
    "decoding": {"beam": 1, "max_length": 9},
}
TUNE = {"corpus.train": {"builtin": 30, "seed": 5}, "training.max_updates": 2}


def graph_of(storage: Path, **systems: Any) -> Graph:
    described = tiny.experiment(
        "nmt",
        storage,
        training={"max_updates": 2},
        systems={"baseline": {}, **systems},
        health={"stop": False},
    )
    graph = Graph(Store(storage))
    graph.add(
        {
            name: canonical(system, graph.store).experiment
            for name, system in expand(described).items()
        }
    )
    return graph


def key(graph: Graph, name: str) -> TrialKey:
    return TrialKey(graph.systems[name].address, 1)


def make(inputs: Inputs, trial: TrialKey) -> None:
    """Train a trial as a sweep does."""
    runs = inputs.runs[trial.configuration]
    runs.describe("trained", trial.seed)
    train(runs.first.with_seed(trial.seed))
    runs.finish(trial.seed)


@pytest.mark.trains
def test_a_trial_waits_for_the_models_of_its_operators(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, back={"augment": [BACK]})
    inputs = Inputs(graph, Store(tmp_path).folder("sweeps", "x"))
    inputs.make_texts()
    assert inputs.trials_for(key(graph, "baseline")) == [key(graph, "baseline")]
    (translator,) = inputs.trials_for(key(graph, "back"))
    assert translator not in (key(graph, "baseline"), key(graph, "back"))
    make(inputs, translator)
    while not inputs.trials_for(key(graph, "back")):  # its texts are being made
        assert inputs.error(key(graph, "back")) is None
    assert inputs.trials_for(key(graph, "back")) == [key(graph, "back")]
    assert (
        not Store(tmp_path)
        .folder("runs", f"{translator.configuration}/seed-1")
        .exists("scores.json")
    )


@pytest.mark.trains
def test_a_stage_waits_for_the_one_before_with_the_same_seed(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, tuned={"stages": {"tune": TUNE}})
    inputs = Inputs(graph, Store(tmp_path).folder("sweeps", "x"))
    inputs.make_texts()
    assert inputs.trials_for(key(graph, "tuned")) == [key(graph, "baseline")]
    make(inputs, key(graph, "baseline"))
    assert inputs.trials_for(key(graph, "tuned")) == [key(graph, "tuned")]


@pytest.mark.trains
def test_nothing_waits_for_a_model_that_cannot_be_trained(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, back={"augment": [BACK]}, tuned={"stages": {"tune": TUNE}})
    inputs = Inputs(graph, Store(tmp_path).folder("sweeps", "x"))
    inputs.make_texts()
    (translator,) = inputs.trials_for(key(graph, "back"))
    inputs.fail(translator, "diverged")
    error = inputs.error(key(graph, "back"))
    assert error == "translator of back_translation of back, seed 1: diverged"
    assert inputs.error(key(graph, "tuned")) is None


SPACE = """
from augury.sweeping.declarations import SearchSpace
from tests.sweeping.quick import BASE

back = {"operator": "back_translation", "decoding": {"beam": 1, "max_length": 9},
        "monolingual": {"language": "en", "train": {"builtin": 30, "lexicon": 366, "seed": 2}}}
tune = {"corpus.train": {"builtin": 50, "lexicon": 366, "seed": 5}}
SPACE = SearchSpace(
    question="Do stages and translators of a sweep train beside its rows?",
    base={**BASE, "augment": [], "regime": "plain", "baseline": False, "health": {"stop": False}},
    rows={"baseline": {}, "tuned": {"stages": {"tune": tune}}, "+BT": {"augment": [back]}},
    reference="baseline",
    metric="valid/loss",
    mode="min",
    seeds=(1,),
)
"""


@pytest.mark.trains
@pytest.mark.timeout(600)
def test_a_sweep_trains_what_its_rows_need(local_ray: None, tmp_path: Path) -> None:
    space, storage = tmp_path / "staged.py", tmp_path / "store"
    space.write_text(SPACE)
    outcome = sweep(storage, "--set", "training.max_updates=16", space=str(space))
    assert (outcome["finished"], outcome["failed"]) == (3, 0)
    runs = list(storage.glob("runs/*/seed-1/_COMPLETE"))
    assert len(runs) == 4 and len(list(storage.glob("runs/*/seed-1/scores.json"))) == 3
    assert sweep(storage, "--set", "training.max_updates=16", space=str(space))["reused"] == 3

"""Stages of training: addresses made of those before, runs that are shared, one vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments import trial
from augury.experiments.cost import estimate_seed, remaining
from augury.experiments.graph import Graph
from augury.experiments.record import RunRecord
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand, last_stage
from augury.sweeping.driver import run_experiment
from augury.training.trained import Outcome
from tests import tiny

pytestmark = pytest.mark.trains

TUNE = {"corpus.train": {"builtin": 30, "seed": 5}, "training.max_epochs": 1}
AGAIN = {"carry": "optimizer", "corpus.train": {"builtin": 20, "seed": 6}}


BRIEF = {
    "max_tokens": 400,
    "max_epochs": 1,
    "weights": "best",
    "learning_rate": 0.01,
    "warmup_updates": 5,
}


def experiment(storage: Path, **changes: Any) -> Experiment:
    return tiny.experiment("nmt", storage, **{"training": BRIEF, **changes})


def addresses(tuned: Experiment, store: Store) -> list[str]:
    """The addresses of all stages."""
    return [Graph(store).plan(stage).address for stage in last_stage(tuned).chain]


def test_an_address_is_made_of_those_before(tmp_path: Path) -> None:
    store, both = Store(tmp_path), {"tune": TUNE, "again": AGAIN}
    first, tune, again = addresses(experiment(tmp_path, stages=both), store)
    assert [first] == addresses(experiment(tmp_path), store)
    assert len({first, tune, again}) == 3

    other_end = {"tune": TUNE, "again": {**AGAIN, "carry": "weights"}}
    others = addresses(experiment(tmp_path, stages=other_end), store)
    assert others[:2] == [first, tune] and others[2] != again
    other_beginning = {"max_pieces": 400}, {"training": {**BRIEF, "max_epochs": 2}}  # of the first
    for changes in other_beginning:
        changed = addresses(experiment(tmp_path, stages=both, **changes), store)
        assert not {*changed} & {first, tune, again}
    assert not store.addresses("runs")


Trained = tuple[Experiment, dict[str, dict[int, Folder]]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    systems = {"baseline": {}, "double": {"stages": {"tune": TUNE, "again": AGAIN}}}
    storage = tmp_path_factory.mktemp("stages")
    compared = experiment(storage, systems=systems, seeds=[2])
    runs, failures, *_ = run_experiment(compared)
    assert not failures
    return compared, runs


def test_systems_share_their_first_stages(trained: Trained) -> None:
    compared, runs = trained
    store = Store(compared.storage)
    seeds = {name: list(of_system) for name, of_system in runs.items()}
    assert seeds == {"baseline": [2], "double": [2]}
    assert len(store.addresses("runs")) == 3
    again = Run.read(runs["double"][2])
    tune = Run.read(again.init_from.run)
    assert tune.init_from.run == runs["baseline"][2]
    names = [run.folder.read_record("run.json")["name"] for run in (again, tune)]
    assert names == ["double", "double, tune"]
    assert trial.has_scores(tune) and runs["baseline"][2].complete
    assert len({run.tokenizer for run in (again, tune, Run.read(runs["baseline"][2]))}) == 1
    assert len(store.addresses("vocabularies")) == 1
    assert [run.inputs[0].rows for run in (again, tune)] == [20, 30]


def test_a_stage_that_systems_share_costs_once(trained: Trained, tmp_path: Path) -> None:
    """In the estimate before training, and in what was measured."""
    _, runs = trained
    store = Store(tmp_path)
    systems = {"alone": {}, "twice": {"stages": {"tune": TUNE}}}
    planned = expand(experiment(tmp_path, systems=systems, seeds=[2]))
    graph = Graph(store)
    graph.add(planned)
    costs = [estimate_seed(stage, store) for stage in planned["twice"].chain]
    assert sum((remaining(graph) or {}).values()) == sum(cost.seconds for cost in costs if cost)
    cost = RunRecord.read(runs["double"][2]).cost
    assert cost is not None and cost.trainings == 3
    last = Run.read(runs["double"][2])
    stages = [last.folder, last.init_from.run, runs["baseline"][2]]
    assert cost.target_tokens == sum(Outcome.read(stage).rows for stage in stages)


def test_what_a_stage_cannot_change_is_said_at_its_place(tmp_path: Path) -> None:
    stage = {"vocabulary.size": 300}
    with pytest.raises(UserError, match="stages.tune.vocabulary.size: a stage goes on with"):
        expand(experiment(tmp_path, stages={"tune": stage}))


def test_a_view_that_the_vocabulary_does_not_know_is_refused_before_training(
    tmp_path: Path,
) -> None:
    stage = {"augment": [{"operator": "cipher", "keys": [1]}], "regime": "multi_source"}
    with pytest.raises(UserError, match="reads the view rot-1"):
        run_experiment(experiment(tmp_path, stages={"tune": stage}))
    assert not Store(tmp_path).addresses("runs")

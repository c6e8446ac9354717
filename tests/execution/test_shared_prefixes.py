"""What systems have in common before they differ is trained once, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Folder, Store
from augury.execution.estimates import estimates
from augury.execution.execute import run_experiment
from augury.execution.graph import Graph, Step
from augury.execution.nodes import nodes
from augury.execution.shared_prefixes import share
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand
from augury.runs.record import SCORES
from augury.training.trained import OUTCOME, WEIGHTS
from tests import tiny

TRAINING = {"max_tokens": 400, "max_updates": 12, "warmup_updates": 4, "learning_rate": 1e-3}
CIPHER = {
    "augment": [{"operator": "cipher", "keys": [1]}],
    "vocabulary": {"size": 220, "size_per_key": 60},
}


def agreement(beta: float, warmup: int = 7) -> dict[str, Any]:
    return {"name": "coregularised", "beta": beta, "warmup_steps": warmup}


TWO = {"β 1": {"regime": agreement(1)}, "β 5": {"regime": agreement(5)}}


def experiment(storage: Path, systems: dict[str, Any], **changes: Any) -> Experiment:
    training = {**TRAINING, **changes.pop("training", {})}
    sections = {**CIPHER, **changes}
    return tiny.experiment("nmt", storage, systems=systems, training=training, **sections)


def graph_of(described: Experiment, validations: int | None = None) -> Graph:
    graph = Graph(Store(described.storage))
    graph.add(expand(described))
    share(graph, validations)
    return graph


def step(graph: Graph, name: str, seed: int = 1) -> Step:
    return Step(graph.systems[name].address, seed)


def results(run: Folder) -> tuple[bytes, Any, float]:
    return run.read(WEIGHTS), run.read_json(SCORES)["tests"], run.read_json(OUTCOME)["rows"]


@pytest.mark.trains
def test_systems_are_what_they_would_be_alone(tmp_path: Path) -> None:
    together, alone = ((tmp_path / name) for name in ("together", "alone"))
    together.mkdir()
    runs, failures = run_experiment(experiment(together, TWO))
    assert not failures
    beginnings = [run for run in together.glob("runs/*/seed-1") if not (run / SCORES).exists()]
    assert len(beginnings) == 1
    assert json.loads((beginnings[0] / OUTCOME).read_text())["updates"] == 7
    for name, settings in TWO.items():
        storage = alone / name
        storage.mkdir(parents=True)
        (undisturbed,) = run_experiment(experiment(storage, {name: settings}))[0][name].values()
        assert runs[name][1].name == undisturbed.name
        assert results(runs[name][1]) == results(undisturbed)
    # Nothing begins anew once all have begun.
    assert not graph_of(experiment(together, TWO)).beginnings


def test_a_beginning_is_made_first_and_ends_with_the_shortest_warm_up(tmp_path: Path) -> None:
    systems = {**TWO, "β 5, later": {"regime": agreement(5, 9)}}
    graph = graph_of(experiment(tmp_path, systems, seeds=[1, 2]))
    for seed in (1, 2):
        (beginning,) = {graph.beginnings[step(graph, name, seed)] for name in systems}
        assert graph.plans[beginning.address].experiment.training.max_updates == 7
        assert beginning not in graph.scored
        missing = graph.missing(graph.scored)
        assert all(missing.index(beginning) < missing.index(step(graph, n, seed)) for n in systems)
    known: set[str] = set()
    for node in nodes(graph):
        assert known.issuperset(node.inputs)
        known.add(node.address)


@pytest.mark.parametrize(
    ("systems", "changes"),
    [
        ({"β 1": TWO["β 1"]}, {}),
        (TWO, {"training": {"schedule": "linear"}}),
        (TWO, {"training": {"max_minutes": 1}}),
        (TWO, {"training": {"validate_every": 8}}),  # the warm-up ends before
        ({**TWO, "β 5": {"regime": agreement(5), "training.learning_rate": 2e-3}}, {}),
        ({**TWO, "β 5": {"regime": {**agreement(5), "alpha1": 2}}}, {}),
    ],
)
def test_what_differs_from_the_start_shares_nothing(
    tmp_path: Path, systems: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert not graph_of(experiment(tmp_path, systems, **changes)).beginnings


def test_attacks_begin_as_the_baseline(tmp_path: Path) -> None:
    attack = {"name": "adversarial", "preset": "fgm", "warmup_epochs": 3}
    systems = {
        "baseline": {"regime": {"name": "plain"}},
        "weak": {"regime": {**attack, "epsilon": 0.1}},
        "strong": {"regime": {**attack, "epsilon": 3.0}},
    }
    graph = graph_of(experiment(tmp_path, systems, augment=[]))
    (beginning,) = set(graph.beginnings.values())
    assert graph.plans[beginning.address].prefix == graph.systems["baseline"].prefix
    assert graph.plans[beginning.address].experiment.training.max_epochs == 3
    assert graph.beginnings.keys() == {step(graph, name) for name in systems}


def test_the_least_patient_of_equals_comes_first(tmp_path: Path) -> None:
    systems = {
        f"patience {patience}": {"regime": agreement(0), "training.patience": patience}
        for patience in (9, 3, 5)
    }
    graph = graph_of(experiment(tmp_path, systems))
    first = step(graph, "patience 3")
    assert graph.beginnings == {step(graph, f"patience {more}"): first for more in (9, 5)}


def test_a_beginning_of_a_stage_goes_on_from_the_stage_before(tmp_path: Path) -> None:
    systems = {
        f"β {beta}": {"stages": {"tune": {"regime": agreement(beta)}}, "regime": agreement(0)}
        for beta in (1, 5)
    }
    graph = graph_of(experiment(tmp_path, systems))
    (beginning,) = {graph.beginnings[step(graph, name)] for name in systems}
    before = graph.systems["β 1"].before
    assert before is not None and Step(before.address, 1) in graph.inputs(beginning)


def test_in_a_race_it_ends_with_the_first_decision(tmp_path: Path) -> None:
    described = experiment(tmp_path, TWO, training={"validate_every": 3})
    (beginning,) = set(graph_of(described, validations=2).beginnings.values())
    (longest,) = set(graph_of(described).beginnings.values())
    graph = graph_of(described, validations=2)
    assert graph.plans[beginning.address].experiment.training.max_updates == 6
    assert longest != beginning


def test_its_cost_counts_once(tmp_path: Path) -> None:
    graph = graph_of(experiment(tmp_path, TWO))
    costs = estimates(graph)
    (beginning,) = set(graph.beginnings.values())
    shared = costs[graph.names[beginning]]
    assert shared is not None and shared.seconds > 0 and shared.shared == 0
    for name in TWO:
        cost = costs[name]
        assert cost is not None and cost.shared == shared.seconds < cost.seconds


@pytest.mark.trains
def test_a_system_of_a_later_command_goes_on_from_it(tmp_path: Path, capsys: Any) -> None:
    """It finds the beginning by its prefix."""
    run_experiment(experiment(tmp_path, TWO))
    more = {**TWO, "β 2": {"regime": agreement(2)}}
    runs, failures = run_experiment(experiment(tmp_path, more))
    assert not failures
    assert f"{runs['β 2'][1].uri}: continues" in capsys.readouterr().err
    assert runs["β 2"][1].read_json(OUTCOME)["updates"] == 12
    assert len(list(tmp_path.glob("runs/*/seed-1"))) == 4  # with the one beginning

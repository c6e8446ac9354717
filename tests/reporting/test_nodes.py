"""The nodes of a graph are what its experiment stores, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical, expand
from augury.reporting.graphs import Node, mermaid, nodes
from augury.sweeping.driver import run_experiment
from tests import tiny

BACK = {
    "operator": "back_translation",
    "monolingual": {"language": "qab", "train": {"builtin": 15, "seed": 2}},
    "decoding": {"beam": 1, "max_length": 9},
}
TUNE = {"stages": {"tune": {"corpus.train": {"builtin": 30, "seed": 5}, "augment": [BACK]}}}
FOLDERS = ("corpora", "fits", "views", "records", "vocabularies", "tokens")


def experiment(storage: Path) -> Experiment:
    return tiny.experiment(
        "nmt",
        storage,
        training={"max_updates": 2},
        systems={"baseline": {}, "+BT": TUNE},
        seeds=[1, 2],
        health={"stop": False},
    )


@pytest.mark.trains
def test_everything_that_is_stored_is_a_node_of_the_flowchart(tmp_path: Path) -> None:
    described = experiment(tmp_path)

    def planned() -> list[Node]:
        graph = Graph(Store(described.storage))
        systems = expand(described).items()
        graph.add({name: canonical(system, graph.store).experiment for name, system in systems})
        return nodes(graph)

    store, known = Store(described.storage), planned()
    drawing = mermaid(known)
    boxes = re.findall(r'n\d+\["(\w+) ', drawing)
    models = {node.name for node in known if node.kind == "model"}
    assert boxes.count("model") == len(models) and "model +BT<br>2 of 2 to be made" in drawing
    arrows = [tuple(map(int, arrow)) for arrow in re.findall(r"n(\d+) --> n(\d+)", drawing)]
    assert all(source < target for source, target in arrows)
    made = {boxes[target] for _, target in arrows}
    assert made == {node.kind for node in known if node.inputs}
    _, failures, _ = run_experiment(described)
    assert not failures
    after = planned()
    assert [node.address for node in after] == [node.address for node in known]
    assert all(node.exists for node in after) and "to be made" not in mermaid(after)
    stored = {f"{kind}/{address}" for kind in FOLDERS for address in store.addresses(kind)}
    runs = {f"runs/{address}" for address in store.addresses("runs")}
    addresses = {node.address for node in after}
    assert stored - {name for name in stored if name.startswith("fits/")} <= addresses
    assert runs == {name.rpartition("/seed-")[0] for name in addresses if "/seed-" in name}

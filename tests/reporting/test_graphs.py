"""The flowchart has the texts and models of all systems, and says what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.systems import canonical, expand
from augury.reporting.graphs import mermaid
from augury.sweeping.driver import run_experiment
from tests import tiny

TUNE = {"stages": {"tune": {"corpus.train": {"builtin": 30, "seed": 5}}}}


@pytest.mark.trains
def test_boxes_are_there_once_they_are_made(tmp_path: Path) -> None:
    systems = {"baseline": {}, "tuned": TUNE}
    training = {"max_updates": 2}
    described = tiny.experiment("nmt", tmp_path, training=training, systems=systems, seeds=[1, 2])

    def drawing() -> str:
        graph = Graph(Store(described.storage))
        planned = expand(described).items()
        graph.add({name: canonical(system).experiment for name, system in planned})
        return mermaid(graph)

    before = drawing()
    boxes = re.findall(r'n\d+\["(\w+) (.*?)<br>', before)
    assert [kind for kind, _ in boxes] == ["texts", "model"] * 2
    assert "model tuned<br>2 of 2 to be made" in before
    arrows = [tuple(map(int, arrow)) for arrow in re.findall(r"n(\d+) --> n(\d+)", before)]
    assert arrows == [(0, 1), (0, 2), (1, 3), (2, 3)]
    _, failures, *_ = run_experiment(described)
    assert not failures
    assert "to be made" not in drawing()

"""A graph drawn: every box once, every input an arrow."""

from __future__ import annotations

import re

from augury.experiments.graph import Step
from augury.reporting import graphs
from augury.reporting.graphs import Kind, Node


def node(
    kind: Kind, address: str, *inputs: str, seed: int | None = None, exists: bool = False
) -> Node:
    return Node(kind, "a <b>", address, inputs, Step("plan", seed), exists, 2.0)


NODES = [
    node("corpus", "corpora/1", exists=True),
    node("tokenizer", "vocabularies/1", "corpora/1"),
    node("tokens", "tokens/1", "corpora/1", "vocabularies/1"),
    node("tokens", "tokens/2", "corpora/1", "vocabularies/1"),
    node("model", "runs/1/seed-1", "tokens/1", "tokens/2", seed=1, exists=True),
    node("model", "runs/1/seed-2", "tokens/1", "tokens/2", seed=2),
]


def test_tokens_of_a_training_and_seeds_of_a_model_are_one_box() -> None:
    drawn = graphs.boxes(NODES)
    assert [len(box.nodes) for box in drawn] == [1, 1, 2, 2]
    assert [box.inputs for box in drawn] == [[], [0], [0, 1], [2]]
    assert [(box.there, box.seconds) for box in drawn] == [(1, 0), (0, 2), (0, 4), (1, 2)]


def test_what_an_input_needs_too_has_no_arrow_of_its_own() -> None:
    drawing = graphs.mermaid(NODES)
    assert re.findall(r"n(\d+)\[", drawing) == list("0123")
    assert re.findall(r"n(\d+) --> n(\d+)", drawing) == [*zip("012", "123", strict=True)]
    assert "<b>" not in drawing

"""Semantic augmentation: hypotheses by a small generator, labels by a small teacher, both
trained here."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from augury.augment import pipeline
from augury.augment.operator import parse
from augury.augment.semantic import (
    DROPPED,
    Rectify,
    Semantic,
    rectify_labels,
)
from augury.core.store import Store
from augury.corpora.corpus import LABELS, NLI
from tests import tiny
from tests.augment import texts
from tests.augment.texts import Toy, table_of

pytestmark = pytest.mark.trains

SHORT = {"max_epochs": 2, "max_examples": 32, "learning_rate": 0.01}


def semantic(**changes: Any) -> dict[str, Any]:
    section = {"model": tiny.T5, "training": SHORT}
    return {
        "operator": "semantic",
        "generator": section,
        "teacher": {**section, "model": tiny.ENCODER},
        "copies": 1,
        "sampling": {"max_length": 9},
        **changes,
    }


def augmented(toy: Toy, **changes: Any) -> pipeline.Part:
    return toy.augmented(semantic(**changes))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy(tmp_path_factory.mktemp("semantic"), 60)


def rows(part: pipeline.Part) -> list[dict[str, Any]]:
    table = table_of(part)
    assert table.schema.equals(NLI.schema)
    return list(table.to_pylist())


def test_one_other_label_is_asked_for_each_copy_and_both_as_often() -> None:
    """20,000 examples give 20,000 hypotheses, as in Table 5 of Dong et al. (2021)."""
    sides = {"premise": ["P"] * 1200, "hypothesis": ["H"] * 1200, "label": [*LABELS] * 400}
    asked = Semantic(copies=1, labels="one_other").requests(texts.records("nli", **sides))
    assert [(request.row, request.copy) for request in asked] == [(row, 1) for row in range(1200)]
    pairs = Counter((LABELS[request.row % 3], request.label) for request in asked)
    assert all(gold != label for gold, label in pairs) and len(pairs) == 6
    assert all(150 < count < 250 for count in pairs.values())  # 200 expected; five deviations


def test_every_other_label_is_asked_for(toy: Toy) -> None:
    """Golden: 20,000 examples x 2 labels x 2 = 10,000 x 2 x 4 = 80,000."""
    parents = {row["id"]: row for block in toy.corpus.blocks() for row in block.to_pylist()}
    part = augmented(toy, rectify="requested", copies=2)
    records = rows(part)
    assert part.health.requested == 60 * 2 * 2 and part.health.made == len(records) > 0
    for row in records:
        (parent,) = row["lineage"]["parents"]
        gold = parents[parent]
        assert row["label"] != gold["label"] and row["premise"] == gold["premise"]
        assert row["hypothesis"] not in ("", gold["hypothesis"])
        assert row["id"] == f"{parent}/semantic-{row['lineage']['copy']}"
    assert len({row["id"] for row in records}) == len(records)


def test_labels_are_those_of_the_rectification(toy: Toy) -> None:
    """Each strategy on the same hypotheses, by the teacher's own probabilities."""
    generated = rows(augmented(toy, rectify="requested"))
    (runs,) = toy.models(semantic())
    sides = [[row[side] for row in generated] for side in ("premise", "hypothesis")]
    probabilities = runs["teacher"].probabilities(toy.store, *sides)
    requested = np.array([LABELS.index(row["label"]) for row in generated])
    middle = np.sort(probabilities.max(1))[len(generated) // 3 : 2 * len(generated) // 3]
    widest = np.diff(middle).argmax()
    threshold = float(middle[widest : widest + 2].mean())  # far from every probability
    for rectify in ("teacher", "teacher_or_requested", "agreement"):
        part = augmented(toy, rectify=rectify, threshold=threshold)
        labels = rectify_labels(requested, probabilities, rectify, threshold)
        named = zip(generated, labels, strict=True)
        expected = [(row["id"], LABELS[label]) for row, label in named if label >= 0]
        assert [(row["id"], row["label"]) for row in rows(part)] == expected
        manifest, lost = part.folder.manifest(), part.health.lost.items()
        dropped = sum(count for why, count in lost if why.startswith("dropped "))
        assert dropped == len(generated) - len(expected)
        assert manifest["inputs"][2:] == [runs["generator"].name, runs["teacher"].name]


def test_blocks_do_not_matter(toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = rows(augmented(toy, rectify="agreement"))
    models = toy.models(semantic(rectify="agreement"))
    monkeypatch.setattr("augury.augment.model_outputs.BLOCK_ROWS", 7)
    elsewhere = texts.corpus(Store(tmp_path), toy.corpus.shard(toy.corpus.shards[0]), kind="nli")
    models = [{role: replace(model, root=toy.store.root) for role, model in models[0].items()}]
    operator = parse(semantic(rectify="agreement"))
    done = pipeline.augment(elsewhere, [operator], Store(tmp_path), models=models)
    assert rows(done.parts[0]) == expected


def test_the_models_are_experiments_on_the_same_corpus() -> None:
    corpus = {"language": "en", "known": "multi_nli", "train": {"subset": 20_000}}
    operator = Semantic()
    generator, judge = operator.models({"corpus": corpus}).values()
    assert isinstance(generator, dict) and isinstance(judge, dict)
    assert (generator["task"], generator["model"]) == ("seq2seq", {"name": "t5-base"})
    assert generator["corpus"] == {**corpus, "form": "hypothesis"}
    assert (judge["task"], judge["model"]) == ("nli", {"name": "roberta-large"})
    assert (judge["corpus"], judge["training"]) == (corpus, {"max_examples": 16})
    assert list(Semantic(rectify="requested").models({"corpus": corpus})) == ["generator"]
    assert (operator.threshold, operator.copies, operator.sampling.top_k) == (0.8, 2, 50)


E, N, C = range(3)
STRATEGIES = ("teacher", "teacher_or_requested", "agreement", "requested")
TABLE = [
    # requested, teacher, its confidence: label by each strategy at threshold 0.8
    (E, E, 0.95, (E, E, E, E)),
    (E, N, 0.95, (N, N, DROPPED, E)),
    (E, E, 0.50, (DROPPED, E, E, E)),
    (E, N, 0.50, (DROPPED, E, DROPPED, E)),
    (E, N, 0.80, (DROPPED, E, DROPPED, E)),  # just the threshold is not confident
]


def teacher(label: int, confidence: float, kind: type = np.float64) -> np.ndarray:
    """Probabilities of which the largest is `confidence`, at `label`."""
    rest = (1 - confidence) / 2
    return np.array([[confidence if place == label else rest for place in range(3)]], kind)


@pytest.mark.parametrize(("requested", "label", "confidence", "expected"), TABLE)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_truth_table(
    requested: int, label: int, confidence: float, expected: tuple[int, ...], kind: type
) -> None:
    assert set(STRATEGIES) == set(get_args(Rectify))
    for rectify, wanted in zip(STRATEGIES, expected, strict=True):
        labels = rectify_labels(
            np.array([requested]), teacher(label, confidence, kind), rectify, 0.8
        )  # type: ignore[arg-type]
        assert labels.tolist() == [wanted], rectify

"""Reorder augmentation: sentences through a small reorderer that is trained here."""

from __future__ import annotations

from typing import Any

import pytest

from augury.augment import pipeline
from augury.augment.operator import parse
from augury.corpora.corpus import NLI
from tests import tiny
from tests.augment.texts import Toy, table_of

pytestmark = pytest.mark.trains

PARALLEL = {
    "source_language": "qaa",
    "target_language": "qab",
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}
ROWS = 30


def reorder(**changes: Any) -> dict[str, Any]:
    return {
        "operator": "reorder",
        "parallel": PARALLEL,
        "model": tiny.T5,
        "sampling": {"max_length": 9},
        "training": {"max_epochs": 2, "max_examples": 32, "learning_rate": 0.01},
        **changes,
    }


def augmented(toy: Toy, **changes: Any) -> pipeline.Part:
    return toy.augmented(reorder(**changes))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy(tmp_path_factory.mktemp("reorder"), ROWS)


def test_one_example_is_added_for_every_example_and_its_label_kept(toy: Toy) -> None:
    """Golden: RA of 20k adds exactly one example per training example; ids map one-to-one."""
    part = augmented(toy)
    records, originals = table_of(part), toy.corpus.shard(toy.corpus.shards[0])
    assert records.schema.equals(NLI.schema)
    assert records.column("label").equals(originals.column("label"))
    names = originals.column("id").to_pylist()
    assert records.column("id").to_pylist() == [f"{name}/reorder-qab-1" for name in names]
    for side in ("premise", "hypothesis"):
        pairs = [
            *zip(originals.column(side).to_pylist(), records.column(side).to_pylist(), strict=True)
        ]
        assert all(new for _, new in pairs) and any(new != old for old, new in pairs)


def test_a_view_has_the_same_readings_under_the_same_ids(toy: Toy) -> None:
    view, records = augmented(toy, use="view"), augmented(toy)
    assert table_of(view).to_pydict() == {
        "id": toy.corpus.column("id"),
        **{side: table_of(records).column(side).to_pylist() for side in ("premise", "hypothesis")},
    }
    assert view.folder.name.startswith("views/") and view.name == "reorder-qab"


def test_the_reorderer_is_an_experiment_on_the_parallel_text() -> None:
    links = {"train": "/a", "valid": "/b"}
    operator = parse({"operator": "reorder", "parallel": PARALLEL, "links": links})
    model: Any = operator.models({"corpus": {"language": "qaa"}})["reorderer"]
    assert (model["task"], model["model"]) == ("seq2seq", {"name": "t5-base"})
    form = {"form": "reorder", "min_coverage": 0.5, "links": links}
    assert model["corpus"] == {**PARALLEL, **form}

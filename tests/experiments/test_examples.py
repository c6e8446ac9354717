"""What training reads: draws from token ids in every pass, in the texts that they change, for every task and regime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augury.augment.draw import Symbols
from augury.core.store import Store
from augury.experiments import trainable
from augury.experiments.examples import Examples
from augury.experiments.preparation import examples_of, prepare
from augury.experiments.run import Run
from augury.experiments.training import train
from augury.regimes.regime import Progress
from augury.training.trained import OUTCOME
from tests import tiny

UNKNOWN = 1
SYMBOLS = Symbols(UNKNOWN, np.arange(5, 1_000))
CPU = torch.device("cpu")
DROP = {"operator": "word_drop", "tau": 0.1}
CIPHER = {"operator": "cipher", "keys": [1]}


def prepared(storage: Path, *operators: Any, task: str = "nmt", **changes: Any) -> Run:
    return prepare(tiny.experiment(task, storage, augment=operators, **changes), Store(storage))


def of(run: Run) -> Examples:
    return examples_of(run, lambda: SYMBOLS)


def read(examples: Examples, name: str, number: int = 0) -> list[list[int]]:
    rows = examples.rows.tolist()
    predicted = name == "target"
    return [pieces.tolist() for pieces in examples.pieces([name] * len(rows), rows, number, predicted=predicted)]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_a_draw_changes_its_side_anew_in_every_pass(side: str, storage: Path) -> None:
    plain, examples = of(prepared(storage)), of(prepared(storage, {**DROP, "side": side}))
    for name in ("source", "target"):
        stored, first, second = read(plain, name), read(examples, name), read(examples, name, 1)
        if side not in (name, "both"):
            assert first == second == stored
            continue
        assert first != second and read(examples, name) == first
        pairs = list(zip(sum(stored, []), sum(first, []), strict=True))
        assert {new for old, new in pairs if new != old} == {UNKNOWN}
        assert all(new == old for old, new in pairs if old < 5)
    if side == "both":
        assert _dropped(examples, "source") != _dropped(examples, "target")


def _dropped(examples: Examples, name: str) -> list[int]:
    return [row.count(UNKNOWN) for row in read(examples, name)]


def test_every_view_has_draws_of_its_own_and_so_has_every_operator(storage: Path) -> None:
    views = of(prepared(storage, CIPHER, DROP, regime="coregularised"))
    rows = views.rows.tolist()
    both = views.pieces(["source"] * len(rows) + ["rot-1"] * len(rows), rows + rows, 0)
    assert [pieces.tolist() for pieces in both] == read(views, "source") + read(views, "rot-1")
    assert _dropped(views, "source") != _dropped(views, "rot-1")
    twice = of(prepared(storage, DROP, {**DROP, "seed": 2, "use": "view"}, regime="coregularised"))
    assert read(twice, "source") == read(of(prepared(storage, DROP)), "source") != read(twice, "word_drop")


def test_a_draw_as_a_view_leaves_the_text_as_it_is(storage: Path) -> None:
    plain, run = prepared(storage), prepared(storage, {**DROP, "use": "view"}, regime="coregularised")
    examples = of(run)
    assert run.tokens == plain.tokens and run.data_factor == 2.0
    assert [draw.views for draw in examples.draws] == [("source", "word_drop")]
    assert read(examples, "source") == read(of(plain), "source") != read(examples, "word_drop")


def test_a_source_that_is_predicted_stays_as_it_is(storage: Path) -> None:
    """Equation 2 of CipherDAug: enciphered sources, of which tokens are dropped, predict the plain source."""
    regime = {"name": "multi_source", "equation": 2}
    task: Any = trainable.find("nmt").load(prepared(storage, CIPHER, DROP, regime=regime))
    draw = next(place for place, draw in enumerate(task.examples.draws) if draw.target == "source")
    batch = task.load(sum(task.draw_rows[:draw]) + np.arange(20), 0, CPU).batch
    assert (batch.labels != task.vocabulary.unk).all() and (batch.sources == task.vocabulary.unk).any()


REGIMES: list[Any] = ["plain", "multi_source", {"name": "coregularised", "warmup_steps": 0}, "adversarial"]


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime if isinstance(regime, str) else regime["name"])
def test_a_draw_goes_with_every_regime(regime: Any, storage: Path) -> None:
    operators = [DROP] if regime in ("plain", "adversarial") else [CIPHER, DROP]
    task: Any = trainable.find("nmt").load(prepared(storage, *operators, regime=regime))
    batches = [task.load(np.arange(20), number, CPU).batch for number in (0, 0, 1)]
    assert all(map(torch.equal, batches[0], batches[1])) and torch.equal(batches[0].labels, batches[2].labels)
    assert not torch.equal(batches[0].sources, batches[2].sources)
    assert (batches[0].sources == task.vocabulary.unk).any((1, 2)).all()  # in every view
    assert (batches[0].labels != task.vocabulary.unk).all()
    losses = task.loss(batches[0], Progress(0))
    losses.total.backward()
    assert torch.isfinite(losses.total) and all(torch.isfinite(value).all() for value in losses.metrics.values())


@pytest.mark.parametrize("task", ["nmt", "nli", "seq2seq"])
def test_every_task_is_trained_with_a_draw(task: str, storage: Path) -> None:
    run = prepared(storage, DROP, task=task)
    loaded: Any = trainable.find(task).load(run)
    first, second = (loaded.load(np.arange(20), number, CPU).batch[0] for number in (0, 1))
    assert first.shape == second.shape and not torch.equal(first, second)
    changed = first != second
    unknown = torch.cat([first[changed], second[changed]])
    symbols = loaded.examples._symbols
    assert (first[changed] == symbols.unknown).logical_or(second[changed] == symbols.unknown).all()
    assert np.isin(unknown.numpy(), [*symbols.ordinary, symbols.unknown]).all()
    assert train(run) and run.folder.read_json(OUTCOME)["passes"] == 2


def test_co_regularised_training_pulls_the_text_and_its_draw_together(storage: Path) -> None:
    view = {**DROP, "use": "view"}
    run = prepared(storage, view, task="nli", regime={"name": "coregularised", "warmup_steps": 0})
    task: Any = trainable.find("nli").load(run)
    task.module.eval()
    text, dropped = task.load(np.arange(20), 0, CPU).batch.ids
    assert not torch.equal(text, dropped)
    losses = task.loss(task.load(np.arange(20), 0, CPU).batch, Progress(0))
    assert losses.metrics["divergence"] > 0

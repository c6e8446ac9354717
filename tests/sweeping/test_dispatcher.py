"""What the dispatcher says of trials, without the processes that run them."""

from __future__ import annotations

import math

from augury.core.store import Store
from augury.sweeping.dispatcher import Dispatcher, Key, Limits
from augury.sweeping.race import Exhaustive
from augury.sweeping.state import Curves
from augury.training.history import History


def make(store: Store, seeds: tuple[int, ...] = (1,), **limits) -> Dispatcher:
    race = Exhaustive(["a", "b"], seeds, (None,), mode="max")
    return Dispatcher(
        race,
        (None,),
        store,
        Curves("valid/bleu"),
        Limits(**{"at_once": 2, **limits}),
        start=lambda key: {},
        done=lambda key: store.folder("runs", f"{key.configuration}/seed-{key.seed}").complete,
    )


def validate(dispatcher: Dispatcher, key: Key, **metrics: float) -> None:
    history = History(dispatcher.folder(key))
    history.add(8, 0, {f"valid/{name}": value for name, value in metrics.items()})
    history.flush()


def test_a_metric_that_is_not_validated_is_named(tmp_path):
    dispatcher = make(Store(tmp_path))
    key = dispatcher.take()
    assert key == Key("a", 1)
    validate(dispatcher, key, loss=3.0, perplexity=20.0)
    assert dispatcher.verdict(key, ["valid/loss", "valid/perplexity", "update"]) == "STOP"
    assert dispatcher.progress[key] == "failed"
    assert dispatcher.errors[key] == (
        "the space's metric valid/bleu is not validated; there is valid/loss, valid/perplexity"
    )


def test_no_more_begin_than_may_run(tmp_path):
    dispatcher = make(Store(tmp_path), seeds=(1, 2))
    assert [dispatcher.take(), dispatcher.take(), dispatcher.take()] == [Key("a", 1), Key("b", 1), None]
    validate(dispatcher, Key("a", 1), bleu=3.0)
    dispatcher.folder(Key("a", 1)).finish({})
    dispatcher.returned(Key("a", 1))
    assert dispatcher.progress[Key("a", 1)] == "finished"
    assert [dispatcher.take(), dispatcher.take()] == [Key("a", 2), None]


def test_limits_close_the_desk(tmp_path):
    few = make(Store(tmp_path / "few"), trials=1)
    assert [few.take(), few.take()] == [Key("a", 1), None]
    assert few.full and not few.over
    late = make(Store(tmp_path / "late"), deadline=0.0)
    assert late.take() is None and late.over
    fast = make(Store(tmp_path / "fast"), fail_fast=True)
    key = fast.take()
    fast.failed(key, "out of memory")
    assert fast.take() is None and fast.over


def test_a_value_that_is_not_finite_is_not_the_best(tmp_path):
    dispatcher = make(Store(tmp_path))
    for update, value in enumerate((1.0, math.nan, 4.0, math.inf), start=1):
        history = History(dispatcher.folder(Key("a", 1)))
        history.add(update, 0, {"valid/bleu": value})
        history.flush()
    assert dispatcher._best(dispatcher.curves.of(dispatcher.folder(Key("a", 1)))) == 4.0

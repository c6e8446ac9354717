"""The decisions of the dispatcher on trials, without processes that run them."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Literal

import pytest

from augury.core.periodic import Throttle
from augury.core.store import Store
from augury.sweeping.closing import Closing
from augury.sweeping.dispatcher import Dispatcher, Limits
from augury.sweeping.price import price
from augury.sweeping.race import Exhaustive
from augury.sweeping.state import Curves, TrialKey
from augury.training.history import History


def make(store: Store, seeds: tuple[int, ...] = (1,), **limits) -> Dispatcher:
    return Dispatcher(
        Exhaustive(["a", "b"], seeds, (None,), mode="max"),
        (None,),
        store,
        Curves("valid/bleu"),
        Limits(**{"at_once": 2, **limits}),
        start=lambda key: {},
        done=lambda key: store.folder("runs", f"{key.configuration}/seed-{key.seed}").complete,
    )


def validate(dispatcher: Dispatcher, key: TrialKey, **metrics: float) -> None:
    history = History(dispatcher.folder(key))
    history.add(8, 0, {f"valid/{name}": value for name, value in metrics.items()})
    history.flush()


def test_a_metric_that_is_not_validated_is_named(tmp_path):
    dispatcher = make(Store(tmp_path))
    key = dispatcher.next_trial()
    assert key == TrialKey("a", 1)
    validate(dispatcher, key, loss=3.0, perplexity=20.0)
    assert dispatcher.on_result(key, ["valid/loss", "valid/perplexity", "update"]) == "STOP"
    assert dispatcher.progress[key] == "failed"
    assert dispatcher.errors[key].endswith(
        "is not validated: set 'metric' to one of valid/loss, valid/perplexity"
    )


def test_no_more_trials_start_than_may_run(tmp_path):
    dispatcher = make(Store(tmp_path), seeds=(1, 2))
    assert [dispatcher.next_trial(), dispatcher.next_trial(), dispatcher.next_trial()] == [
        TrialKey("a", 1),
        TrialKey("b", 1),
        None,
    ]
    validate(dispatcher, TrialKey("a", 1), bleu=3.0)
    dispatcher.folder(TrialKey("a", 1)).finish({})
    dispatcher.on_complete(TrialKey("a", 1))
    assert dispatcher.progress[TrialKey("a", 1)] == "finished"
    assert [dispatcher.next_trial(), dispatcher.next_trial()] == [TrialKey("a", 2), None]


def test_limits_end_the_sweep(tmp_path):
    few = make(Store(tmp_path / "few"), trials=1)
    assert [few.next_trial(), few.next_trial()] == [TrialKey("a", 1), None]
    assert few.full and not few.finished
    late = make(Store(tmp_path / "late"), deadline=0.0)
    assert late.next_trial() is None and late.finished
    fast = make(Store(tmp_path / "fast"), fail_fast=True)
    key = fast.next_trial()
    fast.on_error(key, "out of memory")
    assert fast.next_trial() is None and fast.finished


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_budget_is_spent_by_time_that_passes_whatever_the_clock(tmp_path, monkeypatch, hours):
    dispatcher = make(Store(tmp_path), deadline=time.monotonic() + 0.2)
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + 3600 * hours)
    assert not dispatcher.stopping
    time.sleep(0.3)
    assert dispatcher.stopping


@pytest.mark.parametrize(
    ("mode", "slow", "chosen"),
    [("max", 30.15, "quick"), ("max", 30.25, "slow"), ("min", 29.85, "quick")]
    + [("min", 29.75, "slow")],
)
def test_what_takes_four_times_as_long_has_to_be_better_by_two_tenths(
    tmp_path: Path, mode: Literal["max", "min"], slow: float, chosen: str
) -> None:
    """And the decision shows values of the metric."""
    store, values = Store(tmp_path), {"quick": 30.0, "slow": slow}
    scheduler = Exhaustive(["quick", "slow"], [1], [None], mode=mode)
    dispatcher = Dispatcher(
        scheduler,
        (None,),
        store,
        Curves("valid/bleu"),
        Limits(2),
        start=lambda key: {},
        done=lambda key: True,
        price={"quick": 0.0, "slow": price(4, 0.1)}.__getitem__,
    )
    for name, value in values.items():
        validate(dispatcher, TrialKey(name, 1), bleu=value)
        dispatcher.on_complete(TrialKey(name, 1))
    assert (scheduler.finished, scheduler.best) == (True, chosen)
    (decision,) = dispatcher.decisions
    assert decision.mean == pytest.approx(values[chosen])


def test_a_value_that_is_not_finite_is_not_the_best(tmp_path):
    dispatcher = make(Store(tmp_path))
    for update, value in enumerate((1.0, math.nan, 4.0, math.inf), start=1):
        history = History(dispatcher.folder(TrialKey("a", 1)))
        history.add(update, 0, {"valid/bleu": value})
        history.flush()
    assert dispatcher._best(dispatcher.curves.of(dispatcher.folder(TrialKey("a", 1)))) == 4.0


class _Decided(Exhaustive):
    """A race that was decided by other seeds than those that still run."""

    def work(self):
        return []


def test_a_trial_that_a_decided_race_does_not_need_is_stopped(tmp_path):
    dispatcher = make(Store(tmp_path))
    key = dispatcher.next_trial()
    validate(dispatcher, key, bleu=3.0)
    dispatcher.scheduler = _Decided(["a", "b"], (1,), (None,), mode="max")
    assert dispatcher.on_result(key) == "PAUSE" and dispatcher.progress[key] == "paused"
    dispatcher.scheduler.finished = True
    assert dispatcher.on_result(key) == "STOP" and dispatcher.progress[key] == "stopped"


def test_a_budget_ends_with_trials_that_can_still_finish(tmp_path):
    reference, other = TrialKey("a", 1), TrialKey("b", 1)
    dispatcher = make(Store(tmp_path), seeds=(1, 2), deadline=time.monotonic() + 5)
    dispatcher.closing = Closing("a", time.monotonic() + 5, lambda address: 1.0, "max")
    for key, seconds in ((reference, 20.0), (other, 10.0)):
        assert dispatcher.next_trial() == key
        history = History(dispatcher.folder(key))
        history.add(8, 0, {"valid/bleu": 3.0, "train/seconds": seconds})
        history.flush()
    dispatcher.progress[other] = "running"
    dispatcher.folder(reference).finish({})
    dispatcher.on_complete(reference)
    dispatcher._closing_throttle = Throttle(0)
    assert dispatcher.wanted() == [other]
    dispatcher.on_error(other, "out of memory")
    assert dispatcher.wanted() == [TrialKey("a", 2), TrialKey("b", 2)]

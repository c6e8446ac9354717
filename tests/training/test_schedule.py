from __future__ import annotations

import pytest

from augury.training.schedule import Patience, last_update, learning_rate
from augury.training.settings import Training, without_end

EPOCH = 1000


def test_inverse_square_root_goldens() -> None:
    training = Training(learning_rate=6e-4, warmup_updates=8000)
    assert learning_rate(training, 4000, EPOCH) == pytest.approx(3e-4, rel=1e-12)
    assert learning_rate(training, 8000, EPOCH) == pytest.approx(6e-4, rel=1e-12)
    assert learning_rate(training, 32000, EPOCH) == pytest.approx(3e-4, rel=1e-12)


def test_linear_falls_to_zero_at_the_last_update() -> None:
    training = Training(schedule="linear", learning_rate=1.0, warmup_updates=10, max_updates=110)
    assert [learning_rate(training, update, EPOCH) for update in (5, 10, 60, 110)] == [0.5, 1.0, 0.5, 0.0]


def test_linear_falls_to_zero_at_the_end_of_the_last_epoch() -> None:
    training = Training(schedule="linear", learning_rate=1.0, warmup_share=0.1, max_passes=5, max_updates=None)
    assert last_update(training, 20) == 100
    assert [learning_rate(training, update, 20) for update in (5, 10, 55, 100)] == [0.5, 1.0, 0.5, 0.0]
    sooner = training.model_copy(update={"max_updates": 50})
    assert last_update(sooner, 20) == 50 and learning_rate(sooner, 5, 20) == 1.0
    assert last_update(sooner, 5) == 25


def test_a_share_of_a_rate_that_ends_nowhere_else_warms_up_too() -> None:
    training = Training(schedule="constant", learning_rate=2.0, warmup_share=0.25, max_updates=40)
    assert [learning_rate(training, update, EPOCH) for update in (5, 10, 40)] == [1.0, 2.0, 2.0]


def test_constant_without_warm_up() -> None:
    training = Training(schedule="constant", learning_rate=0.1, warmup_updates=0)
    assert learning_rate(training, 1, EPOCH) == learning_rate(training, 1000, EPOCH) == 0.1


def test_patience_stops_at_the_fourth_validation() -> None:
    patience = Patience(2)
    stopped = []
    for score in (10, 11, 11, 10.9):
        patience.improved(score)
        stopped.append(patience.exhausted)
    assert stopped == [False, False, False, True]
    assert patience.best == 11


def test_perplexities_with_patience_three_stop_after_the_fifth() -> None:
    patience = Patience(3)
    better = [patience.improved(-perplexity) for perplexity in (10, 9, 9.5, 9.2, 9.1)]
    assert better == [True, True, False, False, False]
    assert patience.exhausted


def test_presets_and_contradictions() -> None:
    code = Training.model_validate({"preset": "released_code", "max_updates": 500, "patience": 3})
    assert (code.warmup_updates, code.clip_norm, code.weight_decay, code.patience) == (6000, 0.1, 1e-4, 3)
    with pytest.raises(ValueError, match="unknown preset of training 'papr': did you mean 'paper'?"):
        Training.model_validate({"preset": "papr"})
    assert (code.max_tokens, code.accumulation, code.weights) == (5000, 4, "averaged")
    with pytest.raises(ValueError, match="max_passes"):
        Training.model_validate({"max_epochs": 3})


def test_one_budget_unless_two_are_set() -> None:
    ends = [{}, {"max_passes": 3}, {"max_updates": 7}, {"max_passes": 3, "max_updates": 7}]
    settings = [Training.model_validate(end) for end in ends]
    assert [(training.max_passes, training.max_updates) for training in settings] == [
        (None, 100_000),
        (3, None),
        (None, 7),
        (3, 7),
    ]
    with pytest.raises(ValueError, match="max_passes or max_updates"):
        Training(max_updates=None)


def test_a_beginning_that_depends_on_the_end_is_shared_with_no_longer_training() -> None:
    shorter, longer = (Training(warmup_share=0.1, max_updates=updates) for updates in (100, 200))
    assert without_end(shorter) != without_end(longer)
    assert without_end(Training(max_updates=100)) == without_end(Training(max_updates=200))

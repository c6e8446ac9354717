from __future__ import annotations

from collections.abc import Sequence

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
    assert [learning_rate(training, update, EPOCH) for update in (5, 10, 60, 110)] == [
        0.5,
        1.0,
        0.5,
        0.0,
    ]


def test_linear_falls_to_zero_at_the_end_of_the_last_epoch() -> None:
    training = Training(
        schedule="linear", learning_rate=1.0, warmup_share=0.1, max_epochs=5, max_updates=None
    )
    assert last_update(training, 20) == 100
    assert [learning_rate(training, update, 20) for update in (5, 10, 55, 100)] == [
        0.5,
        1.0,
        0.5,
        0.0,
    ]
    sooner = training.model_copy(update={"max_updates": 50})
    assert last_update(sooner, 20) == 50 and learning_rate(sooner, 5, 20) == 1.0
    assert last_update(sooner, 5) == 25


def test_a_share_of_a_rate_that_ends_nowhere_else_warms_up_too() -> None:
    training = Training(schedule="constant", learning_rate=2.0, warmup_share=0.25, max_updates=40)
    assert [learning_rate(training, update, EPOCH) for update in (5, 10, 40)] == [1.0, 2.0, 2.0]


def test_constant_without_warm_up() -> None:
    training = Training(schedule="constant", learning_rate=0.1, warmup_updates=0)
    assert learning_rate(training, 1, EPOCH) == learning_rate(training, 1000, EPOCH) == 0.1


def validations_until_stop(patience: Patience, scores: Sequence[float]) -> int:
    """The number of validations after which patience is exhausted.

    One more than there are if it is not.
    """
    for number in range(1, len(scores) + 1):
        patience.count(scores[:number])
        if patience.exhausted:
            return number
    return len(scores) + 1


def test_patience_stops_at_the_fourth_validation() -> None:
    patience = Patience(2)
    assert validations_until_stop(patience, (10, 11, 11, 10.9)) == 4
    assert patience.best == 11


def test_perplexities_with_patience_three_stop_after_the_fifth() -> None:
    assert (
        validations_until_stop(Patience(3), [-perplexity for perplexity in (10, 9, 9.5, 9.2, 9.1)])
        == 5
    )


NOISY = (10, 15, 11, 12, 13, 14, 13, 12, 12, 12, 12)


@pytest.mark.parametrize(
    ("mean_of", "stops_after", "best"),
    [
        (1, 5, 15),  # the second validation, by luck
        (2, 9, 13.5),  # means 12.5, 13, 11.5, 12.5, 13.5, 13.5, 12.5, 12
        (3, 10, 40 / 3),  # means 12, 12.67, 12, 13, 13.33, 13, 12.33, 12
    ],
)
def test_no_single_validation_decides_where_means_must_improve(
    mean_of: int, stops_after: int, best: float
) -> None:
    patience = Patience(3, mean_of)
    assert validations_until_stop(patience, NOISY) == stops_after
    assert patience.best == pytest.approx(best)


def test_validations_before_the_first_mean_do_not_count() -> None:
    assert validations_until_stop(Patience(1, 3), (3, 2, 1, 0)) == 4


def test_an_epoch_of_the_released_script_is_four_epochs_over_iwslt14() -> None:
    preset, pairs, samples, max_tokens = (
        Training.model_validate({"preset": "released_code"}),
        160_239,
        641_000,
        5000,
    )
    read = preset.validate_every_epochs * pairs
    assert 0 < samples - read < max_tokens / 25  # less than one of its batches
    assert preset.patience * preset.validate_every_epochs == 100 and preset.decayed == "all"


def test_presets_and_contradictions() -> None:
    code = Training.model_validate({"preset": "released_code", "max_updates": 500, "patience": 3})
    assert (code.warmup_updates, code.clip_norm, code.weight_decay, code.patience) == (
        6000,
        0.1,
        1e-4,
        3,
    )
    with pytest.raises(
        ValueError, match="unknown preset of training 'papr': did you mean 'paper'?"
    ):
        Training.model_validate({"preset": "papr"})
    assert (code.max_tokens, code.accumulation, code.weights) == (5000, 4, "averaged")


def test_one_budget_unless_two_are_set() -> None:
    ends = [{}, {"max_epochs": 3}, {"max_updates": 7}, {"max_epochs": 3, "max_updates": 7}]
    settings = [Training.model_validate(end) for end in ends]
    assert [(training.max_epochs, training.max_updates) for training in settings] == [
        (None, 100_000),
        (3, None),
        (None, 7),
        (3, 7),
    ]
    with pytest.raises(ValueError, match="max_epochs or max_updates"):
        Training(max_updates=None)


def test_a_beginning_that_depends_on_the_end_is_shared_with_no_longer_training() -> None:
    shorter, longer = (Training(warmup_share=0.1, max_updates=updates) for updates in (100, 200))
    assert without_end(shorter) != without_end(longer)
    assert without_end(Training(max_updates=100)) == without_end(Training(max_updates=200))

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from augury.errors import UserError
from augury.rng import generator
from augury.scoring.bootstrap import Interval, interval, paired
from augury.scoring.metrics import metric


def mean(sums) -> float:
    return sums[0] / sums[1]


def numbers(*key: str | int, n: int = 400) -> np.ndarray:
    """Statistics whose score, under `mean`, is a mean of `n` numbers between 0 and 99."""
    return np.column_stack([generator(*key).integers(100, size=n), np.ones(n, dtype=int)])


def test_interval_of_a_mean_is_the_textbook_one():
    statistics = numbers("a")
    centre, error = statistics[:, 0].mean(), statistics[:, 0].std() / 20
    found = interval(statistics, mean, samples=4000)
    assert found.low == pytest.approx(centre - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(centre + 1.96 * error, abs=0.1 * error)


def test_level():
    statistics = numbers("a")
    wide, narrow = interval(statistics, mean, level=0.99), interval(statistics, mean, level=0.5)
    assert wide.low < narrow.low < mean(statistics.sum(0)) < narrow.high < wide.high


@pytest.mark.parametrize(("ratio", "size"), [(1.0, 400), (0.5, 200), (0.001, 1)])
def test_every_sample_has_the_size_asked_for(ratio, size):
    sizes = []
    interval(numbers("a"), lambda sums: sizes.append(sums[1]) or 0.0, ratio=ratio, samples=20)
    assert sizes == [size] * 20


def test_half_samples_widen_the_interval():
    full, half = (interval(numbers("a"), mean, ratio=ratio, samples=4000) for ratio in (1.0, 0.5))
    assert (half.high - half.low) / (full.high - full.low) == pytest.approx(2**0.5, rel=0.1)


def test_deterministic():
    statistics = numbers("a")
    assert interval(statistics, mean, seed=1) == interval(statistics, mean, seed=1)
    assert interval(statistics, mean, seed=1) != interval(statistics, mean, seed=2)


def test_one_sentence_has_no_spread():
    assert interval(np.array([[7, 2]]), mean) == Interval(3.5, 3.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": 0}, "0 bootstrap samples"),
        ({"ratio": 0.0}, "ratio of 0.0"),
        ({"ratio": 1.5}, "ratio of 1.5"),
        ({"level": 1.0}, "level of 1.0"),
    ],
)
def test_parameters_out_of_range(given, message):
    with pytest.raises(UserError, match=message):
        interval(numbers("a"), mean, **given)


def test_identical_systems_do_not_differ():
    found = paired(numbers("a"), numbers("a"), mean)
    assert (found.difference, found.interval) == (0.0, Interval(0.0, 0.0))
    assert (found.wins, found.losses, found.p_value) == (0.0, 0.0, 1.0)


def test_system_better_everywhere():
    baseline = numbers("a")
    found = paired(baseline, baseline + [5, 0], mean, samples=999)
    assert found.difference == pytest.approx(5)
    assert (found.interval.low, found.interval.high) == pytest.approx((5, 5))
    assert (found.wins, found.losses, found.p_value) == (1.0, 0.0, 0.001)


def test_swapping_the_systems_mirrors_the_result():
    one, other = paired(numbers("a"), numbers("b"), mean), paired(numbers("b"), numbers("a"), mean)
    assert one.difference == -other.difference
    assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))
    assert (one.wins, one.losses, one.p_value) == (other.losses, other.wins, other.p_value)


def test_pairs_share_their_sentences():
    """Without pairing, the error of the common part would drown the difference."""
    common = numbers("common")
    system = common + np.column_stack([numbers("own")[:, 0] // 50, np.zeros(400, dtype=int)])
    alone = interval(system, mean)
    together = paired(common, system, mean).interval
    assert together.low > 0
    assert together.high - together.low < 0.1 * (alone.high - alone.low)


def test_half_samples_weaken_the_test():
    full, half = (paired(numbers("a"), numbers("b"), mean, ratio=ratio, samples=4000) for ratio in (1.0, 0.5))
    assert half.difference == full.difference
    assert half.p_value > full.p_value


def test_false_alarms_are_as_rare_as_the_level_says():
    trials = 300
    alarms = sum(
        paired(numbers("a", trial, n=100), numbers("b", trial, n=100), mean, samples=200).p_value <= 0.05
        for trial in range(trials)
    )
    assert 0.02 <= alarms / trials <= 0.08


def test_agrees_with_sacrebleu(corpus):
    """Intervals as in sacreBLEU; its p-value looks one way only and is half of ours."""
    library = PairedTest(
        [("worse", corpus.worse), ("better", corpus.better)],
        {"BLEU": sacrebleu.BLEU()},
        [corpus.references],
        test_type="bs",
        n_samples=4000,
    )
    baseline, system = library()[1]["BLEU"]
    bleu = metric("bleu", "en")
    worse, better = (bleu.statistics(lines, corpus.references) for lines in (corpus.worse, corpus.better))
    ours = paired(worse, better, bleu.value, samples=4000)
    assert ours.difference == system.score - baseline.score
    for statistics, expected in ((worse, baseline), (better, system)):
        found = interval(statistics, bleu.value, samples=4000)
        assert (found.high - found.low) / 2 == pytest.approx(expected.ci, rel=0.1)
    assert 0.02 < ours.p_value < 0.5
    assert ours.p_value / 2 == pytest.approx(system.p_value, abs=0.02)
    # What compare-mt prints as p asks the same one-sided question by counting wins.
    assert 1 - ours.wins == pytest.approx(system.p_value, abs=0.02)

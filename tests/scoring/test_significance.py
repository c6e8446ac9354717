from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest
from scipy import stats

from augury.core.rng import generator
from augury.scoring import bootstrap
from augury.scoring.bootstrap import Resampled, resample, resample_counts
from augury.scoring.labels import Accuracy
from augury.scoring.registry import metric
from augury.scoring.scores import score
from augury.scoring.seed_variance import UNKNOWN, SeedVariance
from augury.scoring.significance import (
    Difference,
    Interval,
    clusters,
    compare,
    holm,
    interval,
    mean_over,
)
from tests.scoring.simulated import given_scores, mean, numbers, without_sentences


def one(*key: str | int, n: int = 400, samples: int = 1000) -> Resampled:
    return resample([numbers(*key, n=n)], mean, samples=samples)


def test_one_seed_each_is_compared_on_paired_samples_of_sentences():
    a = one("a", samples=999)
    assert compare(a, a) == Difference(0.0, 0.0, 0.0, 1.0, "sentences")
    better = compare(a, resample([numbers("a") + [5, 0]], mean, samples=999))
    assert (better.value, better.low, better.high) == pytest.approx((5, 5, 5))
    assert better.p_value == 0.001


@pytest.mark.parametrize(
    ("name", "library"), [("bleu", sacrebleu.BLEU()), ("chrf++", sacrebleu.CHRF(word_order=2))]
)
def test_bootstrap_samples_are_those_of_sacrebleu_to_the_bit(corpus, name, library):
    systems = [("worse", corpus.worse), ("better", corpus.better)]
    _, expected = PairedTest(systems, {name: library}, [corpus.references], "bs", n_samples=1000)()
    (result,) = (results for key, results in expected.items() if key != "System")
    ours = metric(name, "en")
    worse, better = (
        resample([ours.statistics(lines, corpus.references)], ours.value) for _, lines in systems
    )
    # Its p-value centres absolute differences, which ours does not.
    differences = np.abs(better.samples - worse.samples)
    extreme = differences - differences.mean() > abs(better.value - worse.value)
    assert (1 + extreme.sum()) / (1 + len(differences)) == result[1].p_value
    assert 0.002 < result[1].p_value < 0.5
    width = interval(better).high - interval(better).low
    assert width == pytest.approx(2 * result[1].ci, rel=0.02)


def test_two_levels_by_hand():
    """Baseline (1, 3), system (5, 9), two samples; every number below can be checked on paper."""
    baseline = given_scores([1, 3], [[0, 2], [2, 6]])
    system = given_scores([5, 9], [[4, 8], [6, 12]])
    # Seeds: V = 2/2 + 8/2 = 5. Differences of means in the samples: 5 and 5, so W = 0 and nothing
    # is added.
    difference = compare(baseline, system, UNKNOWN)
    half = stats.t.ppf(0.975, 5**2 / (1 + 4**2)) * 5**0.5
    assert (difference.value, difference.over) == (5.0, "seeds and sentences")
    assert (difference.low, difference.high) == pytest.approx((5 - half, 5 + half))
    # One system: V = 4; means in the samples 6 and 9, so W = 2.25; seeds move from their scores by
    # (-1, -1) and (1, 3), whose sample variances are 0 and 2, so I = 1 / 2; in all 4 + 2.25 - 0.5 =
    # 5.75 on 1 * 5.75 / 4.
    half = stats.t.ppf(0.975, 5.75 / 4) * 5.75**0.5
    assert interval(system) == Interval(pytest.approx(7 - half), pytest.approx(7 + half))


def test_moderation_by_hand():
    """The same systems; their sample variances are 2 and 8, on one degree of freedom each."""
    baseline = given_scores([1, 3], [[0, 2], [2, 6]])
    system = given_scores([5, 9], [[4, 8], [6, 12]])
    # Shrunk to each other: (2 x 5 + 2) / 3 = 4 and (2 x 5 + 8) / 3 = 6, so V = 5; Welch's degrees
    # of freedom are 5^2 / (2^2 / 2 + 3^2 / 2) = 3.8, but the two systems have 2.
    difference, half = compare(baseline, system), stats.t.ppf(0.975, 2) * 5**0.5
    assert (difference.low, difference.high) == pytest.approx((5 - half, 5 + half))
    assert difference.p_value == pytest.approx(2 * stats.t.sf(5**0.5, 2))
    # Shrunk to a variance of 3 on 10, which counts for 4: (4 x 3 + 2) / 5 = 2.8 and (4 x 3 + 8) / 5
    # = 4 on 5 each, so V = 3.4 on 3.4^2 / (1.4^2 / 5 + 2^2 / 5).
    pooled = SeedVariance(3.0, 0.5, 10.0)
    difference = compare(baseline, system, pooled)
    half = stats.t.ppf(0.975, 17 * 3.4 / 5.96) * 3.4**0.5
    assert (difference.low, difference.high) == pytest.approx((5 - half, 5 + half))
    # One system: V = 2, and W - I = 2.25 - 0.5 as above; 5 degrees of freedom times 3.75 / 2.
    half = stats.t.ppf(0.975, 5 * 3.75 / 2) * 3.75**0.5
    assert interval(system, pooled) == Interval(pytest.approx(7 - half), pytest.approx(7 + half))


def test_without_an_effect_of_sentences_it_is_welchs_test():
    baseline, system = (generator("welch", n).normal(30 + n, 1 + n, size=n) for n in (2, 5))
    expected = stats.ttest_ind(system, baseline, equal_var=False)
    difference = compare(without_sentences(baseline), without_sentences(system), UNKNOWN)
    assert difference.p_value == pytest.approx(expected.pvalue)
    ends = tuple(expected.confidence_interval(0.95))
    assert (difference.low, difference.high) == pytest.approx(ends)


def test_equal_outputs_that_are_better_everywhere_have_a_p_value():
    three, better = (resample([numbers("a") + [more, 0]] * 3, mean, samples=999) for more in (0, 5))
    assert compare(three, better).p_value == 0.001


def test_a_single_seed_is_as_noisy_as_those_it_is_compared_with():
    """V = s^2 (1 + 1/3) with two degrees of freedom."""
    scores = np.array([29.0, 30.0, 31.0])
    baseline, system = without_sentences(scores), without_sentences([33.0])
    expected = 2 * stats.t.sf(3 / (4 / 3) ** 0.5, 2)
    assert compare(baseline, system).p_value == pytest.approx(expected)
    assert compare(system, baseline).p_value == pytest.approx(expected)
    assert compare(baseline, system).over == "seeds and sentences"


def test_one_seed_against_one_is_tested_over_sentences_whatever_others_vary_by():
    baseline, system = (resample([numbers(side)], mean) for side in ("a", "b"))
    known = compare(baseline, system, SeedVariance(4.0, 1.0, 12.0))
    assert known == compare(baseline, system, UNKNOWN) and known.over == "sentences"


POOLED = st.sampled_from([None, UNKNOWN, SeedVariance(4.0, 1.0, 12.0)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.floats(-5, 5), POOLED)
def test_properties_of_a_comparison(key, first, second, shift, pooled):
    sides = [
        [numbers(key, side, seed, n=30) for seed in range(n)]
        for side, n in enumerate((first, second))
    ]
    baseline, system = (resample(own, mean, samples=60) for own in sides)
    difference, mirrored = compare(baseline, system, pooled), compare(system, baseline, pooled)
    assert 0 < difference.p_value <= 1
    assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx(
        (-difference.value, -difference.high, -difference.low)
    )
    assert mirrored.p_value == pytest.approx(difference.p_value)
    moved = Resampled(system.scores + shift, system.samples + shift, ())
    both = Resampled(baseline.scores + shift, baseline.samples + shift, ())
    assert compare(both, moved, pooled).value == pytest.approx(difference.value)
    if difference.over == "seeds and sentences":  # interval and test are one statement
        assert difference.low <= difference.value <= difference.high
        assert (difference.p_value < 0.05) == (not difference.low <= 0 <= difference.high)
        error = (system.samples.mean(1) - baseline.samples.mean(1)).std()
        assert difference.p_value >= 2 * stats.norm.sf(abs(difference.value) / error) * (1 - 1e-9)


def test_two_seeds_have_a_least_p_value():
    one, two, three = (without_sentences([*range(count)]) for count in (1, 2, 3))
    sides = (two, three), (one, three), (three, three), (one, one)
    assert [compare(*pair).least_p for pair in sides] == [0.01, 0.01, 0.0, 0.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closed_test_of_bonferroni(p_values):
    """Corrected: the largest Bonferroni p-value of all sets of hypotheses that one belongs to
    (Marcus et al.)."""
    sets = [chosen for chosen in product((False, True), repeat=len(p_values)) if any(chosen)]

    def bonferroni(chosen) -> float:
        selected = [p for p, inside in zip(p_values, chosen, strict=True) if inside]
        return min(1.0, len(selected) * min(selected))

    expected = [
        max(bonferroni(chosen) for chosen in sets if chosen[own]) for own in range(len(p_values))
    ]
    assert holm(p_values) == pytest.approx(expected)


def test_clusters_put_an_examples_languages_into_one_row():
    english = (["a", "b", "c"], np.array([[1, 1], [0, 1], [1, 1]]))
    german = (["c", "a", "a"], np.array([[1, 1], [0, 1], [1, 1]]))  # without b, and a twice
    rows = clusters([english, german])
    assert rows.tolist() == [[1, 1, 1, 2], [0, 1, 0, 0], [1, 1, 1, 1]]
    # A set of which nothing was drawn has no part.
    assert mean_over(Accuracy.value, 2)([3, 4, 0, 0]) == 75
    assert mean_over(Accuracy.value, 2)(rows.sum(0).tolist()) == pytest.approx(
        100 * (2 / 3 + 2 / 3) / 2
    )


def test_a_second_language_that_says_the_same_makes_nothing_more_certain():
    """Apart, twice the examples would narrow the interval by the square root of two."""
    ids = [str(index) for index in range(500)]
    labels = np.column_stack([(generator("x").random(500) < 0.7).astype(int), np.ones(500, int)])
    order = generator("order").permutation(500)
    german = ([ids[index] for index in order], labels[order])
    single = interval(resample([labels], Accuracy.value))
    double = interval(resample([clusters([(ids, labels), german])], mean_over(Accuracy.value, 2)))
    assert (double.low, double.high) == pytest.approx((single.low, single.high))
    apart = interval(resample([np.vstack([labels, labels])], Accuracy.value))
    assert (apart.high - apart.low) / (single.high - single.low) == pytest.approx(
        0.5**0.5, abs=0.06
    )


def labels_of(rights: Sequence[int]) -> Resampled:
    """A system of one seed whose labels are right (1) or wrong (0)."""
    table = np.array([[right, 1] for right in rights])
    return resample([table], Accuracy.value, examples=len(table))


def test_labels_without_exception_do_not_show_that_there_is_none() -> None:
    """Exact bound of the share of exceptions: 0.05^(1/277) = 0.98924."""
    share = pytest.approx(1.076, abs=0.001)
    all_right, all_wrong, nearly = map(labels_of, ([1] * 277, [0] * 277, [1] * 276 + [0]))
    assert interval(all_right) == Interval(pytest.approx(98.924, abs=0.001), 100.0)
    assert interval(all_wrong) == Interval(0.0, share)
    difference = compare(all_right, labels_of([1] * 277))
    assert (difference.value, difference.p_value) == (0.0, 1.0)
    assert difference.high == share == -difference.low
    assert interval(nearly) == interval(replace(nearly, examples=0))


def test_all_exceptions_may_be_of_the_rarest_label() -> None:
    """Two labels B among 100: 0.05^(1/2) = 0.2236."""
    labels = ["A"] * 98 + ["B"] * 2
    (measured,) = score(labels, labels, language="", metrics=["macro_f1"])
    assert (measured.low, measured.high) == (pytest.approx(22.361, abs=0.001), 100.0)


def test_a_difference_is_within_the_range_of_its_metric():
    wide = Difference(1.0, -117.0, 120.0, 0.9, "seeds and sentences")
    assert wide.within((0.0, 100.0)) == replace(wide, low=-100.0, high=100.0)
    assert wide.within((-float("inf"), float("inf"))) == wide


def test_blocks_do_not_change_the_draws(monkeypatch):
    (expected,) = resample_counts(10, 20, 1)
    monkeypatch.setattr(bootstrap, "BLOCK", 30)
    blocks = list(resample_counts(10, 20, 1))
    assert len(blocks) == 7
    np.testing.assert_array_equal(np.concatenate(blocks), expected)

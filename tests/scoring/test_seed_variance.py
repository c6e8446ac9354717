from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augury.scoring.seed_variance import (
    UNKNOWN,
    SeedVariance,
    moderated,
    pool,
    sample_variance,
)
from tests.scoring.simulated import given_scores

POOLED = SeedVariance(total=3.0, interaction=2.0, dof=10.0)

VARIANCES = st.builds(
    SeedVariance, st.floats(0, 50), st.floats(0, 50), st.integers(1, 20).map(float)
)


def test_the_variance_of_two_seeds_by_hand():
    """Scores 5 and 9; they move by (-1, -1) and by (1, 3) in two samples, with sample variances
    0 and 2."""
    assert sample_variance(given_scores([5, 9], [[4, 8], [6, 12]])) == SeedVariance(8.0, 1.0, 1.0)
    assert sample_variance(given_scores([5], [[4], [6]])) == UNKNOWN


def test_variances_are_pooled_by_degrees_of_freedom():
    """(1 x 4 + 2 x 10) / 3, (1 x 1 + 2 x 3) / 3; a single seed changes nothing."""
    pooled = pool([SeedVariance(4.0, 1.0, 1.0), UNKNOWN, SeedVariance(10.0, 3.0, 2.0)])
    assert pooled == pytest.approx((8.0, 7 / 3, 3.0))
    assert pool([UNKNOWN, UNKNOWN]) == pool([]) == UNKNOWN


@pytest.mark.parametrize(
    ("own", "pooled", "expected"),
    [
        # Four degrees of the pooled variance, two of the own: (4 x 3 + 2 x 9) / 6, on 4 + 2.
        (SeedVariance(9.0, 1.0, 2.0), POOLED, (5.0, 1.0, 6.0)),
        # Three in all: (3 x 3 + 2 x 9) / 5, on 3.
        (SeedVariance(9.0, 1.0, 2.0), POOLED._replace(dof=3.0), (5.4, 1.0, 3.0)),
        # (4 x 3 + 1 x 0) / 5 = 2.4, below what sentences alone cause.
        (SeedVariance(0.0, 2.5, 1.0), POOLED, (2.5, 2.5, 5.0)),
        # A single seed has the variance of the others, and its floor.
        (UNKNOWN, POOLED, (3.0, 2.0, 4.0)),
        (UNKNOWN, POOLED._replace(total=1.0), (2.0, 2.0, 4.0)),
        # With nothing known of others there is the floor alone.
        (SeedVariance(0.0, 1.0, 2.0), UNKNOWN, (1.0, 1.0, 2.0)),
    ],
)
def test_moderation_by_hand(own, pooled, expected):
    assert moderated(own, pooled) == pytest.approx(expected)


@pytest.mark.parametrize(("total", "shrunk"), [(19.0, True), (20.0, False)])
def test_a_system_that_is_noisier_than_the_others_is_not_shrunk(total, shrunk):
    """The others have 2.25 on eight degrees of freedom; F(2, 8) is 8.65 at 1 %, below 20 / 2.25
    and above 19 / 2.25."""
    own = SeedVariance(total, 1.0, 2.0)
    pooled = pool([own, SeedVariance(2.25, 1.0, 8.0)])
    assert (stats.f.sf(total / 2.25, 2, 8) > 0.01) == shrunk
    expected = (4 * pooled.total + 2 * total) / 6 if shrunk else total
    assert moderated(own, pooled).total == pytest.approx(expected)


@given(st.lists(VARIANCES, min_size=1, max_size=5))
def test_properties_of_moderation(variances):
    pooled = pool(variances)
    for own in variances:
        shrunk = moderated(own, pooled)
        low, high = sorted((own.total, pooled.total))
        assert shrunk.total >= own.interaction
        assert low - 1e-9 <= shrunk.total <= max(high, own.interaction) + 1e-9
        assert own.dof <= shrunk.dof <= pooled.dof


def test_others_that_do_not_vary_at_all_are_another_kind():
    own = SeedVariance(9.0, 1.0, 2.0)
    assert moderated(own, pool([own, SeedVariance(0.0, 0.0, 8.0)])) == own
    still = SeedVariance(0.0, 0.0, 2.0)
    assert moderated(still, pool([still, still])) == pytest.approx((0.0, 0.0, 4.0))

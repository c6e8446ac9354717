from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from augury.core.rng import generator
from augury.scoring.power import MOST_SEEDS, Components, components
from tests.scoring.simulated import systems, without_sentences

KNOWN = Components(seeds=1.0, seeds_and_sentences=100.0, systems_and_sentences=50.0)

SIZES = st.floats(0.01, 100)
COMPONENTS = st.builds(Components, SIZES, SIZES, SIZES)


def test_components_of_simulated_systems_are_found():
    simulated = systems("power", seeds=[150, 150, 150], sentences=600, noise=0.05, samples=400)
    estimated = components(simulated, 600)
    assert estimated is not None
    assert estimated.seeds == pytest.approx(0.05**2, rel=0.2)
    assert estimated.seeds_and_sentences == pytest.approx(0.5**2, rel=0.1)
    assert estimated.systems_and_sentences == pytest.approx(2 * 0.3**2, rel=0.2)


def test_systems_without_a_second_seed_or_without_another_say_nothing():
    one, two = without_sentences([30.0]), without_sentences([30.0, 31.0])
    assert components([one, one], 100) is None
    assert components([two], 100) is None
    assert components([one, two], 100) == Components(0.5, 0.0, 0.0)


@pytest.mark.parametrize(
    ("comparisons", "dof"),
    [
        (1, 4),  # of two systems with three seeds
        (4, 10),  # of five systems: below 2 x (4 + 2)
        (9, 12),  # of ten systems: 2 x (4 + 2), below 20
    ],
)
def test_the_smallest_difference_is_found_in_four_of_five_experiments(comparisons, dof):
    """Three seeds and 100 sentences: V = 2 / 3 x (1 + 1) and 50 / 100 more, so that degrees of
    freedom are (4/3 + 1/2) / (4/3) times those of seeds; Bonferroni's level on both sides."""
    smallest = KNOWN.smallest_difference(3, 100, comparisons)
    critical = stats.t.ppf(1 - 0.05 / comparisons / 2, 1.375 * dof)
    noncentral = smallest / math.sqrt(4 / 3 + 1 / 2)
    assert stats.nct.sf(critical, 1.375 * dof, noncentral) == pytest.approx(0.8, abs=1e-6)
    assert KNOWN.smallest_difference(1, 10**6) == math.inf


@given(COMPONENTS, st.floats(0.1, 20), st.integers(50, 5000), st.integers(1, 14))
def test_the_seeds_needed_are_the_fewest_that_see_a_difference(
    known, difference, sentences, comparisons
):
    needed = known.seeds_needed(difference, sentences, comparisons)
    if needed is None:
        assert known.smallest_difference(MOST_SEEDS, sentences, comparisons) > difference
    else:
        assert known.smallest_difference(needed, sentences, comparisons) <= difference
        assert (
            needed == 2
            or known.smallest_difference(needed - 1, sentences, comparisons) > difference
        )


@pytest.mark.parametrize(("systems", "seeds"), [(2, 2), (2, 3), (5, 3)])
def test_the_range_of_seeds_has_the_true_number_in_four_of_five_experiments(systems, seeds):
    """Without sentences, the variance between seeds is all; one that more than 20 seeds would need
    counts as in the range where its end is open."""
    needed = Components(1.0, 0.0, 0.0).seeds_needed(2.0, 100)
    assert needed is not None
    inside = []
    for draw in range(300):
        scores = generator("range", systems, seeds, draw).normal(30, 1, (systems, seeds))
        known = components([without_sentences([*of_seeds]) for of_seeds in scores], 100)
        assert known is not None and known.dof == systems * (seeds - 1)
        fewest, most = known.range_needed(2.0, 100)
        inside.append((fewest or MOST_SEEDS + 1) <= needed <= (most or MOST_SEEDS + 1))
    assert 0.74 <= sum(inside) / len(inside) <= 0.94

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from augury.core.rng import digest, generator, seed_of

GOLDEN = "[472, 482, 469, 532]"
keys = st.lists(st.one_of(st.integers(), st.text(), st.booleans(), st.none()), min_size=1, max_size=4)


@given(keys)
def test_equal_keys_give_equal_streams(key: list) -> None:
    assert np.array_equal(generator(*key).random(5), generator(*key).random(5))


@given(keys, keys)
def test_different_keys_give_different_digests(one: list, other: list) -> None:
    assert (digest(*one) == digest(*other)) == (repr(one) == repr(other))


def test_streams_do_not_depend_on_the_process() -> None:
    drawn = "generator(1, 'cipher', {'k': 2}, 'id-1', 0).integers(0, 1000, 4).tolist()"
    code = f"from augury.core.rng import generator; print({drawn})"
    environment = {**os.environ, "PYTHONPATH": "platform", "PYTHONHASHSEED": "1"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert result.stdout.strip() == GOLDEN


def test_seed_fits_63_bits() -> None:
    assert all(0 <= seed_of("seed", number) < 2**63 for number in range(1000))

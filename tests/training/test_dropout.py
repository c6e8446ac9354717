from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from augury.training.dropout import Dropout


def test_as_many_are_dropped_as_the_rate_says_and_the_mean_stays() -> None:
    rate = 0.3
    with Dropout(seed=1):
        result = functional.dropout(torch.ones(400_000), rate)
    dropped = float((result == 0).float().mean())
    assert dropped == pytest.approx(rate, abs=5 * (rate * (1 - rate) / 400_000) ** 0.5)
    assert float(result.mean()) == pytest.approx(1, abs=0.01)


def test_a_mask_is_of_its_seed_and_of_the_calls_before_it() -> None:
    def masks(seed: int) -> list[torch.Tensor]:
        stream = Dropout(seed)
        results = []
        for size in (3, 1000, 5):
            with stream:
                results.append(functional.dropout(torch.ones(size)))
        return results

    first, again, other = masks(1), masks(1), masks(2)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[1], other[1])
    with Dropout(1):
        assert not torch.equal(functional.dropout(torch.ones(1000)), first[1])

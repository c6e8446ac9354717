"""The likelihood of held-out rows, and layers that compile once for batches of all shapes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from augury.regimes.regime import Rows
from augury.training.batching import Lengths
from augury.training.learner import likelihood


@pytest.mark.parametrize("max_tokens", [1, 12, 1000])
def test_likelihood_is_that_of_all_rows_together(max_tokens: int) -> None:
    random = torch.Generator().manual_seed(1)
    counts = [3, 1, 4, 2, 5]  # rows of every example
    hidden = [torch.randn(count, 6, generator=random) for count in counts]
    labels = [torch.randint(0, 9, (count,), generator=random) for count in counts]
    weight, bias = torch.randn(9, 6, generator=random), torch.randn(9, generator=random)
    seen: list[int] = []

    def rows(examples: np.ndarray) -> Rows:
        seen.extend(examples.tolist())
        chosen = (
            [hidden[example] for example in examples],
            [labels[example] for example in examples],
        )
        return Rows(torch.cat(chosen[0])[None], weight, bias, torch.cat(chosen[1]))

    result = likelihood(
        rows, Lengths(np.array(counts), np.array(counts)), max_tokens, torch.device("cpu")
    )
    logits = torch.cat(hidden) @ weight.T + bias
    assert result.loss == pytest.approx(float(cross_entropy(logits, torch.cat(labels))), rel=1e-6)
    assert result.accuracy == pytest.approx(
        float((logits.argmax(1) == torch.cat(labels)).float().mean())
    )
    assert sorted(seen) == [0, 1, 2, 3, 4]

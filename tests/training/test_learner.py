"""The likelihood of held-out rows, and layers that compile once for batches of all shapes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch._dynamo.utils import counters
from torch.nn.functional import cross_entropy

from augury.experiments.trial import train_here
from augury.regimes.regime import Rows
from augury.training import learner
from augury.training.batching import Lengths
from augury.training.learner import compile_layers, likelihood
from augury.training.trained import WEIGHTS
from tests import tiny


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


@pytest.mark.slow  # torch imports half of itself to compile
@pytest.mark.trains
@pytest.mark.parametrize(("task", "graphs"), [("nmt", 6), ("nli", 2)])
def test_compiled_layers_train_the_same_model(
    task: str, graphs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is compiled once for batches of all shapes; validations and tests are other code."""
    # Kernels of a CPU take minutes to build; the layers are compiled all the same.
    monkeypatch.setattr(learner, "compile_layers", partial(compile_layers, backend="eager"))
    counters.clear()
    trained = []
    for compiled in (False, True):
        execution = {"compile": compiled, "executor": "local"}
        model = {**tiny.OF_TASK[task]["model"], "dropout": 0.0}
        run = tiny.prepared(task, tmp_path / str(compiled), execution=execution, model=model)
        train_here(run, torch.device("cpu"), lambda metrics: None)
        trained.append(load_file(run.folder.local(WEIGHTS)))
        assert bool(counters["stats"]["unique_graphs"]) == compiled
    assert not counters["graph_break"] and counters["stats"]["unique_graphs"] <= graphs
    for name, tensor in trained[0].items():
        torch.testing.assert_close(trained[1][name], tensor, rtol=1e-3, atol=1e-5)

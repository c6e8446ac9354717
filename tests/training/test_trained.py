from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from augury.core.errors import UserError
from augury.core.store import Store
from augury.training.trained import OUTCOME, WEIGHTS, load_weights


def test_a_run_that_has_ended_has_its_last_parameters(tmp_path: Path) -> None:
    run = Store(tmp_path).folder("runs", "abc/seed-1")
    with pytest.raises(UserError, match="has not finished training: run `augury train` again"):
        load_weights(run, torch.nn.Linear(2, 1))
    run.write(WEIGHTS, save({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}))
    run.write_record(OUTCOME, {}, [WEIGHTS])
    model = load_weights(run, torch.nn.Linear(2, 1))
    assert model(torch.tensor([1.0, 1.0])).tolist() == [6.0] and not model.training
    with pytest.raises(UserError, match="belongs to another model"):
        load_weights(run, torch.nn.Linear(3, 1))

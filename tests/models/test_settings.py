from __future__ import annotations

import pytest
import torch

from augury.core.errors import UserError
from augury.models.settings import attention, check_heads


@pytest.mark.parametrize(("gpu", "chosen"), [(False, "eager"), (True, None)])
def test_on_a_gpu_transformers_chooses_the_attention(
    gpu: bool, chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    assert [attention(setting) for setting in ("auto", "eager", "sdpa")] == [
        chosen,
        "eager",
        "sdpa",
    ]  # type: ignore[arg-type]


def test_heads_divide_the_hidden_size() -> None:
    check_heads(48, 4)
    with pytest.raises(UserError, match="hidden_size 50 must be a multiple of attention_heads 4"):
        check_heads(50, 4)

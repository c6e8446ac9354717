from __future__ import annotations

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.tasks.classification.settings import Scratch


def test_sizes_are_checked() -> None:
    assert Scratch(architecture="small", layers=3).sizes.layers == 3
    with pytest.raises(UserError, match="hidden_size 50 must be a multiple of attention_heads 4"):
        validate(Scratch, {"architecture": "tiny", "hidden_size": 50}, "model")

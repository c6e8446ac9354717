"""A model that no hub can give here is known before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import constants

from augury.text.pretrained import unreachable


def test_a_directory_is_at_hand_and_a_name_is_not_without_a_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert unreachable(str(tmp_path)) is None
    assert unreachable("nobody/no-such-model") is not None

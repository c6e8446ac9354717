from __future__ import annotations

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from trainables.nmt.config import ModelConfig, Sizes, resolve


def test_a_size_left_out_is_the_architectures() -> None:
    assert resolve(ModelConfig(architecture="small")) == Sizes(3, 3, 256, 1024, 4, 0.3, 0.1)
    changed = ModelConfig(architecture="small", decoder_layers=1, attention_heads=8, dropout=0.0)
    assert resolve(changed) == Sizes(3, 1, 256, 1024, 8, 0.0, 0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attention_heads": 3}, "hidden_size 512 must be a multiple of attention_heads 3"),
        ({"architecture": "tiny", "hidden_size": 130}, "hidden_size 130 must be a multiple of"),
        ({"architecture": "huge"}, "architecture = 'huge'"),
        ({"dropout": 1.0}, "dropout = 1.0"),
        ({"hidden_sise": 64}, "did you mean 'hidden_size'?"),
    ],
)
def test_settings_that_do_not_fit_are_user_errors(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError) as error:
        validate(ModelConfig, settings, "model")
    assert message in str(error.value)

"""A pretrained model by a relative path is found in trials, which Ray moves elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from transformers import BertConfig, BertForMaskedLM

from augury.cli import main
from tests import tiny
from tests.tasks.conftest import ENCODER, words_tokenizer


@pytest.mark.slow
@pytest.mark.usefixtures("local_ray")
def test_trials_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = words_tokenizer("bert")
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **ENCODER)).save_pretrained(
        tmp_path / "encoder"
    )
    tokenizer.save_pretrained(tmp_path / "encoder")
    training = {"max_tokens": 400, "max_updates": 4, "max_epochs": None, "validate_every": 2}
    content = tiny.content("nli", Path("store"), model={"name": "./encoder"}, training=training)
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(yaml.safe_dump({**content, "health": {}}))
    rows = ["--rows", "R-Drop", "--seeds", "1", "--executor", "ray"]
    assert main(["sweep", "augmentations", "my.yaml", *rows]) == 0

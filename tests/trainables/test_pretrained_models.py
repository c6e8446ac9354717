"""Pretrained models by name or directory: what identifies them, and which are refused before
anything is made."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.make import prepare
from tests import tiny

Checkpoint = Callable[..., Path]


def known(storage: Path, task: str = "nli", **model: Any) -> str:
    return Graph(Store(storage)).plan(tiny.experiment(task, storage, model=model)).address


def test_a_pretrained_model_is_known_by_its_files(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path, copy = checkpoint("bert"), tmp_path / "copy"
    shutil.copytree(path, copy)
    assert known(tmp_path, name=str(copy)) == known(tmp_path, name=str(path))
    different = [{"name": str(copy), "attention": "eager"}, {"name": str(checkpoint("distilbert"))}]
    on_the_hub = [{"name": "someone/model"}, {"name": "someone/model", "revision": "v2"}]
    models = [{"name": str(path)}, *different, *on_the_hub]
    assert len({known(tmp_path, **model) for model in models}) == len(models)


@pytest.mark.parametrize("task", ["nli", "seq2seq"])
def test_a_directory_that_is_not_there_is_refused(task: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no pretrained model '/nowhere'"):
        prepare(tiny.experiment(task, tmp_path, model={"name": "/nowhere"}), Store(tmp_path))


def test_a_model_that_an_attack_cannot_move_is_refused_before_anything_is_made(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"model": {"name": str(checkpoint("t5"))}, "max_length": 32}
    with pytest.raises(
        UserError,
        match="regime adversarial perturbs word embeddings, and '.*t5.* Take regime plain",
    ):
        prepare(tiny.experiment("nli", tmp_path, **changes, regime="adversarial"), Store(tmp_path))
    assert not (tmp_path / "corpora").exists()
    assert prepare(tiny.experiment("nli", tmp_path, **changes), Store(tmp_path)).data_factor == 1


def test_draws_need_a_tokenizer_with_an_unknown_symbol(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    """SentencePiece models of byte fallback and GPT-2's have none."""
    from transformers import AutoTokenizer

    path = checkpoint("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.unk_token = None
    tokenizer.save_pretrained(path)
    draw = {"augment": [{"operator": "word_drop"}], "max_length": 32}
    with pytest.raises(UserError, match="unknown symbol, and the model's tokenizer has none"):
        prepare(
            tiny.experiment("nli", tmp_path, model={"name": str(path)}, **draw), Store(tmp_path)
        )

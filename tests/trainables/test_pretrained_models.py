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


def known(storage: Path, **model: Any) -> str:
    return Graph(Store(storage)).plan(tiny.experiment("nli", storage, model=model)).address


def test_a_pretrained_model_is_known_by_its_files(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path, copy = checkpoint("bert"), tmp_path / "copy"
    shutil.copytree(path, copy)
    assert known(tmp_path, name=str(copy)) == known(tmp_path, name=str(path))
    different = [{"name": str(checkpoint("distilbert"))}]
    on_the_hub = [{"name": "someone/model"}, {"name": "someone/model", "revision": "v2"}]
    models = [{"name": str(path)}, *different, *on_the_hub]
    assert len({known(tmp_path, **model) for model in models}) == len(models)


def test_what_cannot_be_read_or_attacked_is_refused_before_anything_is_made(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    for name, message in (
        ("/nowhere", "no pretrained model '/nowhere'"),
        (str(checkpoint("t5")), "t5.* cannot be read here .* Take an encoder"),
    ):
        with pytest.raises(UserError, match=message):
            prepare(
                tiny.experiment("nli", tmp_path, model={"name": name}, regime="adversarial"),
                Store(tmp_path),
            )
    assert not (tmp_path / "corpora").exists()

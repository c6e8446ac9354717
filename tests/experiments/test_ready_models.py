"""Trained models that operators take as they are: runs of any storage, and checkpoints of
`transformers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.augment.models import ReadyModel
from augury.core.errors import UserError
from augury.core.store import Store
from augury.decoding.settings import Sampling
from augury.experiments.graph import Graph
from augury.experiments.preflight import check
from augury.experiments.ready_models import ready_model
from augury.experiments.run import Run, describe
from augury.experiments.task import find_task
from augury.experiments.trial import run_trial
from tests import tiny

pytestmark = pytest.mark.trains

ELSEWHERE = Store("/nowhere")
"""The storage of what is made with a model."""


def trained(task: str, storage: Path) -> tuple[Run, Any, Any]:
    """A finished run, and it and its export as operators take them."""
    run = tiny.prepared(task, storage)
    describe(run, task)
    assert run_trial(run, scored=False)
    exported = storage / "hf"
    exported.mkdir()
    find_task(task).export(run, "hf", exported)
    from_run = ready_model(ReadyModel(run=run.folder.uri))
    return run, from_run, ready_model(ReadyModel(checkpoint=str(exported)))


DRAWN = Sampling(max_length=9, top_k=None)
GREEDILY = Sampling(temperature=0.0, max_length=9)


@pytest.mark.parametrize(
    ("task", "samplings"), [("seq2seq", [GREEDILY, DRAWN]), ("nmt", [DRAWN])], ids=["t5", "nmt"]
)
def test_a_run_and_its_export_draw_the_same(
    task: str, samplings: list[Sampling], tmp_path: Path
) -> None:
    """By the keys alone, whatever is asked for beside an output."""
    run, *models = trained(task, tmp_path)
    texts = list(run.corpus("test").column("source"))
    keys = [*range(len(texts))]
    draw, other = (model.sampler(ELSEWHERE) for model in models)
    for sampling in samplings:
        outputs = draw(texts, keys, sampling)
        assert outputs == other(texts, keys, sampling) and any(outputs)
    assert draw([*texts[1:3], ""], keys[1:4], sampling)[:2] == outputs[1:3]
    assert draw(texts, [key + 99 for key in keys], sampling) != outputs


def test_a_run_of_the_other_direction_is_no_back_translator(tmp_path: Path) -> None:
    """Its language is compared before anything is trained."""
    run = trained("nmt", tmp_path)[0]
    operator = {
        "operator": "back_translation",
        "monolingual": {"language": "qab", "train": {"builtin": 10, "seed": 2}},
        "ready": {"run": run.folder.uri},
    }
    experiment = tiny.experiment("nmt", tmp_path, augment=[operator])
    with pytest.raises(UserError, match="'qaa' into 'qab', and needed is one of 'qab' into 'qaa'"):
        check([experiment], Graph(Store(tmp_path)))

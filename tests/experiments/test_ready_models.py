"""Trained models that operators take as they are: runs of any storage, and checkpoints of
`transformers`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from augury.augment.models import ReadyModel
from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELS
from augury.decoding.settings import GREEDY, Sampling
from augury.experiments.make import prepare
from augury.experiments.ready_models import ready_model
from augury.experiments.run import describe
from augury.experiments.task import find_task
from augury.experiments.trial import train
from tests import tiny

pytestmark = pytest.mark.trains

ELSEWHERE = Store("/nowhere")
"""The storage of what is made with a model."""


def trained(task: str, storage: Path) -> SimpleNamespace:
    """A finished run, and the same model as a checkpoint."""
    run = prepare(tiny.experiment(task, storage), Store(storage))
    describe(run, task)
    assert train(run)
    exported = storage / f"{task}-hf"
    exported.mkdir()
    find_task(task).export(run, "hf", exported)
    return SimpleNamespace(
        run=run, from_run=ready_model(ReadyModel(run=run.folder.uri)), exported=exported
    )


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    return trained("nli", tmp_path_factory.mktemp("classifier"))


def with_classes(exported: Path, directory: Path, classes: list[str]) -> ReadyModel:
    """The same checkpoint with other names of its classes."""
    shutil.copytree(exported, directory)
    settings = json.loads((directory / "config.json").read_text())
    settings |= {
        "id2label": dict(enumerate(classes)),
        "label2id": {label: at for at, label in enumerate(classes)},
    }
    (directory / "config.json").write_text(json.dumps(settings))
    return ReadyModel(checkpoint=str(directory))


def test_a_run_and_its_export_tell_the_same(classifier: SimpleNamespace) -> None:
    sides = [classifier.run.corpus("test").column(side) for side in ("premise", "hypothesis")]
    expected = find_task("nli").probabilities(classifier.run, *sides)
    from_checkpoint = ready_model(ReadyModel(checkpoint=str(classifier.exported)))
    for model in (classifier.from_run, from_checkpoint):
        np.testing.assert_allclose(model.probabilities(ELSEWHERE, *sides), expected, atol=1e-5)
        assert model.probabilities(ELSEWHERE, [], []).shape == (0, 3)
    assert classifier.from_run.name == classifier.run.folder.name != from_checkpoint.name


def test_the_classes_of_a_checkpoint_are_found_by_name(
    classifier: SimpleNamespace, tmp_path: Path
) -> None:
    sides = [classifier.run.corpus("test").column(side) for side in ("premise", "hypothesis")]
    backwards = ready_model(
        with_classes(classifier.exported, tmp_path / "backwards", [*LABELS[::-1]])
    )
    expected = classifier.from_run.probabilities(ELSEWHERE, *sides)[:, ::-1]
    np.testing.assert_allclose(backwards.probabilities(ELSEWHERE, *sides), expected, atol=1e-5)
    other = ready_model(
        with_classes(classifier.exported, tmp_path / "other", ["good", "bad", "ugly"])
    )
    with pytest.raises(
        UserError, match="labels good, bad, ugly, not .* take a classifier of these labels"
    ):
        other.probabilities(ELSEWHERE, *sides)


def test_a_generator_and_its_export_write_the_same(tmp_path: Path) -> None:
    generator = trained("seq2seq", tmp_path)
    texts = generator.run.corpus("test").column("source")
    greedy = GREEDY.model_copy(update={"max_length": 8})
    for sampling in (greedy, Sampling(max_length=8)):
        keys = list(range(len(texts)))
        written = [
            model.sampler(ELSEWHERE)(texts, keys, sampling)
            for model in (
                generator.from_run,
                ready_model(ReadyModel(checkpoint=str(generator.exported))),
            )
        ]
        assert written[0] == written[1] and any(written[0])


def test_a_translator_and_its_export_draw_the_same(tmp_path: Path) -> None:
    """By the keys alone, whatever is asked for beside an output."""
    translator = trained("nmt", tmp_path)
    texts = translator.run.corpus("test").column("source")
    sampling, keys = Sampling(max_length=9, top_k=None), [*range(len(texts))]
    draws = [
        model.sampler(ELSEWHERE)
        for model in (
            translator.from_run,
            ready_model(ReadyModel(checkpoint=str(translator.exported))),
        )
    ]
    outputs = [draw(texts, keys, sampling) for draw in draws]
    assert outputs[0] == outputs[1] and all(outputs[0])
    assert draws[0]([*texts[1:3], ""], keys[1:4], sampling) == [*outputs[0][1:3], ""]
    assert draws[0](texts, [key + 99 for key in keys], sampling) != outputs[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a run or a checkpoint: give one of the two"),
        ({"run": "a", "checkpoint": "b"}, "a run or a checkpoint: give one of the two"),
        (
            {"run": "a", "source_language": "fr", "target_language": "en"},
            "a run knows its languages",
        ),
        (
            {"checkpoint": "a", "target_language": "en"},
            "needs source_language and target_language: give both",
        ),
    ],
)
def test_what_is_no_model_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        validate(ReadyModel, settings, "ready")


def test_a_run_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run 'abc'"):
        ready_model(ReadyModel(run=f"{tmp_path}/runs/abc/seed-1"))

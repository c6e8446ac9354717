"""A generator from its experiment file to outputs, scores and export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard

from augury.core.errors import UserError
from augury.decoding.settings import GREEDY, Sampling
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.reporting.exporting import export
from augury.sweeping.driver import run_experiment
from augury.training import history
from trainables.seq2seq import TASK
from trainables.seq2seq import trained as outputs

pytestmark = pytest.mark.trains


def trained(toy: Any, form: str, **changes: Any) -> Run:
    """The run of a small training."""
    content = toy.content(
        {"form": form, **(toy.nli if form == "hypothesis" else toy.parallel)}, **changes
    )
    runs, failures, _ = run_experiment(parse(content))
    assert not failures
    return Run.read(runs[content["name"]][1])


def test_a_reorderer_is_trained_scored_used_and_exported(
    toy: Any, run_card: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = [("cat sees dog .", "cat dog sees ."), ("bee likes hen .", "bee hen likes .")]
    content = toy.content(
        {"form": "reorder", **toy.parallel, "tests": {"more": toy.text("more", test)}}
    )
    runs, failures, _ = run_experiment(parse(content))
    assert not failures
    run = Run.read(runs[content["name"]][1])
    written = run.folder.sub("hypotheses").read("more.txt").decode().splitlines()
    assert TASK.translate(run, [" cat sees dog .", "bee\tlikes hen ."]) == written  # cleaned first
    read: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "written", lambda run, texts, *_: read.extend(texts))
        TASK.translate(run, ["cat sees dog ."])
    assert read == ["reorder: cat sees dog ."]
    scores = run.folder.read_record("scores.json")
    assert [(score["name"], score["n"]) for score in scores["tests"]["more"]] == [
        ("bleu", 2),
        ("chrf", 2),
    ]
    assert scores["cost"]["updates"] == 4

    export(run.folder, toy.store, "hf", tmp_path / "model")
    texts = ["reorder: cat sees dog .", "reorder: bee likes hen ."]
    assert run_card(tmp_path / "model", texts=texts) == written
    card = ModelCard.load(tmp_path / "model" / "README.md")
    assert card.data.metrics == ["bleu", "chrf"] and "reorder: A sentence" in card.text
    with pytest.raises(UserError, match="no form 'onnx': export --to takes hf"):
        export(run.folder, toy.store, "onnx", tmp_path / "other")

    fine_tuned = trained(toy, "text", model={"name": str(tmp_path / "model")})
    described = json.loads(fine_tuned.folder.read("run.json"))
    assert described["parameters"]["model.name"] == str(tmp_path / "model")
    monkeypatch.setenv("RAY_ADDRESS", "no.cluster:1")  # which has no part in it
    assert len(TASK.translate(fine_tuned, ["cat sees dog ."])) == 1


def test_views_are_read_one_at_a_time(toy: Any) -> None:
    """Source and cipher are read once an epoch to write the target, and the cipher also to write
    the source."""
    regime = {"name": "multi_source", "equation": 2}
    run = trained(toy, "text", augment=[{"operator": "cipher", "keys": [1]}], regime=regime)
    assert run.data_factor == 3.0 and set(run.views) == {"rot-1"}


@pytest.mark.parametrize(
    ("regime", "metric"),
    [
        (
            {"name": "coregularised", "over": "identity", "beta": 5, "warmup_steps": 0},
            "train/divergence",
        ),
        ({"name": "adversarial", "epsilon": 1}, "train/perturbation"),
    ],
)
def test_views_read_together_and_moved_words_teach_a_generator_too(
    toy: Any, regime: Any, metric: str
) -> None:
    run = trained(toy, "text", regime=regime)
    recorded = [record["metrics"] for record in history.read(run.folder)]
    assert max(metrics.get(metric, 0) for metrics in recorded) > 0


def test_a_generator_has_no_scores_and_its_samples_are_those_of_their_keys(toy: Any) -> None:
    run = trained(toy, "hypothesis")
    assert run.folder.read_record("scores.json")["tests"] == {}
    draw = TASK.sampler(run)
    prompts = ["neutral: A dog runs.", "entailment: Two cats sleep.", "neutral: A dog runs."]
    sampling = Sampling(max_length=8)
    drawn = draw(prompts, [1, 2, 3], sampling)
    assert drawn[0] != drawn[2]
    assert draw(prompts[::-1], [3, 2, 1], sampling) == drawn[::-1]
    greedy = draw(prompts, [1, 2, 3], GREEDY.model_copy(update={"max_length": 8}))
    assert greedy[0] == greedy[2]
    assert draw([], [], sampling) == []


def test_a_run_that_has_not_ended_is_refused(toy: Any) -> None:
    with pytest.raises(UserError, match="has not finished training"):
        TASK.sampler(toy.prepared(toy.experiment("text")))

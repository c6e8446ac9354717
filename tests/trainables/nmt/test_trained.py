"""A finished run, with a model that has not learned anything: what scoring leaves in its folder,
what analyses read."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from augury.core.errors import UserError
from augury.experiments.run import Run
from augury.experiments.trial import render_texts, score_run
from augury.scoring.registry import metric
from augury.scoring.stored import read_statistics
from trainables.nmt import TASK
from trainables.nmt.trained import Trained


def test_evaluation_keeps_the_counts_of_every_sentence(untrained: Any) -> None:
    run: Run = untrained()
    score_run(run)
    measured = run.folder.read_record("scores.json")["tests"]
    assert list(measured) == run.tests == ["one", "two"]
    for test, scores in measured.items():
        hypotheses = run.folder.sub("hypotheses").read(f"{test}.txt").decode().split("\n")[:-1]
        sources, references = (run.corpus(test).column(side) for side in ("source", "target"))
        messy = [f"\t {source.title()}&#10;" for source in sources]
        # cleaned as text is
        assert TASK.translate(run, messy) == hypotheses and len(set(hypotheses)) > 1
        kept = read_statistics(run.folder, test)
        assert [score["name"] for score in scores] == list(kept) == ["bleu:lower", "chrf"]
        for score in scores:
            measure, counts = metric(score["name"], "en"), kept[score["name"]]
            assert counts.tolist() == measure.statistics(hypotheses, references).tolist()
            assert measure.value(counts.sum(0).tolist()) == score["value"]


def test_too_long_texts_are_refused(untrained: Any) -> None:
    run: Run = untrained()
    most = run.experiment.model.max_positions - 1  # type: ignore[attr-defined]
    text = run.corpus("one").column("source")[0]
    long = " ".join([text] * most)
    with pytest.raises(UserError, match="1 of 2 sources .* number 2 with .* pieces"):
        TASK.translate(run, [text, long])


def test_states_are_means_over_pieces_without_tag_and_end(untrained: Any) -> None:
    run: Run = untrained(augment=[{"operator": "cipher", "keys": [1]}], regime="multi_source")
    trained, texts = Trained(run), run.corpus("one").column("source")
    sources = trained.encode(texts, "rot-1", tagged=False)
    assert sources == trained.encode(render_texts(run, texts, "rot-1"), tagged=False)
    layers = trained.encoder_states(sources)
    vocabulary, model = trained.vocabulary, trained.model()
    for row, source in enumerate(sources):
        ids = torch.tensor([[vocabulary.tags["__en__"], *source, vocabulary.eos]])
        with torch.inference_mode():
            expected = model.model.encoder(ids, output_hidden_states=True).hidden_states
        assert len(layers) == len(expected) == 3
        for layer, states in zip(layers, expected, strict=True):
            assert layer[row] == pytest.approx(states[0, 1:-1].mean(0).numpy(), abs=1e-5)

"""Metrics that are models: a number for every segment, its source included, and the mean of the
corpus."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.store import Store
from augury.scoring.registry import lower_is_better, metric, metric_class, title
from augury.scoring.scores import score
from augury.scoring.settings import TextScoring
from augury.scoring.stored import SCORES, read_statistics, write_statistics

REGRESSION = '''
import torch
from augury.scoring.metric import SegmentMetric

class Regression(SegmentMetric):
    """How far a small network finds a translation from its reference and its source."""
    title, unit, lower_is_better, needs_sources = "Regression", "", True, True
    signature = "regression:tiny"

    def score(self, hypotheses, references, sources):
        torch.manual_seed(1)
        bag = torch.nn.EmbeddingBag(256, 8)
        layers = [torch.nn.Linear(24, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)]
        network = torch.nn.Sequential(*layers).eval()
        device = "cuda" if torch.cuda.is_available() else "cpu"
        bag, network, scores = bag.to(device), network.to(device), []
        for start in range(0, len(hypotheses), 4):
            batch = slice(start, start + 4)
            with torch.inference_mode():
                sides = [
                    self.encoded(bag, texts[batch], device)
                    for texts in (sources, hypotheses, references)
                ]
                scores += network(torch.cat(sides, dim=1))[:, 0].tolist()
        return scores

    def encoded(self, bag, texts, device):
        ids = [list(text.encode()) or [0] for text in texts]
        offsets = torch.tensor([0, *(len(row) for row in ids)][:-1]).cumsum(0)
        flat = torch.tensor([byte for row in ids for byte in row], device=device)
        return bag(flat, offsets.to(device))

METRICS = {"regression": Regression}
'''
HYPOTHESES = ["the cat sat on the mat", "there is a dog in the garden", "", "no", "yes, why not"]
REFERENCES = ["the cat is on the mat", "there is a dog in my garden", "hm", "no", "yes"]
SOURCES = ["die Katze ist auf der Matte", "im Garten ist ein Hund", "hm", "nein", "ja"]


@pytest.fixture
def regression(tmp_path: Path) -> str:
    path = tmp_path / "regression.py"
    path.write_text(REGRESSION)
    return str(path)


def test_a_model_of_ones_own_scores_segments_with_their_sources(
    regression: str, tmp_path: Path
) -> None:
    section = validate(TextScoring, {"metrics": ["chrf", regression]}, "scoring")
    name = section.metrics[1]
    assert name.startswith(f"{regression}@")
    assert TextScoring.model_validate(section.to_dict()) == section
    assert (title(name), lower_is_better(name)) == ("Regression", True)
    _, model = score(HYPOTHESES, REFERENCES, sources=SOURCES, metrics=section.metrics, samples=50)
    segments = model.statistics[:, 0]
    assert model.value == pytest.approx(segments.mean()) and model.low < model.value < model.high
    assert "|regression:tiny" in model.signature and len(set(segments)) == 5
    for source, same in ((SOURCES[0], True), ("der Hund", False)):
        texts = HYPOTHESES[:1], REFERENCES[:1]
        (alone,) = score(*texts, sources=[source], metrics=[name], samples=2)
        assert (alone.value == pytest.approx(segments[0], abs=1e-6)) == same
    run = Store(tmp_path).folder("runs", "a/seed-1")
    write_statistics(run, "test", [model])
    run.write_record(SCORES, {}, ["statistics/test.npz"])
    kept = read_statistics(run, "test")[name]
    assert metric_class(name).value(kept.sum(0).tolist()) == model.value


def test_a_metric_that_reads_sources_asks_for_them(regression: str) -> None:
    with pytest.raises(UserError, match="--sources"):
        score(HYPOTHESES, REFERENCES, metrics=[regression])
    with pytest.raises(UserError, match="1 source but 5 references"):
        score(HYPOTHESES, REFERENCES, sources=["a"], metrics=[regression])


def test_comet_says_how_to_get_it_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUGURY_COMET", "nowhere/python")
    with pytest.raises(UserError, match="nowhere/python cannot be run"):
        metric("comet")
    assert title("comet:a/b") == "COMET (a/b)" and not lower_is_better("comet")


COMET = os.environ.get("AUGURY_COMET")


@pytest.mark.skipif(COMET is None, reason="AUGURY_COMET names no Python with unbabel-comet")
def test_comet_scores_as_it_does_by_itself(tmp_path: Path) -> None:
    """A regression model of random weights over a tiny XLM-R, written and scored by COMET
    itself."""
    maker = Path(__file__).with_name("tiny_comet.py")
    segments = [
        {"src": s, "mt": h, "ref": r}
        for s, h, r in zip(SOURCES, HYPOTHESES, REFERENCES, strict=True)
    ]
    completed = subprocess.run(
        [str(COMET), str(maker), str(tmp_path)],
        input=json.dumps(segments),
        capture_output=True,
        text=True,
        check=True,
    )
    expected = json.loads(completed.stdout.splitlines()[-1])
    name = f"comet:{expected['checkpoint']}"
    result = score(HYPOTHESES, REFERENCES, sources=SOURCES, metrics=[name], samples=10)[0]
    assert result.statistics[:, 0] / 100 == pytest.approx(expected["scores"], abs=1e-5)
    assert result.value == pytest.approx(100 * np.mean(expected["scores"]), abs=1e-3)

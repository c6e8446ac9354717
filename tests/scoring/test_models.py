"""Metrics that are models: a number for every segment, its source included, and the mean of the
corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.scoring.registry import lower_is_better, metric, title
from augury.scoring.scores import score
from augury.scoring.settings import TextScoring

REGRESSION = '''
from augury.scoring.metric import SegmentMetric

class Regression(SegmentMetric):
    """How far the length of a translation is from those of its reference and its source."""
    title, unit, lower_is_better, needs_sources = "Regression", "", True, True
    signature = "regression:tiny"

    def score(self, hypotheses, references, sources):
        rows = zip(hypotheses, references, sources, strict=True)
        return [abs(len(h) - len(r)) + 0.1 * len(s) for h, r, s in rows]

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


def test_a_model_of_ones_own_scores_segments_with_their_sources(regression: str) -> None:
    section = validate(TextScoring, {"metrics": ["chrf", regression]}, "scoring")
    name = section.metrics[1]
    assert name.startswith(f"{regression}@")
    assert TextScoring.model_validate(section.to_dict()) == section
    assert (title(name), lower_is_better(name)) == ("Regression", True)
    _, model = score(HYPOTHESES, REFERENCES, sources=SOURCES, metrics=section.metrics, samples=50)
    segments = model.statistics[:, 0]
    assert model.value == pytest.approx(segments.mean()) and model.low < model.value < model.high
    assert "|regression:tiny" in model.signature
    assert segments.tolist() == pytest.approx([1 + 2.7, 1 + 2.2, 2 + 0.2, 0.4, 9 + 0.2], abs=1e-6)


def test_a_metric_that_reads_sources_asks_for_them(regression: str) -> None:
    with pytest.raises(UserError, match="1 source but 5 references"):
        score(HYPOTHESES, REFERENCES, sources=["a"], metrics=[regression])


def test_comet_says_how_to_get_it_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUGURY_COMET", "nowhere/python")
    with pytest.raises(UserError, match="nowhere/python cannot be run"):
        metric("comet")
    assert title("comet:a/b") == "COMET (a/b)" and not lower_is_better("comet")


COMET = """
from types import SimpleNamespace

def download_model(name):
    return name

class Model:
    def predict(self, segments, batch_size, gpus, progress_bar):
        sides = [[len(row[side]) for side in ("src", "mt", "ref")] for row in segments]
        return SimpleNamespace(scores=[(100 * s + 10 * h + r) / 10_000 for s, h, r in sides])

def load_from_checkpoint(path):
    assert path == "some/model"
    return Model()
"""


def test_comet_is_run_by_its_own_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of its name and interface, in place of models of gigabytes."""
    (tmp_path / "comet").mkdir()
    (tmp_path / "comet" / "__init__.py").write_text(COMET)
    metadata = tmp_path / "unbabel_comet-2.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: unbabel-comet\nVersion: 2.2\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("AUGURY_COMET", sys.executable)
    texts = ["four", "a"], ["abc", "b"]
    (result,) = score(*texts, sources=["s", "so"], metrics=["comet:some/model"], samples=10)
    assert result.statistics[:, 0] == pytest.approx([1.43, 2.11])
    assert result.value == pytest.approx((1.43 + 2.11) / 2)
    assert "|model:some/model|scale:100|comet:2.2" in result.signature
    with pytest.raises(UserError, match=r"COMET, run by .*, failed: AssertionError"):
        score(*texts, sources=["s", "so"], metrics=["comet:other/model"], samples=10)

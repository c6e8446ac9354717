"""Metrics that are models: a number for every segment, its source included, and the mean of the
corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.scoring.registry import lower_is_better, metric, title
from augury.scoring.scores import score


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
    (result,) = score(*texts, sources=["s", "so"], metrics=["comet:some/model"])
    assert result.statistics[:, 0] == pytest.approx([1.43, 2.11])
    assert result.value == pytest.approx((1.43 + 2.11) / 2)
    assert "|model:some/model|scale:100|comet:2.2" in result.signature
    with pytest.raises(UserError, match="sources: 1 line, but 2 references"):
        score(*texts, sources=["s"], metrics=["comet:some/model"])
    with pytest.raises(UserError, match=r"COMET, run by .*, failed: AssertionError"):
        score(*texts, sources=["s", "so"], metrics=["comet:other/model"])

"""What is scored, and what outputs are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.core.verification import verify
from augury.decoding.settings import ViewDecoding
from augury.experiments import evaluate
from augury.experiments.evaluate import KIND, decode_test_set
from augury.experiments.record import RECORDS, RunRecord
from augury.experiments.run import Run
from augury.sweeping.driver import run_experiment
from tests import tiny


@pytest.mark.trains
def test_kept_outputs_that_have_changed_are_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = run_experiment(tiny.experiment("nmt", tmp_path / "results"))
    run, decoding = Run.read(trained.runs["tiny"][1]), ViewDecoding(beam=2, max_length=5)
    store = Store(run.folder.root)
    outputs = decode_test_set(run, "test", decoding).outputs
    assert decode_test_set(run, "test", decoding).outputs == outputs
    folder = run.folder.sub(KIND)
    (file,) = folder.files()
    content = folder.read(file)
    folder.write(file, content.replace(b'"beam": 2', b'"beam": 3'))
    assert [one.name for one in verify(store, RECORDS) if one.damage] == [f"{folder.name}/{file}"]
    capsys.readouterr()
    assert decode_test_set(run, "test", decoding).outputs == outputs
    assert f"{file} is damaged" in capsys.readouterr().err
    assert not [one for one in verify(store, RECORDS) if one.damage]


@pytest.mark.trains
def test_a_new_test_set_is_scored_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tested(**sizes: int) -> tuple[list[str], dict[str, Any]]:
        """Return the test sets that are translated, and the scores of all."""
        tests = {test: {"builtin": size} for test, size in sizes.items()}
        corpus = {**tiny.PARALLEL, "tests": tests}
        translated.clear()
        trained = run_experiment(tiny.experiment("nmt", tmp_path / "results", corpus=corpus))
        return [*translated], RunRecord.read(trained.runs["tiny"][1]).tests

    translated: list[str] = []
    score = evaluate._score
    monkeypatch.setattr(
        evaluate, "_score", lambda run, test: translated.append(test) or score(run, test)
    )
    assert (first := tested(news=6))[0] == ["news"]
    assert (both := tested(talks=5, news=6))[0] == ["talks"]
    assert list(both[1]) == ["talks", "news"] and both[1]["news"] == first[1]["news"]
    assert tested(talks=5, news=7)[0] == ["news"]
    assert tested(talks=5)[0] == []

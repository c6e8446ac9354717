"""Outputs of other decodings are kept, and made anew where they have changed by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.core.verification import verify
from augury.decoding.settings import ViewDecoding
from augury.experiments.redecoding import KIND, decode_test_set
from augury.experiments.run import Run
from augury.runs.record import RECORDS
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

"""Outputs of other decodings are kept, and made anew where they have changed by themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.core.verification import verify
from augury.decoding.settings import ViewDecoding
from augury.experiments.redecoding import KIND, decode_test_set
from augury.experiments.run import Run
from augury.runs.record import RECORDS
from tests.experiments.test_stored_schemas import RUN, STORED


def test_kept_outputs_that_have_changed_are_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(shutil.copytree(STORED, tmp_path / "results"))
    run, decoding = Run.read(store.folder("runs", RUN)), ViewDecoding(beam=2, max_length=5)
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

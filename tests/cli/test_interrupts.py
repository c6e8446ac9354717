"""Ctrl-C, or SIGTERM, while a command waits ends it with 130, or 143, a line and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.locks import locked
from augury.core.store import Store
from augury.corpora.ingest import cached_address
from augury.training.loop import Trainer
from augury.training.trained import WEIGHTS
from tests import tiny


def test_waiting_for_a_lock(tmp_path: Path) -> None:
    experiment = tiny.experiment("nmt", tmp_path / "store")
    content = experiment.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(content))
    store = Store(experiment.storage)
    address = cached_address(experiment.corpus, "train")
    command = [sys.executable, "-m", "augury.cli", "config", str(tmp_path / "toy.yaml")]
    with locked(store.folder("corpora", address)):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert any("waiting for another" in line for line in process.stderr)
        process.terminate()
        _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "augury: stopped. Finished work is kept" in error and "Traceback" not in error


def test_how_to_continue_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: str) -> None:
        raise KeyboardInterrupt("stopped after update 9")

    monkeypatch.setattr("augury.cli.compare.read_sentences", interrupted)
    assert main(["compare", "output", "--references", __file__]) == 130
    error = capsys.readouterr().err
    assert error.startswith("augury: stopped after update 9. Finished work is kept")
    assert "augury compare output --references" in error


@pytest.mark.trains
def test_a_training_that_is_terminated_goes_on_bit_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step, sent = Trainer.step, []

    def terminated(self: Trainer, batches: Any) -> None:
        if self.position.update == 2 and not sent:
            sent.append(self)
            os.kill(os.getpid(), signal.SIGTERM)
        step(self, batches)

    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(tiny.content("nmt", tmp_path / "store")))
    command = ["train", str(tmp_path / "toy.yaml"), "--storage"]
    assert main([*command, f"{tmp_path}/straight"]) == 0
    monkeypatch.setattr(Trainer, "step", terminated)
    assert main([*command, f"{tmp_path}/other"]) == 128 + signal.SIGTERM
    assert "stopped after update 3. Finished work is kept" in capsys.readouterr().err
    assert main([*command, f"{tmp_path}/other"]) == 0
    straight, other = (
        [path.read_bytes() for path in (tmp_path / name).glob(f"runs/*/seed-1/{WEIGHTS}")]
        for name in ("straight", "other")
    )
    assert len(straight) == 1 and other == straight

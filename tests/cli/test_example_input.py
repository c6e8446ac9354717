"""The command that `augury train` prints next reads a text of the user's."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from augury.cli.common import example_input
from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.run import describe
from augury.experiments.task import find_task
from tests import tiny


def described(task: str, storage: Path, **changes: Any) -> Any:
    run = prepare(tiny.experiment(task, storage, **changes), Store(storage))
    describe(run, "x")
    return run


@pytest.mark.parametrize("task", ["nmt", "nli", "classification"])
def test_it_writes_a_text_of_the_test_set(task: str, tmp_path: Path) -> None:
    run = described(task, tmp_path)
    columns = find_task(task).sides(run.experiment)["source"]
    texts = zip(*(run.corpus("test").column(name) for name in columns), strict=True)
    written = subprocess.run(
        ["bash", "-c", example_input(run.folder)], capture_output=True, text=True, check=True
    )
    assert tuple(written.stdout.removesuffix("\n").split("\t")) in list(texts)


def test_it_is_short_quoted_and_of_the_validation_set_where_there_is_no_test(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_text("wort " * 30 + "\nc'est $HOME\n")
    (tmp_path / "b").write_text("word " * 30 + "\nit is\n")
    corpus = {
        **tiny.PARALLEL,
        "valid": {"source": str(tmp_path / "a"), "target": str(tmp_path / "b")},
    }
    run = described("nmt", tmp_path / "store", corpus=corpus)
    assert shlex.split(example_input(run.folder)) == ["echo", "c'est $HOME"]

"""The main processes of a local Ray are killed: the command begins anew by itself and ends with
the weights of an undisturbed one, and nothing of it is left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
import yaml

from augury.cli import main
from tests.sweeping import quick
from tests.sweeping.sweeps import QUICK, command_line, results, validations, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(600)]


class Ended(NamedTuple):
    """A sweep whose GCS was killed when it had begun to train."""

    code: int
    output: str
    storage: Path
    directory: Path
    """The directory of temporary files."""
    survivors: list[str]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    place = tmp_path_factory.mktemp("ray")
    space = place / "quick.py"
    text = Path(QUICK).read_text(encoding="utf-8").replace("[0, 5]", "[5]")
    space.write_text(text.replace("seeds=(1, 2)", "seeds=(1,)"), encoding="utf-8")
    # Of a short path: names of sockets are bounded.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        command = command_line(place / "swept", space=str(space))
        environment = {**os.environ, "TMPDIR": directory}
        environment.pop("RAY_ADDRESS", None)
        driver = subprocess.Popen(
            [sys.executable, "-m", "augury.cli", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        wait_for(lambda: validations(place / "swept"), driver)
        children = psutil.Process(driver.pid).children(recursive=True)
        (gcs,) = [child for child in children if child.name() == "gcs_server"]
        gcs.kill()
        _, output = driver.communicate(timeout=400)
        survivors = [" ".join(child.cmdline()) for child in children if child.is_running()]
        yield Ended(driver.returncode, output, place / "swept", Path(directory), survivors)


def test_the_command_says_it_in_a_line_and_goes_on(ended: Ended) -> None:
    assert ended.code == 0, ended.output
    assert sum("Ray's GCS has died" in line for line in ended.output.splitlines()) == 1
    assert "Traceback" not in ended.output and "rpc_client" not in ended.output


def test_its_weights_are_those_of_an_undisturbed_training(ended: Ended, tmp_path: Path) -> None:
    regime = {**quick.BASE["regime"], "beta": 5}
    content = {**quick.BASE, "regime": regime, "seeds": [1]}
    file = tmp_path / "quick.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert main(["train", str(file), "--storage", str(tmp_path / "trained")]) == 0
    assert len(results(ended.storage)) == 2
    assert results(ended.storage) == results(tmp_path / "trained")


def test_nothing_is_left(ended: Ended) -> None:
    assert not ended.survivors
    assert not [*ended.directory.glob("augury-*"), *ended.storage.rglob(".tmp-*")]

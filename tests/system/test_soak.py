"""A sweep whose Ray, worker and command are killed in turn, by `benchmarks/soak.py`: it ends with
the weights of an undisturbed training, and nothing is left."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from benchmarks.soak import Kills, Sweep, Swept, results
from tests.sweeping import quick
from tests.sweeping.sweeps import QUICK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.trains,
    pytest.mark.timeout(3600),  # the sweep has its own bound, by what it writes
    pytest.mark.long,
]

KILLS = [(0.0, "GCS"), (0.0, "worker"), (0.0, "command")]
"""What is killed as soon as it is there, each when the work has gone on after the one before."""
UPDATES = 320
"""Of every run: there is something to kill until all is killed."""


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory with a short path: the names of Ray's sockets are bounded."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="s") as directory:
        yield Path(directory)


@pytest.fixture(scope="module")
def swept(place: Path) -> Swept:
    space = place / "quick.py"
    text = Path(QUICK).read_text(encoding="utf-8").replace("[0, 5]", "[5]")
    text = text.replace('"max_updates": 64', f'"max_updates": {UPDATES}')
    space.write_text(text.replace("seeds=(1, 2)", "seeds=(1,)"), encoding="utf-8")
    kills = Kills(iter([*KILLS, (float("inf"), "")]))
    return Sweep(place, time.monotonic(), space, at_once=1).run(kills)


def test_everything_was_killed_and_the_sweep_went_on(swept: Swept, place: Path) -> None:
    assert [kill.kind for kill in swept.kills] == [kind for _, kind in KILLS]
    messages = (place / "messages").read_text(encoding="utf-8")
    # Only the user repeats what was killed itself, or could not start Ray.
    assert swept.commands == 2 + messages.count("Ray does not start on this machine"), messages
    assert "Ray's GCS has died" in messages and swept.raw == 0, messages


def test_the_runs_are_those_of_an_undisturbed_training(
    swept: Swept, place: Path, tmp_path: Path
) -> None:
    content = {**quick.BASE, "regime": {**quick.BASE["regime"], "beta": 5}, "seeds": [1]}
    content["training"] = {**quick.BASE["training"], "max_updates": UPDATES}
    file = tmp_path / "quick.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    threads = ["--set", "execution.threads=1"]  # as a trial has; sums depend on it
    assert main(["train", str(file), "--storage", str(tmp_path / "trained"), *threads]) == 0
    found = results(place / "storage")
    assert len(found) == 2 and found == results(tmp_path / "trained")


def test_nothing_is_left(swept: Swept) -> None:
    assert swept.left == []

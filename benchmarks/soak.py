"""Repeat small sweeps while their processes are killed at random; check that nothing is lost.

    PYTHONPATH=platform python benchmarks/soak.py [--minutes 120] [--every 30 90] [--seed 1]
        [--json] [--plot FILE]

One sweep runs undisturbed. Then the same sweep is repeated, each time in a storage of its own, and
every 30 to 90 seconds something is killed with SIGKILL, drawn at random:

    worker     a process in which a trial trains; Ray Tune starts another
    GCS        the register of the local Ray; the command ends with a line, and is repeated
    raylet     the process that starts Ray's workers; likewise
    command    the command itself, which is then repeated, as a user does

or the command gets SIGTERM (`stop`), as at the end of a job, and is repeated. Two kills may follow
each other before the work has gone on, and no third: where Ray starts more slowly than it is
killed, a sweep would never end. Each sweep is compared with the undisturbed one: `lost` counts runs
that are missing or whose final weights or scores differ. `seconds` is the time between a kill and
the next validation of any run, or the end. Processes, temporary directories and unfinished files
that are left when a sweep has ended are `left`; `memory` is the largest resident size of the
command with all its processes, in MB. The plot is written after every sweep.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

SPACE = Path(__file__).parents[1] / "tests" / "sweeping" / "quick.py"
KINDS = ("worker", "GCS", "raylet", "command", "stop")
POLL_SECONDS = 0.5
AT_ONCE = 2
"""Kills that may follow each other before the work has gone on."""
STALLED_SECONDS = 900.0
"""Seconds in which a sweep, however slow the machine, has to write something."""
END_SECONDS = 180.0
"""How long processes may take to end after their command, for which agents of Ray look now and
then."""


@dataclass
class Kill:
    """What was done to a sweep, and how long it took to go on."""

    kind: str
    at: float
    """Seconds since the soak began."""
    seconds: float | None = None
    """From the kill to the next validation, or the end."""


@dataclass
class Swept:
    """A sweep that was disturbed."""

    kills: list[Kill] = field(default_factory=list)
    seconds: float = 0.0
    commands: int = 0
    memory: float = 0.0
    lost: int = 0
    left: list[str] = field(default_factory=list)
    raw: int = 0
    """Lines of Ray's C++ code, and tracebacks, among its messages."""


class Kills:
    """What is killed next and when; the clock runs on from one sweep to the next, so that short
    sweeps are killed as often as long ones."""

    def __init__(self, kills: Iterator[tuple[float, str]]):
        self._kills = kills
        self.next()

    def next(self) -> None:
        """Take the next kind, and the seconds from now until it is killed."""
        seconds, self.kind = next(self._kills)
        self.due = time.monotonic() + seconds


def random_kills(
    every: Sequence[float], kinds: Sequence[str], seed: int
) -> Iterator[tuple[float, str]]:
    """Draw seconds and kinds without end, each kind as often as the others."""
    random_ = random.Random(seed)
    while True:
        for kind in random_.sample(list(kinds), len(kinds)):
            yield random_.uniform(*every), kind


Results = dict[str, tuple[bytes, Any]]


def results(storage: Path) -> Results:
    """Return the final weights and scores of the finished runs of a storage."""
    runs = [path.parent for path in storage.glob("runs/*/seed-*/_COMPLETE")]
    return {
        f"{run.parent.name}/{run.name}": (
            (run / "weights.safetensors").read_bytes(),
            json.loads((run / "scores.json").read_text(encoding="utf-8"))["tests"],
        )
        for run in sorted(runs)
    }


class Sweep:
    """A sweep in a storage of its own, whose command is repeated until it has ended."""

    def __init__(self, place: Path, began: float, space: Path = SPACE, at_once: int = AT_ONCE):
        self.at_once = at_once
        self.storage, self.directory, self.began = place / "storage", place / "tmp", began
        self.space = space
        self.directory.mkdir(parents=True)
        self.log = (place / "messages").open("w+", encoding="utf-8")
        self.swept, self.seen = Swept(), set[psutil.Process]()
        self.state, self.changed = (0.0, 0), time.monotonic()

    def run(self, kills: Kills | None = None) -> Swept:
        """Run the sweep to its end, disturbed as `kills` says; TimeoutError where it does not go
        on."""
        start, process = time.monotonic(), self._start()
        waiting: list[tuple[Kill, float]] = []
        while True:
            time.sleep(POLL_SECONDS)
            self._look(process)
            self._require_progress()
            now, validated = time.time(), self._validated()
            for kill, killed in waiting:
                if validated > killed:
                    kill.seconds = validated - killed
            waiting = [(kill, killed) for kill, killed in waiting if kill.seconds is None]
            if process.poll() is not None:
                if process.returncode == 0:
                    break
                process = self._start()  # as a user repeats it
            elif (
                kills
                and time.monotonic() > kills.due
                and len(waiting) < self.at_once
                and self._kill(process, kills.kind)
            ):
                kill = Kill(kills.kind, round(time.monotonic() - self.began, 1))
                self.swept.kills.append(kill)
                waiting.append((kill, now))
                kills.next()
        for kill, killed in waiting:
            kill.seconds = time.time() - killed
        self.swept.seconds = time.monotonic() - start
        self.swept.left = self._left()
        self.log.seek(0)
        self.swept.raw = sum(map(_is_raw, self.log))
        return self.swept

    def _start(self) -> subprocess.Popen[bytes]:
        self.swept.commands += 1
        command = ["sweep", str(self.space), "--storage", str(self.storage), "--name", "quick"]
        command += ["--executor", "ray"]
        # Workers of Ray have niceness 15: beside other work they would hardly go on.
        environment = {"RAY_worker_niceness": "0", **os.environ, "TMPDIR": str(self.directory)}
        environment.pop("RAY_ADDRESS", None)
        return subprocess.Popen(
            [sys.executable, "-m", "augury.cli", *command],
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            env=environment,
        )

    def _look(self, process: subprocess.Popen[bytes]) -> None:
        """Note the processes of the command, and their memory."""
        with suppress(psutil.Error):
            command = psutil.Process(process.pid)
            present = [command, *command.children(recursive=True)]
            self.seen |= set(present[1:])
            memory = 0.0
            for member in present:
                with suppress(psutil.Error):
                    memory += member.memory_info().rss / 1e6
            self.swept.memory = max(self.swept.memory, round(memory))

    def _validated(self) -> float:
        """Return the time at which a run last wrote what it had measured."""
        times = [0.0]
        for path in self.storage.glob("runs/*/seed-*/history/*.jsonl"):
            with suppress(FileNotFoundError):  # a run that begins again drops it
                times.append(path.stat().st_mtime)
        return max(times)

    def _require_progress(self) -> None:
        """Raise TimeoutError where nothing was said or measured for long."""
        state = self._validated(), os.fstat(self.log.fileno()).st_size
        if state != self.state:
            self.state, self.changed = state, time.monotonic()
        if time.monotonic() - self.changed > STALLED_SECONDS:
            raise TimeoutError(f"nothing for {STALLED_SECONDS:.0f} s: see {self.log.name}")

    def _kill(self, process: subprocess.Popen[bytes], kind: str) -> bool:
        """Kill what `kind` names; return whether it is there."""
        if kind in ("command", "stop"):
            process.send_signal(signal.SIGKILL if kind == "command" else signal.SIGTERM)
            return True
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if _is(child, kind):
                    child.kill()
                    return True
        return False

    def _left(self) -> list[str]:
        """Return the processes, directories and files that are left after the end."""
        psutil.wait_procs([*self.seen], timeout=END_SECONDS)
        running = [process for process in self.seen if process.is_running()]
        names = []
        for process in running:
            with suppress(psutil.Error):
                names.append(" ".join(process.cmdline())[:100])
        directories = [str(path) for path in self.directory.glob("augury-[0-9]*-*")]
        unfinished = [str(path) for path in self.storage.rglob(".tmp-*")]
        return names + directories + unfinished


def _is(process: psutil.Process, kind: str) -> bool:
    words = process.cmdline()
    if kind == "worker":
        return "ray::Trial" in " ".join(words)
    return bool(words) and words[0].endswith({"GCS": "/gcs_server", "raylet": "/raylet"}[kind])


def _is_raw(line: str) -> bool:
    return any(word in line for word in ("Traceback", "rpc_client", "(raylet)", "*** SIG"))


def soak(
    place: Path,
    minutes: float,
    every: Sequence[float],
    seed: int,
    kinds: Sequence[str] = KINDS,
    report: Callable[[Sequence[Swept]], None] = lambda sweeps: None,
) -> list[Swept]:
    """Repeat the sweep for so long; return what became of each, and report after each of those so
    far."""
    Sweep(place / "undisturbed", time.monotonic()).run()
    expected = results(place / "undisturbed" / "storage")
    sweeps: list[Swept] = []
    began, kills = time.monotonic(), Kills(random_kills(every, kinds, seed))
    while not sweeps or time.monotonic() - began < 60 * minutes:
        sweep = Sweep(place / f"sweep-{len(sweeps) + 1}", began)
        swept = sweep.run(kills)
        found = results(sweep.storage)
        swept.lost = sum(found.get(name) != values for name, values in expected.items())
        sweeps.append(swept)
        report(sweeps)
        killed = ", ".join(f"{kill.kind} {kill.seconds or 0:.0f} s" for kill in swept.kills)
        print(
            f"sweep {len(sweeps)}: {swept.seconds:.0f} s, {swept.commands} commands, lost "
            f"{swept.lost} of {len(expected)}, left {len(swept.left)}, raw lines {swept.raw}, "
            f"{swept.memory:.0f} MB; {killed}",
            file=sys.stderr,
            flush=True,
        )
    return sweeps


def plot(sweeps: Sequence[Swept], file: str) -> None:
    """Write a page with the recovery after every kill, and the memory of every sweep."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    titles = ("seconds from a kill to the next validation", "memory of a sweep, MB")
    figure = make_subplots(rows=2, cols=1, subplot_titles=titles)
    for kind in KINDS:
        kills = [kill for swept in sweeps for kill in swept.kills if kill.kind == kind]
        times, seconds = [kill.at / 60 for kill in kills], [kill.seconds for kill in kills]
        figure.add_trace(go.Scatter(x=times, y=seconds, mode="markers", name=kind), row=1, col=1)
    numbers = [*range(1, len(sweeps) + 1)]
    memory = [swept.memory for swept in sweeps]
    figure.add_trace(go.Scatter(x=numbers, y=memory, name="memory"), row=2, col=1)
    figure.update_xaxes(title_text="minutes", row=1, col=1)
    figure.update_xaxes(title_text="sweep", row=2, col=1)
    lost = sum(swept.lost for swept in sweeps)
    left = sum(len(swept.left) for swept in sweeps)
    figure.update_layout(title=f"{len(sweeps)} sweeps: lost {lost}, left {left}", height=800)
    figure.write_html(file, include_plotlyjs="cdn")


def summary(sweeps: Sequence[Swept]) -> dict[str, Any]:
    """Return the totals of all sweeps, and the recovery after kills, a kind a row."""
    setting = {
        "sweeps": len(sweeps),
        "lost": sum(swept.lost for swept in sweeps),
        "left": sum(len(swept.left) for swept in sweeps),
        "raw lines": sum(swept.raw for swept in sweeps),
        "largest MB": max(swept.memory for swept in sweeps),
    }
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        kills = [kill for swept in sweeps for kill in swept.kills if kill.kind == kind]
        seconds = [kill.seconds for kill in kills if kill.seconds is not None]
        row = {"name": kind, "kills": len(kills)}
        times = {"median s": statistics.median(seconds), "max s": max(seconds)} if seconds else {}
        rows.append({**row, **times})
    return {"setting": setting, "rows": rows, "sweeps": [asdict(swept) for swept in sweeps]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--every", type=float, nargs=2, default=(30.0, 90.0))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    # Of a short path: names of sockets are bounded.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="s") as place:
        sweeps = soak(
            Path(place),
            arguments.minutes,
            arguments.every,
            arguments.seed,
            report=lambda sweeps: plot(sweeps, arguments.plot) if arguments.plot else None,
        )
    if arguments.json:
        print(json.dumps(summary(sweeps), indent=1))
    return 1 if any(swept.lost or swept.left or swept.raw for swept in sweeps) else 0


if __name__ == "__main__":
    sys.exit(main())

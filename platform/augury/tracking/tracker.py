"""The one writer to MLflow: it reads run folders beside the training and never holds it up.

The run folder is the spool. What MLflow does not take stays there, and goes out at the next sending, at the end, with
the next command or by `send_pending`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Literal

from augury.errors import UserError
from augury.progress import say
from augury.store import Folder, Store
from augury.tracking import runs
from augury.tracking.mirror import LEDGER, Mirror, closed, ledger, load_mlflow, note
from augury.tracking.settings import Tracking, place

PATIENCE_SECONDS = 20.0  # for the last records of a run, where the store answered before


@dataclass(frozen=True)
class File:
    """A file to keep with a run in MLflow, in `directory` among its artifacts."""

    folder: Folder
    name: str
    directory: str = ""


class Tracker:
    """Records the runs of one command; nothing here raises or waits because of MLflow."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._place = place(tracking, store)
        self._mirror = Mirror(self._place, tracking.experiment)
        self._writing = threading.Lock()
        self._refused: set[str] = set()
        self._runs: dict[str, Folder] = {}

    def __enter__(self) -> Tracker:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Make the store ready in the background, and send what earlier commands could not."""
        if self.tracking.enabled:
            load_mlflow()
            _aside(self._open)

    def start(self, run: Folder, parent: str | None = None) -> None:
        """A run begins or continues; its folder holds `run.json`. `parent` names the group MLflow shows it under."""
        if self.tracking.enabled:
            self._runs[run.name] = run
            started = ledger(run)["started"] or time.time()
            note(run, status="RUNNING", started=started, parent=parent)

    @contextmanager
    def follow(self, run: Folder) -> Iterator[None]:
        """Send the run's history every few seconds while the block runs."""
        if not self.tracking.enabled:
            yield
            return
        stop = threading.Event()

        def send() -> None:
            while not stop.is_set():
                self._deliver(run)
                stop.wait(self.tracking.interval)

        threading.Thread(target=send, name=f"follow {run.name}", daemon=True).start()
        try:
            yield
        finally:
            stop.set()

    def finish(self, run: Folder, status: Literal["FINISHED", "FAILED"], files: Sequence[File] = ()) -> None:
        """Send the rest of a run: history, scores, cost, `files`, and experiment and hypotheses from its folder."""
        if self.tracking.enabled:
            for file in files:
                if not file.folder.exists(file.name):
                    say(f"{file.folder.uri}/{file.name} is not there and so not kept with the run in MLflow")
            entries = [{"root": file.folder.root, "folder": file.folder.name, "name": file.name,
                        "directory": file.directory} for file in files if file.folder.exists(file.name)]  # fmt: skip
            note(run, status=status, finished=time.time(), files=entries)
            self._runs[run.name] = run
            _aside(lambda: self._deliver(run), 0.0 if self._refused else PATIENCE_SECONDS)

    def close(self) -> None:
        """Try once more to send what is left of this command's runs."""
        left = [run for run in self._runs.values() if not closed(ledger(run))]
        if left:
            _aside(lambda: self._deliver(*left), PATIENCE_SECONDS)

    def _open(self) -> None:
        self._attempt("", self._mirror.open)
        for run in runs.folders(self.store):
            if run.exists(LEDGER) and run.name not in self._runs:
                state = ledger(run)
                if state["status"] != "RUNNING" and not closed(state):
                    self._deliver(run)

    def _deliver(self, *left: Folder) -> None:
        for run in left:
            self._attempt(run.name, partial(self._mirror.deliver, run))

    def _attempt(self, name: str, work: Callable[[], object]) -> None:
        with self._writing:
            try:
                work()
            except Exception as error:  # MLflow, its database, the network: a run is worth more than its record
                if not self._refused:
                    say(f"MLflow at {_public(self._place.uri)} takes no records ({_reason(error)}). Nothing is lost: "
                        f"they stay in {self.store.root}/{runs.KIND} and go out when it answers, or with: "
                        f"augury track {self.store.root}")  # fmt: skip
                self._refused.add(name)
            else:
                was_refused = bool(self._refused)
                self._refused -= {name, ""}
                if was_refused and not self._refused:
                    say(f"MLflow at {_public(self._place.uri)} takes records again; what was kept has been sent")


def send_pending(store: Store, tracking: Tracking) -> int:
    """Bring MLflow in line with every run of `store`; the number of runs of which something was sent.

    UserError where MLflow does not take them, after all runs were tried.
    """
    target = place(tracking, store)
    mirror = Mirror(target, tracking.experiment)
    sent, failures = 0, []
    try:
        mirror.open()
    except Exception as error:
        raise UserError(f"MLflow at {_public(target.uri)} cannot be opened ({_reason(error)}): start it, or name "
                        "another store in MLFLOW_TRACKING_URI or tracking.uri") from error  # fmt: skip
    for run in runs.folders(store):
        try:
            sent += mirror.deliver(run)
        except Exception as error:
            failures.append(f"  {run.uri}: {_reason(error)}")
    if failures:
        head = f"MLflow at {_public(target.uri)} took {sent} runs but not {len(failures)}; mend the cause and repeat:"
        raise UserError("\n".join([head, *failures]))
    return sent


def _aside(work: Callable[[], object], wait: float = 0.0) -> None:
    """Do `work` in a thread that does not keep the process alive, and wait for it at most `wait` seconds."""
    thread = threading.Thread(target=work, name="tracking", daemon=True)
    thread.start()
    if wait:
        thread.join(wait)


def _reason(error: Exception) -> str:
    """One line on an error, for people; what the network said tells more than what was made of it."""
    at: BaseException | None = error
    said: BaseException = error
    while at is not None:
        said = at if isinstance(at, OSError) else said
        at = at.__cause__ or at.__context__
    lines = str(said).splitlines() or [type(said).__name__]
    return _public(lines[0])[:200]


def _public(text: str) -> str:
    """`text` without the passwords of its addresses."""
    return re.sub(r"//[^/@\s]*@", "//", text)

"""The one writer to MLflow: it reads run folders beside the training and never holds it up.

The run folder is the spool. What MLflow does not take stays there, and goes out at the next sending, at the end, with
the next command or by `send_pending`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Literal, NamedTuple

from augury.core.commands import command
from augury.core.errors import UserError
from augury.core.periodic import Throttle
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.experiments import runs
from augury.experiments.tracking import Tracking, place
from augury.sweeping import state as sweeps
from augury.sweeping.state import Sweep
from augury.tracking.backend import File, Status, load_mlflow
from augury.tracking.groups import Groups, Step, concluded, outcome
from augury.tracking.ledger import LEDGER, closed, ledger, note
from augury.tracking.mirror import Mirror

__all__ = ["File", "Tracker", "send_pending"]

PATIENCE_SECONDS = 20.0  # for the last records of a run, where the store answered before


class _Told(NamedTuple):
    """What a driver has said last of its sweep."""

    sweep: Sweep
    answer: str | None
    status: Status


class Tracker:
    """Records the runs of one command; nothing here raises or waits because of MLflow."""

    def __init__(self, tracking: Tracking, store: Store):
        self.tracking, self.store = tracking, store
        self._place = place(tracking, store)
        self._mirror = Mirror(self._place, tracking.experiment)
        self._groups = Groups(self._mirror)
        self._writing, self._passing = threading.Lock(), threading.Lock()
        self._refused: set[str] = set()
        self._runs: dict[str, Folder] = {}
        self._sweeps: dict[str, _Told] = {}
        self._pass: threading.Thread | None = None
        self._throttle = Throttle(tracking.interval, share=0.1)
        self._closing = False

    def __enter__(self) -> Tracker:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(crashed=kind is not None and issubclass(kind, Exception))

    def open(self) -> None:
        """Make the store ready in the background, and send what earlier commands could not."""
        if self.tracking.enabled:
            load_mlflow()
            _aside(self._open)

    def start(self, run: Folder) -> None:
        """A run begins or continues; its folder holds `run.json`."""
        if self.tracking.enabled:
            self._runs[run.name] = run
            now = time.time()
            note(run, status="RUNNING", started=ledger(run)["started"] or now, as_of=now)

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
            entries = [
                {"root": file.folder.root, "folder": file.folder.name, "name": file.name, "directory": file.directory}
                for file in files
                if file.folder.exists(file.name)
            ]
            now = time.time()
            note(run, status=status, finished=now, as_of=now, files=entries)
            self._runs[run.name] = run
            _aside(lambda: self._deliver(run), 0.0 if self._refused else PATIENCE_SECONDS)

    def update_sweep(self, sweep: Sweep, answer: str | None = None) -> None:
        """A sweep runs and stands like this; may be called at any rate, and sends every few seconds.

        It records the runs of the seeds too, histories included: these need no `start`, `follow` and `finish`. How the
        sweep has ended, `close` takes from what was said last.
        """
        if not self.tracking.enabled:
            return
        self._sweeps[sweep.name] = told = _Told(sweep, answer, "RUNNING")
        busy = self._pass is not None and self._pass.is_alive()
        if not busy and self._throttle.due:
            note(sweep.folder, status="RUNNING", finished=None, **_said(answer))
            self._pass = _aside(partial(self._throttle.do, partial(self._deliver_sweep, told)))

    def close(self, crashed: bool = False) -> None:
        """Send the rest of this command's sweeps, and try once more to send what is left of its runs.

        A sweep that has not come to its end was interrupted, or has failed if the command `crashed`.
        """
        self._closing = True
        for name, told in self._sweeps.items():
            if told.status == "RUNNING":
                status = outcome(told.sweep) if told.sweep.ended else "FAILED" if crashed else "KILLED"
                self._sweeps[name] = told._replace(status=status)
                note(told.sweep.folder, status=status, finished=time.time(), **_said(told.answer))
        if self._left():
            _aside(self._deliver_left, PATIENCE_SECONDS)
        if self._left() and not self._refused:
            say(
                f"MLflow at {_public(self._place.uri)} is slow: the rest goes out with the next command, or with: "
                f"{command('augury', 'track', self.store.root)}"
            )

    def _left(self) -> bool:
        folders = [*self._runs.values(), *(told.sweep.folder for told in self._sweeps.values())]
        return not all(closed(ledger(folder)) for folder in folders)

    def _deliver_left(self) -> None:
        for told in self._sweeps.values():
            self._deliver_sweep(told)
        self._deliver(*(run for run in self._runs.values() if not closed(ledger(run))))

    def _open(self) -> None:
        self._attempt("", self._mirror.open)
        for name in self.store.addresses(sweeps.KIND):
            folder = self.store.folder(sweeps.KIND, name)
            if folder.exists(LEDGER) and name not in self._sweeps and _unsent(folder):
                try:
                    sweep = sweeps.load(self.store, name)
                except UserError as error:
                    say(str(error))
                else:
                    self._deliver_sweep(_Told(sweep, None, ledger(folder)["status"]))
        for run in runs.folders(self.store):
            if run.exists(LEDGER) and run.name not in self._runs and not ledger(run)["parent"] and _unsent(run):
                self._deliver(run)

    def _deliver_sweep(self, told: _Told) -> None:
        with self._passing:
            for index, step in enumerate(self._groups.steps(told.sweep, told.status)):
                overtaken = told.status == "RUNNING" and self._closing
                if overtaken or not (self._attempt(step.name, step.work) or index):
                    return

    def _deliver(self, *left: Folder) -> None:
        for run in left:
            self._attempt(run.name, partial(self._mirror.deliver, run))

    def _attempt(self, name: str, work: Callable[[], object]) -> bool:
        with self._writing:
            try:
                work()
            except Exception as error:  # MLflow, its database, the network: a run is worth more than its record
                if not self._refused:
                    say(
                        f"MLflow at {_public(self._place.uri)} takes no records ({_reason(error)}). Nothing is lost: "
                        f"they stay in {self.store.root} and go out when it answers, or with: "
                        f"{command('augury', 'track', self.store.root)}"
                    )
                self._refused.add(name)
                return False
            was_refused = bool(self._refused)
            self._refused -= {name, ""}
            if was_refused and not self._refused:
                say(f"MLflow at {_public(self._place.uri)} takes records again; what was kept has been sent")
            return True


def send_pending(store: Store, tracking: Tracking) -> int:
    """Bring MLflow in line with every sweep and run of `store`; the number of MLflow's runs that something was sent of.

    UserError where MLflow does not take them, after all were tried.
    """
    target = place(tracking, store)
    mirror = Mirror(target, tracking.experiment)
    try:
        mirror.open()
    except Exception as error:
        raise UserError(
            f"MLflow at {_public(target.uri)} cannot be opened ({_reason(error)}): start it, or name "
            "another store in MLFLOW_TRACKING_URI or tracking.uri"
        ) from error
    sent: set[str] = set()
    failures: dict[str, str] = {}
    for steps in _everything(store, mirror):
        for index, step in enumerate(steps):
            try:
                sent |= {step.name} if step.work() else set()
            except Exception as error:
                failures[step.name] = f"  {store.root}/{step.name}: {_reason(error)}"
                if not index:
                    break
    if failures:
        told = f"MLflow at {_public(target.uri)} took {len(sent)} runs but not {len(failures)}"
        raise UserError("\n".join([f"{told}; mend the cause and repeat:", *failures.values()]))
    return len(sent)


def _everything(store: Store, mirror: Mirror) -> Iterator[Iterable[Step]]:
    """The sweeps of a storage, the one started first in front, then the runs that are not theirs."""
    groups, found, theirs = Groups(mirror), [], set()
    for folder in (store.folder(sweeps.KIND, name) for name in store.addresses(sweeps.KIND)):
        if folder.exists(sweeps.DEFINITION):
            try:
                found.append(sweeps.load(store, folder.name.partition("/")[2]))
            except UserError as error:  # a damaged run; the others wait with it, under their sweep
                yield [Step(folder.name, partial(_refuse, error))]
                theirs |= {each["address"] for each in folder.read_json(sweeps.DEFINITION)["configurations"]}
    for sweep in sorted(found, key=lambda sweep: sweep.started):
        yield groups.steps(sweep, concluded(sweep))
    trials = [trial for sweep in found for each in sweep.configurations for trial in each.trials]
    theirs |= {trial.folder.name for trial in trials if trial.progress != "waiting" or ledger(trial.folder)["parent"]}
    for run in runs.folders(store):
        if not theirs & {run.name, run.name.split("/")[1]}:
            yield [Step(run.name, partial(mirror.deliver, run))]


def _refuse(error: UserError) -> bool:
    raise error


def _said(answer: str | None) -> dict[str, str]:
    return {"answer": answer} if answer else {}


def _unsent(folder: Folder) -> bool:
    state = ledger(folder)
    return state["status"] != "RUNNING" and not closed(state)


def _aside(work: Callable[[], object], wait: float = 0.0) -> threading.Thread:
    """Do `work` in a thread that does not keep the process alive, and wait for it at most `wait` seconds."""
    thread = threading.Thread(target=work, name="tracking", daemon=True)
    thread.start()
    if wait:
        thread.join(wait)
    return thread


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

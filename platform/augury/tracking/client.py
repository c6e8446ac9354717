"""The runs of one MLflow experiment: find, create and complete them by MLflow's own client."""

from __future__ import annotations

import fcntl
import json
import logging
import math
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from augury.core import config
from augury.core.errors import UserError
from augury.core.secrets import redacted
from augury.core.store import Store
from augury.experiments.record import Input
from augury.experiments.recording import Tracking, place
from augury.training.history import Record

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run
    from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

Status = Literal["RUNNING", "FINISHED", "FAILED", "KILLED"]

KEY = "augury.key"
"""The tag by which a run in MLflow is found: the folder of a run, which has its address."""
SENT, UPDATE = "augury.sent", "augury.update"
"""Tags: a hash of what was sent last, and the last update of the history in it."""
PARENT, NAME = "mlflow.parentRunId", "mlflow.runName"
PARAMETER_CHARACTERS, TAG_CHARACTERS, DIGEST_CHARACTERS = 6000, 8000, 36
MOST_RUNS = 50_000
"""The most that MLflow returns at once."""

# A server that hangs must not delay a command (MLflow itself tries for minutes), and standard
# output is for results.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


@dataclass
class Content:
    """What MLflow should have of a run."""

    key: str
    title: str
    status: Status
    started: float | None = None
    """Unix time; None for now."""
    ended: float | None = None
    origin: Mapping[str, str] = field(default_factory=dict)
    """Tags that stay as they were when the run was created, such as its parent."""
    tags: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Those of the whole run, at step 0: MLflow draws metrics with a single step as bars."""
    history: Sequence[Record] = ()
    inputs: Sequence[Input] = ()
    write_files: Callable[[Path], object] | None = None
    """Writes the artifacts into a directory."""
    state: str = ""
    """A hash of all that this is made from; empty for one of what it is."""


class Experiment:
    """The MLflow experiment of a storage's settings. Errors of MLflow propagate."""

    def __init__(self, tracking: Tracking, store: Store):
        self.place, self.name = place(tracking, store), tracking.experiment
        self.changed: set[str] = set()
        """The ids of runs that were created or changed."""
        self._runs: dict[str, Run] = {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other processes and threads on this machine: two might create a run, or the
        tables of a SQLite store, at once."""
        path = Path(f"{self.place.database}.lock")
        if self.place.database is None:
            name = f"augury-{os.getuid()}-{config.address(self.place.uri)}.lock"
            path = Path(tempfile.gettempdir(), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @cached_property
    def client(self) -> MlflowClient:
        """MLflow's client, which takes seconds to import."""
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of the tables it makes
        from mlflow import MlflowClient

        return MlflowClient(self.place.uri, self.place.uri)

    @cached_property
    def id(self) -> str:
        """The id of the experiment, which is made if it does not exist; UserError where the SQLite
        store was moved, as MLflow keeps the path of its files."""
        known = self.client.get_experiment_by_name(self.name)
        if known is None:
            # The tag lets MLflow's pages begin with metrics and charts in place of traces.
            kind = {"mlflow.experimentKind": "custom_model_development"}
            return str(self.client.create_experiment(self.name, self.place.artifacts, kind))
        files, ours = known.artifact_location.removeprefix("file://"), self.place.artifacts
        if ours and files != ours and files.endswith("/mlartifacts"):
            raise UserError(
                f"{self.place.database} was moved or copied, and its files are in {files}: remove "
                "it and mlartifacts beside it, and `augury track` makes both anew"
            )
        return str(known.experiment_id)

    def load(self) -> None:
        """Ask for all runs at once, so that none is looked up alone."""
        runs = self._search(f"tags.`{KEY}` != ''", MOST_RUNS)
        self._runs = {run.data.tags[KEY]: run for run in reversed(runs)}

    def find(self, key: str) -> Run | None:
        """Return the run with a key, the oldest where two machines have made it at once."""
        if key not in self._runs:
            for run in self._search(f"tags.`{KEY}` = '{key}'", 1):
                self._runs[key] = run
        return self._runs.get(key)

    def _search(self, condition: str, most: int) -> Sequence[Run]:
        oldest = ["attributes.start_time ASC"]
        return list(
            self.client.search_runs([self.id], condition, max_results=most, order_by=oldest)
        )

    def create(self, content: Content) -> Run:
        """Return the run of a content, which is made with its title and origin if it does not
        exist."""
        run = self.find(content.key)
        if run is None:
            from mlflow.tracking.context.registry import resolve_tags  # user and program

            tags = resolve_tags({KEY: content.key, **content.origin})
            started = _milliseconds(content.started)
            run = self.client.create_run(self.id, started, tags, content.title)
            self._runs[content.key] = run
            self.changed.add(run.info.run_id)
        return run

    def send(self, content: Content) -> str:
        """Create or complete a run; return its id. One whose state was sent stays as it is."""
        state = content.state or config.address(asdict(replace(content, write_files=None)))
        run = self.create(content)
        run_id = str(run.info.run_id)
        if run.data.tags.get(SENT) == state:
            return run_id
        from mlflow.entities import RunTag

        self._log(run, content)
        if content.write_files:
            with tempfile.TemporaryDirectory() as directory:
                content.write_files(Path(directory))
                self.client.log_artifacts(run_id, directory)
        if content.status == "RUNNING":
            self.client.update_run(run_id, "RUNNING")
        else:
            self.client.set_terminated(run_id, content.status, _milliseconds(content.ended))
        # At last, so that what was cut short is sent again.
        tags = {SENT: state}
        if content.history:
            tags[UPDATE] = str(content.history[-1]["update"])
        self.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])
        self._runs[content.key] = self.client.get_run(run_id)
        self.changed.add(run_id)
        return run_id

    def _log(self, run: Run, content: Content) -> None:
        """Send parameters, tags, metrics and texts; MLflow leaves out the points that it has."""
        from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag

        logged, now = run.data, _milliseconds(None)
        # A resumed run writes again, at other times, what it did after its last checkpoint.
        sent = int(logged.tags.get(UPDATE, 0))
        metrics = [
            Metric(_name(name), _finite(value), _milliseconds(record["time"]), record["update"])
            for record in content.history
            if record["update"] >= sent
            for name, value in record["metrics"].items()
        ]
        # What no longer holds, such as a deviation over seeds that are gone.
        stale = dict.fromkeys(
            name for name in logged.metrics if name.startswith(("best/", "test/"))
        )
        for name, value in {**stale, **content.metrics}.items():
            final = _finite(value)
            if str(logged.metrics.get(_name(name))) != str(final):
                metrics.append(Metric(_name(name), final, now, 0))
        parameters = {_name(key): _text(value) for key, value in content.parameters.items()}
        self.client.log_batch(
            run.info.run_id,
            metrics,
            # Parameters cannot change in MLflow.
            [
                Param(key, value[:PARAMETER_CHARACTERS])
                for key, value in parameters.items()
                if key not in logged.params
            ],
            [
                RunTag(_name(key), value[:TAG_CHARACTERS])
                for key, value in {**content.tags, NAME: content.title}.items()
            ],
        )
        datasets = [
            DatasetInput(
                Dataset(
                    text.role,
                    text.address[:DIGEST_CHARACTERS],
                    "augury",
                    json.dumps({"address": text.address}),
                    profile=json.dumps({"rows": text.rows}),
                ),
                [InputTag("mlflow.data.context", text.role)],
            )
            for text in content.inputs
        ]
        if datasets:
            self.client.log_inputs(run.info.run_id, datasets)

    def monitor(self, run_id: str, seconds: float) -> SystemMetricsMonitor:
        """Start to record the load of this machine in a run, every so many seconds."""
        from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

        uri = self.place.uri
        monitor = SystemMetricsMonitor(run_id, seconds, resume_logging=True, tracking_uri=uri)
        monitor.start()
        return monitor


def root_of(error: BaseException) -> BaseException:
    """Return the error of the network or the disk behind one of MLflow, else the error itself."""
    cause, deepest = error.__cause__ or error.__context__, error
    while cause is not None:
        deepest = cause if isinstance(cause, OSError) else deepest
        cause = cause.__cause__ or cause.__context__
    return deepest


def reason(error: Exception) -> str:
    """Return one line about an error, without passwords."""
    root = root_of(error)
    return redacted((str(root).splitlines() or [type(root).__name__])[0])[:200]


def _finite(value: float | None) -> float:
    """Return NaN for None and infinity: MLflow would store infinity as 1.8e308, which flattens
    its chart."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _milliseconds(seconds: float | None) -> int:
    return round((time.time() if seconds is None else seconds) * 1000)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _name(key: str) -> str:
    """Return `key` with characters that MLflow does not allow replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]

"""The runs of one MLflow experiment: find, make and complete them by MLflow's own client."""

from __future__ import annotations

import fcntl
import logging
import math
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from augury.core import config
from augury.core.errors import UserError
from augury.core.secrets import redacted
from augury.core.store import Store
from augury.experiments.recording import Tracking, mlflow_uri
from augury.training.history import Record

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

Status = Literal["RUNNING", "FINISHED", "FAILED"]

KEY = "augury.key"
"""The tag by which a run in MLflow is found: the folder of a run, which has its address."""
SENT, UPDATE = "augury.sent", "augury.update"
"""Tags: a hash of what was sent last, and the last update of the history in it."""
PARENT, NAME = "mlflow.parentRunId", "mlflow.runName"

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

    title: str
    tags: Mapping[str, str]
    status: Status = "FINISHED"
    started: float = 0.0
    """Unix time of the beginning of training."""
    ended: float = 0.0
    """Unix time of its last step so far."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Those of the whole run, at step 0: MLflow draws metrics with a single step as bars."""
    history: Sequence[Record] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of its artifacts by name, sent once it has ended."""


class MlflowExperiment:
    """The MLflow experiment that the settings of a storage mean. Errors of MLflow propagate."""

    def __init__(self, tracking: Tracking, store: Store):
        self.uri, self.name = mlflow_uri(tracking, store), tracking.experiment
        self.changed: set[str] = set()
        """The ids of runs that were made or changed."""
        self._runs: dict[str, Run] = {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other processes and threads on this machine: two might make a run, or the tables
        of a SQLite store, at once."""
        name = f"augury-{os.getuid()}-{config.address(self.uri)}.lock"
        with Path(tempfile.gettempdir(), name).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @cached_property
    def client(self) -> MlflowClient:
        """MLflow's client, which takes seconds to import."""
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of the tables it makes
        from mlflow import MlflowClient

        return MlflowClient(self.uri, self.uri)

    @cached_property
    def id(self) -> str:
        """The id of the experiment, which is made if it does not exist; UserError where MLflow
        cannot be used, and where a database was moved, as MLflow keeps the path of its files."""
        ours = None
        if self.uri.startswith("sqlite:///"):
            database = Path(self.uri.removeprefix("sqlite:///").partition("?")[0]).resolve()
            database.parent.mkdir(parents=True, exist_ok=True)
            ours = f"{database.parent}/mlartifacts"
        try:
            known = self.client.get_experiment_by_name(self.name)
        except Exception as error:
            raise UserError(
                f"MLflow at {redacted(self.uri)} cannot be used ({reason(error)}): start it, "
                "or set MLFLOW_TRACKING_URI or tracking.uri to another store"
            ) from error
        if known is None:
            # The tag lets MLflow's pages begin with metrics and charts in place of traces.
            kind = {"mlflow.experimentKind": "custom_model_development"}
            return str(self.client.create_experiment(self.name, ours, kind))
        files = known.artifact_location.removeprefix("file://")
        if ours and files != ours and files.endswith("/mlartifacts"):
            raise UserError(
                f"{database} was moved or copied, and its files are in {files}: remove it and "
                "mlartifacts beside it, and `augury track` makes both anew"
            )
        return str(known.experiment_id)

    def find(self, key: str) -> Run | None:
        """Return the run with a key, the oldest where two machines have made it at once."""
        if key not in self._runs:
            condition, oldest = f"tags.`{KEY}` = '{key}'", ["attributes.start_time ASC"]
            for run in self.client.search_runs([self.id], condition, 1, order_by=oldest):
                self._runs[key] = run
        return self._runs.get(key)

    def send(self, key: str, state: str, make: Callable[[], Content]) -> Run:
        """Make or complete the run with a key. `make` returns what it should have, and `state` is a
        hash of what that is made from: a run of which it was sent stays as it is."""
        run = self.find(key)
        if run is not None and run.data.tags.get(SENT) == state:
            return run
        content = make()
        if run is None:
            from mlflow.tracking.context.registry import resolve_tags  # user and program

            started, tags = round(1000 * content.started), resolve_tags({KEY: key})
            run = self.client.create_run(self.id, started, tags, content.title)
        run_id = run.info.run_id
        self._log(run, content)
        if content.status == "RUNNING":
            self.client.update_run(run_id, "RUNNING")
        else:
            for name, text in content.files.items():
                self.client.log_text(run_id, text, name)
            self.client.set_terminated(run_id, content.status, round(1000 * content.ended))
        self.client.set_tag(run_id, SENT, state)  # at last: what was cut short is sent again
        self.changed.add(run_id)
        self._runs[key] = self.client.get_run(run_id)
        return self._runs[key]

    def adopt(self, parent: Run, child: Run) -> None:
        """Put a run below another; one that has a parent stays where it is."""
        if PARENT not in child.data.tags:
            self.client.set_tag(child.info.run_id, PARENT, parent.info.run_id)
            child.data.tags[PARENT] = parent.info.run_id

    def _log(self, run: Run, content: Content) -> None:
        """Send parameters, tags and metrics; MLflow leaves out the points that it has."""
        from mlflow.entities import Metric, Param, RunTag

        logged, now = run.data, round(1000 * time.time())
        # A resumed run writes again, at other times, what it did after its last checkpoint.
        sent = int(logged.tags.get(UPDATE, 0))
        new = [record for record in content.history if record["update"] >= sent]
        metrics = [
            Metric(_name(name), _finite(value), round(1000 * record["time"]), record["update"])
            for record in new
            for name, value in record["metrics"].items()
        ]
        for name, value in content.metrics.items():
            if str(logged.metrics.get(_name(name))) != str(_finite(value)):
                metrics.append(Metric(_name(name), _finite(value), now, 0))
        parameters = {_name(name): str(value) for name, value in content.parameters.items()}
        tags = {_name(name): value for name, value in content.tags.items()}
        tags |= {NAME: content.title, UPDATE: str(max([sent, *(line["update"] for line in new)]))}
        self.client.log_batch(
            run.info.run_id,
            metrics,
            # Parameters cannot change in MLflow.
            [Param(name, text) for name, text in parameters.items() if name not in logged.params],
            [RunTag(name, text) for name, text in tags.items()],
        )


def reason(error: BaseException) -> str:
    """Return one line, without passwords, about an error: that of the network or the disk behind
    one of MLflow, if there is any."""
    cause, deepest = error.__cause__ or error.__context__, error
    while cause is not None:
        deepest = cause if isinstance(cause, OSError) else deepest
        cause = cause.__cause__ or cause.__context__
    return redacted((str(deepest).splitlines() or [type(deepest).__name__])[0])[:200]


def _finite(value: float | None) -> float:
    """Return NaN for None and infinity: MLflow would store infinity as 1.8e308, which flattens
    its chart."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _name(key: str) -> str:
    """Return `key` with characters that MLflow does not allow replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]

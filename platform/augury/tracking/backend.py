"""One experiment of MLflow: finds its runs, makes them and gives them what they lack, in as few calls as possible."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from augury.experiments.recording import File
from augury.experiments.tracking import Place

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

Status = Literal["RUNNING", "FINISHED", "FAILED", "KILLED"]

PARAMETER_CHARACTERS, TAG_CHARACTERS, DIGEST_CHARACTERS = 6000, 8000, 36
RUNS_PER_SEARCH, IDS_PER_SEARCH = 1000, 100

# A server that does not answer must not hold up a run (MLflow's own defaults retry for minutes), and standard output is
# kept for results.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def load_mlflow() -> None:
    """Import MLflow, some seconds the first time; what the environment already says holds."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: F401


class Value(NamedTuple):
    """A point of a metric."""

    metric: str
    value: float | None
    time: float
    """Seconds since 1970."""
    step: int


@dataclass
class Record:
    """A run as MLflow has it."""

    run_id: str
    status: str
    finished: int | None
    """Milliseconds since 1970."""
    parameters: dict[str, str]
    metrics: dict[str, float]
    """The last value of each."""
    tags: dict[str, str]
    inputs: frozenset[str]
    """Names of the texts that went in."""


@dataclass
class Content:
    """What a run in MLflow is to have; what it has beyond that stays."""

    tags: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    points: list[Value] = field(default_factory=list)
    """Sent as they are; MLflow drops those that it has."""
    values: list[Value] = field(default_factory=list)
    """Sent where the metric's last value in MLflow is another."""
    exact: bool = False
    """Whether metrics beyond `values` hold no longer, and become NaN."""
    inputs: list[Mapping[str, Any]] = field(default_factory=list)
    """Texts: `name`, `address`, `rows`."""
    files: list[File] = field(default_factory=list)


class Backend:
    """The runs of one experiment; one thread at a time. MLflow's errors pass through."""

    def __init__(self, place: Place, experiment: str):
        self.place, self.experiment = place, experiment
        self.sent = 0
        """Calls that changed something."""
        self._client: MlflowClient | None = None
        self._experiment_id = ""

    def open(self) -> MlflowClient:
        """The client of the store, which is made with its experiment if it is not there yet."""
        if self._client is None:
            load_mlflow()
            from mlflow import MlflowClient

            with _alone(self.place.database):
                client = MlflowClient(self.place.uri, self.place.uri)
                found = client.get_experiment_by_name(self.experiment)
                self._experiment_id = (
                    found.experiment_id if found else client.create_experiment(self.experiment, self.place.artifacts)
                )
            self._client = client
        return self._client

    @property
    def link(self) -> str:
        """Where MLflow's pages show the runs of the experiment, from one of these pages."""
        return f"#/experiments/{self._experiment_id}/runs"

    def get(self, run_id: str) -> Record | None:
        """The run of this id, unless it is not in this store or was deleted there."""
        from mlflow.exceptions import MlflowException

        try:
            run = self.open().get_run(run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return None
        return _record(run) if run.info.lifecycle_stage == "active" else None

    def search(self, tag: str, value: str, storage: str) -> list[Record]:
        """The runs from `storage` whose tag `augury.<tag>` has this value."""
        found = self._pages(f"tags.`augury.{tag}` = '{value}'")
        return [_record(run) for run in found if run.data.tags.get("augury.storage") == storage]

    def several(self, run_ids: Sequence[str]) -> list[Record]:
        """Those of these runs that are in this store."""
        groups = [run_ids[start : start + IDS_PER_SEARCH] for start in range(0, len(run_ids), IDS_PER_SEARCH)]
        wanted = [", ".join(f"'{run_id}'" for run_id in group) for group in groups]
        return [_record(run) for ids in wanted for run in self._pages(f"attributes.run_id IN ({ids})")]

    def _pages(self, condition: str) -> Iterator[Run]:
        client, token = self.open(), None
        while True:
            page = client.search_runs([self._experiment_id], condition, max_results=RUNS_PER_SEARCH, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def create(self, title: str, tags: Mapping[str, str], started: float | None) -> Record:
        """A new run, which runs."""
        allowed = _tags(tags)
        run = self.open().create_run(self._experiment_id, _milliseconds(started), allowed, title)
        self.sent += 1
        return Record(str(run.info.run_id), "RUNNING", None, {}, {}, allowed, frozenset())

    def bring(self, record: Record, content: Content, status: Status, finished: float | None = None) -> None:
        """Give a run what it does not have yet, its status last; `record` is kept up with it."""
        self._log(record, content)
        self.keep(record.run_id, content.files)
        if missing := [entry for entry in content.inputs if entry["name"] not in record.inputs]:
            self.open().log_inputs(record.run_id, [_dataset(entry) for entry in missing])
            self.sent += 1
            record.inputs |= {entry["name"] for entry in missing}
        self._end(record, status, finished)

    def keep(self, run_id: str, files: Sequence[File]) -> None:
        """Copy files to a run's artifacts, in place of those of the same name."""
        for file in files:
            with _local_file(file) as path:
                self.open().log_artifact(run_id, str(path), file.directory or None)
            self.sent += 1

    def _log(self, record: Record, content: Content) -> None:
        from mlflow.entities import Metric, Param, RunTag

        wanted = {
            _allowed(key): _shortened(_text(value), PARAMETER_CHARACTERS) for key, value in content.parameters.items()
        }
        tags = _tags(content.tags)
        # MLflow keeps the first value of a parameter; those that a restart may change (workers, say) become a tag.
        if changed := {key: value for key, value in wanted.items() if record.parameters.get(key, value) != value}:
            tags |= _tags({"augury.changed_since_start": json.dumps(changed, ensure_ascii=False)})
        parameters = {key: value for key, value in wanted.items() if key not in record.parameters}
        tags = {key: value for key, value in tags.items() if record.tags.get(key) != value}
        values = [*content.values, *(_void(record, content) if content.exact else ())]
        values = [each for each in values if not _equal(record.metrics.get(_allowed(each.metric)), each.value)]
        metrics = [
            Metric(_allowed(each.metric), _finite(each.value), _milliseconds(each.time), each.step)
            for each in content.points + values
        ]
        if not (parameters or tags or metrics):
            return
        self.open().log_batch(
            record.run_id,
            metrics,
            [Param(key, value) for key, value in parameters.items()],
            [RunTag(key, value) for key, value in tags.items()],
        )
        self.sent += 1
        record.parameters |= parameters
        record.tags |= tags
        record.metrics |= {metric.key: metric.value for metric in metrics}

    def _end(self, record: Record, status: Status, finished: float | None) -> None:
        if status == "RUNNING":
            if record.status != status:
                self.open().update_run(record.run_id, status=status)
                self.sent += 1
        elif (record.status, record.finished) != (status, _milliseconds(finished)):
            self.open().set_terminated(record.run_id, status, _milliseconds(finished))
            self.sent += 1
            record.finished = _milliseconds(finished)
        record.status = status


@contextmanager
def _alone(database: Path | None) -> Iterator[None]:
    """Keep other processes on this machine out while a SQLite store is made: two makers at once break it for good."""
    if database is None:
        yield
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{database}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _local_file(file: File) -> Iterator[Path]:
    if file.folder.is_local:
        yield Path(file.folder.path(file.name))
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, Path(file.name).name)
        path.write_bytes(file.folder.read(file.name))
        yield path


def _record(run: Run) -> Record:
    data = run.data
    given = run.inputs.dataset_inputs if run.inputs else ()
    return Record(
        str(run.info.run_id),
        run.info.status,
        run.info.end_time,
        dict(data.params),
        dict(data.metrics),
        dict(data.tags),
        frozenset(each.dataset.name for each in given),
    )


def _dataset(entry: Mapping[str, Any]) -> DatasetInput:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    source = json.dumps({"address": entry["address"]})
    dataset = Dataset(
        entry["name"],
        entry["address"][:DIGEST_CHARACTERS],
        "augury",
        source,
        profile=json.dumps({"rows": entry["rows"]}),
    )
    return DatasetInput(dataset, [InputTag("mlflow.data.context", entry["name"])])


def _void(record: Record, content: Content) -> list[Value]:
    named = {_allowed(each.metric) for each in content.values}
    return [Value(metric, None, time.time(), 0) for metric in record.metrics if metric not in named]


def _equal(known: float | None, value: float | None) -> bool:
    return known is not None and (known == (new := _finite(value)) or (math.isnan(known) and math.isnan(new)))


def _finite(value: float | None) -> float:
    """Infinity as NaN, which MLflow shows as such; infinity it would store as 1.8e308 and flatten the chart with."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _milliseconds(seconds: float | None) -> int:
    return round((time.time() if seconds is None else seconds) * 1000)


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {_allowed(key): _shortened(value, TAG_CHARACTERS) for key, value in tags.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str, characters: int) -> str:
    ending = f" ... ({len(text)} characters in all)"
    return text if len(text) <= characters else text[: characters - len(ending)] + ending


def _allowed(key: str) -> str:
    """`key` with what MLflow refuses in names replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]

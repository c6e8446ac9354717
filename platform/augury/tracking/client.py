"""One experiment of MLflow: its runs are found, made and given what they lack, in as few calls as possible."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from augury.core import config
from augury.experiments.recording import File
from augury.experiments.tracking import Place

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Run

Status = Literal["RUNNING", "FINISHED", "FAILED", "KILLED"]

STORAGE, FOLDER = "augury.storage", "augury.folder"
"""Where lies what a run in MLflow is the record of."""
PARENT, NOTE = "mlflow.parentRunId", "mlflow.note.content"
KIND, MODEL_TRAINING = "mlflow.experimentKind", "custom_model_development"
"""The tag by which MLflow's pages open an experiment with charts and models instead of traces."""
PARAMETER_CHARACTERS, TAG_CHARACTERS, DIGEST_CHARACTERS = 6000, 8000, 36
RUNS_PER_SEARCH = 1000

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


class Point(NamedTuple):
    """A point of a metric's curve."""

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
    steps: dict[str, int]
    """The last step of each metric."""
    tags: dict[str, str]
    inputs: frozenset[str]
    """Names of the corpora that went in."""
    has_model: bool

    def ended(self, status: Status, finished: float | None) -> bool:
        """Return whether MLflow has this end of the run, which is sent after everything else."""
        return status != "RUNNING" and (self.status, self.finished) == (status, _milliseconds(finished))


@dataclass
class Content:
    """The content that a run in MLflow is to have; what it has beyond that stays."""

    title: str
    status: Status
    finished: float | None = None
    """Seconds since 1970."""
    started: float | None = None
    tags: dict[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    points: Sequence[Point] = ()
    """Of curves; MLflow drops those that it has."""
    finals: Mapping[str, float | None] = field(default_factory=dict)
    """Values of the whole run, at step 0: a metric of one step alone is drawn as bars."""
    inputs: Sequence[Mapping[str, Any]] = ()
    """Corpora: `name`, `address`, `rows`."""
    files: Sequence[File] = ()
    """To keep with the run once it has ended."""
    model: Callable[[Path], object] | None = None
    """Writes the model into a directory, if it is to be kept with the run that has ended."""


class MlflowExperiment:
    """The runs of one storage in one experiment of MLflow. MLflow's errors pass through."""

    def __init__(self, place: Place, name: str, storage: str):
        self.place, self.name, self.storage = place, name, storage
        self.sent: set[str] = set()
        """Ids of the runs that something was sent of."""
        self._client: MlflowClient | None = None
        self.experiment_id = ""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes and threads on this machine out.

        Two that look for the same run at once would both make it, and two makers of a SQLite store break it for good.
        """
        path = f"{self.place.database}.lock"
        if self.place.database is None:
            path = f"{tempfile.gettempdir()}/augury-{os.getuid()}-{config.address(self.place.uri)}.lock"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def open(self) -> MlflowClient:
        """Return the client of the store, which is made with its experiment if it is not there yet."""
        if self._client is None:
            load_mlflow()
            from mlflow import MlflowClient

            client = MlflowClient(self.place.uri, self.place.uri)
            experiment = client.get_experiment_by_name(self.name)
            if experiment is None:
                self.experiment_id = client.create_experiment(self.name, self.place.artifacts, {KIND: MODEL_TRAINING})
            else:
                self.experiment_id = experiment.experiment_id
                if KIND not in experiment.tags:
                    client.set_experiment_tag(self.experiment_id, KIND, MODEL_TRAINING)
            self._client = client
        return self._client

    @property
    def link(self) -> str:
        """Where MLflow's pages show the runs of the experiment, from one of these pages."""
        return f"#/experiments/{self.experiment_id}/runs"

    def charts(self, condition: str, metric: str, *, lower_first: bool = False) -> str:
        """Return where MLflow draws the metrics of runs that a filter finds, which are in the order of one of them."""
        query = {
            "searchFilter": condition,
            "compareRunsMode": "CHART",
            "orderByKey": f"metrics.`{metric}`",
            "orderByAsc": "true" if lower_first else "false",
        }
        return f"{self.link}?{urlencode(query, quote_via=quote)}"

    def search(self, **tags: str) -> list[Record]:
        """Return the runs of the storage with these tags (`sweep="beta"` for `augury.sweep`), the oldest first."""
        conditions = [f"tags.`augury.{tag}` = '{value}'" for tag, value in tags.items()]
        if "'" not in self.storage:  # which filters cannot hold
            conditions.append(f"tags.`{STORAGE}` = '{self.storage}'")
        runs = [run for run in self._pages(" and ".join(conditions)) if run.data.tags.get(STORAGE) == self.storage]
        return [_record(run) for run in sorted(runs, key=lambda run: (run.info.start_time, run.info.run_id))]

    def find(self, **tags: str) -> Record | None:
        """Return the run with these tags; of several, which two machines have made at once, the oldest stays."""
        records = self.search(**tags)
        for twin in records[1:]:
            self.open().delete_run(twin.run_id)
        return records[0] if records else None

    def _pages(self, condition: str) -> Iterator[Run]:
        client, token = self.open(), None
        while True:
            page = client.search_runs([self.experiment_id], condition, max_results=RUNS_PER_SEARCH, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def create(self, content: Content) -> Record:
        """Make a run, which runs, with no more than its tags."""
        tags = _tags({**content.tags, STORAGE: self.storage})
        run = self.open().create_run(self.experiment_id, _milliseconds(content.started), tags, content.title)
        self.sent.add(run.info.run_id)
        return Record(run.info.run_id, "RUNNING", None, {}, {}, {}, tags, frozenset(), False)

    def update(self, record: Record, content: Content) -> None:
        """Give a run what it does not have yet, its end last; an end that MLflow has is not looked behind."""
        self._log(record, content)
        if missing := [entry for entry in content.inputs if entry["name"] not in record.inputs]:
            self.open().log_inputs(record.run_id, [_dataset(entry) for entry in missing])
            self.sent.add(record.run_id)
        if content.status == "RUNNING":
            if record.status != "RUNNING":
                self.open().update_run(record.run_id, status="RUNNING")
                self.sent.add(record.run_id)
        elif not record.ended(content.status, content.finished):
            self.keep(record, content.files, content.model)
            self.open().set_terminated(record.run_id, content.status, _milliseconds(content.finished))
            self.sent.add(record.run_id)

    def _log(self, record: Record, content: Content) -> None:
        from mlflow.entities import Metric, Param, RunTag

        wanted = {_name(key): _text(value)[:PARAMETER_CHARACTERS] for key, value in content.parameters.items()}
        tags = _tags(content.tags)
        # MLflow keeps the first value of a parameter; those that a restart may change (workers, say) become a tag.
        if changed := {key: value for key, value in wanted.items() if record.parameters.get(key, value) != value}:
            tags |= _tags({"augury.changed_since_start": json.dumps(changed, ensure_ascii=False)})
        parameters = {key: value for key, value in wanted.items() if key not in record.parameters}
        tags = {key: value for key, value in tags.items() if record.tags.get(key) != value}
        points = sorted(content.points, key=lambda point: point.step)  # if it breaks off, earlier steps are there
        finals = {_name(key): _finite(value) for key, value in content.finals.items()}
        finals = {key: value for key, value in finals.items() if not _equal(record.metrics.get(key), value)}
        metrics = [
            *(Metric(_name(metric), _finite(value), _milliseconds(at), step) for metric, value, at, step in points),
            *(Metric(key, value, _milliseconds(None), 0) for key, value in finals.items()),
        ]
        if parameters or tags or metrics:
            self.open().log_batch(
                record.run_id,
                metrics,
                [Param(key, value) for key, value in parameters.items()],
                [RunTag(key, value) for key, value in tags.items()],
            )
            self.sent.add(record.run_id)

    def tag(self, record: Record, name: str, value: str) -> None:
        """Give a run a tag."""
        self.open().set_tag(record.run_id, _name(name), value)
        record.tags[_name(name)] = value
        self.sent.add(record.run_id)

    def keep(self, record: Record, files: Sequence[File], write_model: Callable[[Path], object] | None = None) -> None:
        """Copy files to a run's artifacts, in place of those of the same name, and its model if it has none there."""
        for file in files:
            with _local_file(file) as path:
                self.open().log_artifact(record.run_id, str(path), file.directory or None)
        if write_model is not None and not record.has_model:
            from mlflow.entities import LoggedModelOutput

            with tempfile.TemporaryDirectory() as directory:
                write_model(Path(directory, "model"))
                model = self.open().create_logged_model(self.experiment_id, "model", record.run_id)
                self.open().log_model_artifacts(model.model_id, f"{directory}/model")
            self.open().finalize_logged_model(model.model_id, "READY")
            self.open().log_outputs(record.run_id, [LoggedModelOutput(model.model_id, step=0)])


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
    inputs = run.inputs.dataset_inputs if run.inputs else ()
    return Record(
        str(run.info.run_id),
        run.info.status,
        run.info.end_time,
        dict(data.params),
        dict(data.metrics),
        {metric.key: metric.step for metric in data._metric_objs},
        dict(data.tags),
        frozenset(entry.dataset.name for entry in inputs),
        bool(run.outputs and run.outputs.model_outputs),
    )


def _dataset(entry: Mapping[str, Any]) -> DatasetInput:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    source, profile = json.dumps({"address": entry["address"]}), json.dumps({"rows": entry["rows"]})
    dataset = Dataset(entry["name"], entry["address"][:DIGEST_CHARACTERS], "augury", source, profile=profile)
    return DatasetInput(dataset, [InputTag("mlflow.data.context", entry["name"])])


def _equal(known: float | None, value: float) -> bool:
    return known is not None and (known == value or (math.isnan(known) and math.isnan(value)))


def _finite(value: float | None) -> float:
    """Return infinity as NaN, which MLflow shows as such; it would store 1.8e308 and flatten the chart with it."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _milliseconds(seconds: float | None) -> int:
    return round((time.time() if seconds is None else seconds) * 1000)


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {_name(key): value[:TAG_CHARACTERS] for key, value in tags.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _name(key: str) -> str:
    """Return `key` with what MLflow refuses in names replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]

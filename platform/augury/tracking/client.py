"""Find, create and complete the runs of a storage in one MLflow experiment, in as few requests as
possible."""

from __future__ import annotations

import fcntl
import json
import logging
import math
import os
import re
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import urlopen

from augury.core import config
from augury.core.store import Store
from augury.experiments.record import Input
from augury.experiments.recording import File, Tracking, place
from augury.tracking.location import STORAGE, identity, relocate

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Experiment, Run

Status = Literal["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"]

FOLDER = "augury.folder"
"""The tag with the folder, in the storage, that a run in MLflow mirrors."""
VIEW = "mlflow.sharedViewState."
"""The beginning of the tags of an experiment with the views that MLflow's UI can show."""
PARENT, NOTE = "mlflow.parentRunId", "mlflow.note.content"
KIND, MODEL_TRAINING = "mlflow.experimentKind", "custom_model_development"
"""The tag that makes MLflow's UI open an experiment with charts and models instead of traces."""
PARAMETER_CHARACTERS, TAG_CHARACTERS, DIGEST_CHARACTERS = 6000, 8000, 36
RUNS_PER_SEARCH = 1000
ANSWER_SECONDS = 3.0
"""A server that does not answer for so long is taken to be away."""

# A server that does not respond must not delay a run (by default MLflow retries for minutes), and
# standard output is reserved for results.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def load_mlflow() -> None:
    """Import MLflow, which takes seconds, with our defaults for environment variables that are
    not set."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of the tables that it makes
    import mlflow  # noqa: F401


def check_answers(uri: str) -> None:
    """Raise OSError where the server of a URI does not answer within seconds, as MLflow's own
    requests would only after many."""
    if not uri.startswith(("http://", "https://")):
        return
    parts = urlsplit(uri)  # without name and password, which are none of the probe's business
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}/health"
    try:
        urlopen(place, timeout=ANSWER_SECONDS).close()
    except HTTPError:  # an answer, such as that a password is missing
        pass
    except URLError as error:
        if not isinstance(error.reason, ssl.SSLError):  # MLflow may know the certificate
            raise


class Point(NamedTuple):
    """A point of a metric's curve."""

    metric: str
    value: float | None
    time: float
    """Unix time."""
    step: int


@dataclass
class RunContent:
    """The target state of a run in MLflow; additional content there is kept."""

    title: str
    status: Status
    finished: float | None = None
    """Unix time."""
    started: float | None = None
    """Unix time."""
    tags: dict[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    points: Sequence[Point] = ()
    """Points of curves; MLflow ignores duplicates."""
    final_metrics: dict[str, float | None] = field(default_factory=dict)
    """Metrics of the whole run, logged at step 0: the UI draws metrics with a single step as
    bars."""
    inputs: Sequence[Input] = ()
    files: Sequence[File] = ()
    """Artifacts to log when the run has ended."""
    model: Callable[[Path], object] | None = None
    """Writes the model to a directory, if it is to be logged when the run has ended."""


def ended(run: Run, status: Status, finished: float | None) -> bool:
    """Return whether MLflow has this end of a run.

    It is sent last, so everything else was sent too.
    """
    end = status, _milliseconds(finished)
    return status != "RUNNING" and (run.info.status, run.info.end_time) == end


class MlflowExperiment:
    """The runs of one storage in one MLflow experiment. Errors of MLflow propagate."""

    def __init__(self, tracking: Tracking, store: Store):
        self.place, self.name, self.store = place(tracking, store), tracking.experiment, store
        self.storage = identity(store)
        self.updated: set[str] = set()
        """Ids of the runs that have been created or changed."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other processes and threads on this machine.

        Otherwise two of them might create the same run twice, or corrupt a SQLite store by creating
        it together.
        """
        path = f"{self.place.database}.lock"
        if self.place.database is None:
            name = f"augury-{os.getuid()}-{config.address(self.place.uri)}.lock"
            path = f"{tempfile.gettempdir()}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @cached_property
    def client(self) -> MlflowClient:
        """The client; a SQLite store that was moved is mended."""
        relocate(self.place)
        load_mlflow()
        from mlflow import MlflowClient

        return MlflowClient(self.place.uri, self.place.uri)

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment, which is created if it does not exist."""
        client, known = self.client, self.client.get_experiment_by_name(self.name)
        if known is None:
            created = client.create_experiment(
                self.name, self.place.artifacts, {KIND: MODEL_TRAINING}
            )
            return client.get_experiment(created)
        if KIND not in known.tags:
            client.set_experiment_tag(known.experiment_id, KIND, MODEL_TRAINING)
        return known

    @property
    def link(self) -> str:
        """The URL fragment of the experiment's runs in MLflow's UI."""
        return f"#/experiments/{self.experiment.experiment_id}/runs"

    def view(
        self,
        name: str,
        filter_string: str,
        columns: Sequence[str],
        metric: str,
        *,
        lower_first: bool = False,
    ) -> tuple[str, str]:
        """Return the URL fragment of a table of the runs that match a filter, sorted by a metric,
        and a sentence in Markdown with links to it and to charts of these runs.

        By default MLflow's UI shows no scores. `columns`, such as "metrics.`valid/best`", are those
        of a shared view, which is a tag of the experiment.
        """
        tag, tags = f"{VIEW}{name}", self.experiment.tags
        shown = {"searchFilter": filter_string, "orderByKey": f"metrics.`{metric}`"}
        state = shown | {
            "orderByAsc": lower_first,
            "selectedColumns": list(columns),
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "compareRunsMode": "TABLE",
        }
        text = json.dumps(state)
        if tags.get(tag) != text:
            self.client.set_experiment_tag(self.experiment.experiment_id, tag, text)
            tags[tag] = text
        # Without the type, the browser's own choice comes before the tag of the experiment.
        kind = {"workflowType": "machine_learning"}
        order = {"compareRunsMode": "CHART", "orderByAsc": str(lower_first).lower()}
        table = f"{self.link}?{urlencode({'viewStateShareKey': name} | kind, quote_via=quote)}"
        charts = f"{self.link}?{urlencode(shown | order | kind, quote_via=quote)}"
        links = f"[scores]({table}), [charts]({charts}), or filter runs by `{filter_string}`."
        return table, links

    def search(self, **tags: str) -> list[Run]:
        """Return the runs of the storage with these tags (`sweep="beta"` for `augury.sweep`),
        oldest first."""
        wanted = {STORAGE: self.storage} | {f"augury.{tag}": value for tag, value in tags.items()}
        conditions = [f"tags.`{tag}` = '{value}'" for tag, value in wanted.items()]
        runs = self._pages(self.experiment.experiment_id, " and ".join(conditions))
        return sorted(runs, key=lambda run: (run.info.start_time, run.info.run_id))

    def find(self, **tags: str) -> Run | None:
        """Return the run with these tags.

        Of duplicates, created by two machines at once, only the oldest is kept.
        """
        runs = self.search(**tags)
        for duplicate in runs[1:]:
            self.client.delete_run(duplicate.info.run_id)
        return runs[0] if runs else None

    def create(self, content: RunContent) -> Run:
        """Create a running run with its tags only."""
        tags = _tags({**content.tags, STORAGE: self.storage})
        started, experiment_id = _milliseconds(content.started), self.experiment.experiment_id
        run = self.client.create_run(experiment_id, started, tags, content.title)
        self.updated.add(run.info.run_id)
        return run

    def update(self, run: Run, content: RunContent) -> None:
        """Send the content that a run lacks, its end last.

        Files and model only if MLflow does not have this end.
        """
        client, run_id = self.client, run.info.run_id
        self._log(run, content)
        logged = {entry.dataset.name for entry in run.inputs.dataset_inputs} if run.inputs else ()
        if missing := [corpus for corpus in content.inputs if corpus.role not in logged]:
            client.log_inputs(run_id, [_dataset(corpus) for corpus in missing])
            self.updated.add(run_id)
        if content.status == "RUNNING" and run.info.status != "RUNNING":
            client.update_run(run_id, status="RUNNING")
            self.updated.add(run_id)
        elif content.status != "RUNNING" and not ended(run, content.status, content.finished):
            self.log_artifacts(run, content.files, content.model)
            client.set_terminated(run_id, content.status, _milliseconds(content.finished))
            self.updated.add(run_id)

    def set_tag(self, run: Run, name: str, value: str) -> None:
        """Set a tag of a run."""
        self.client.set_tag(run.info.run_id, _name(name), value)
        self.updated.add(run.info.run_id)

    def log_artifacts(
        self,
        run: Run,
        files: Sequence[File],
        write_model: Callable[[Path], object] | None = None,
    ) -> None:
        """Log files as artifacts of a run, replacing those with the same name, and its model
        unless it has one."""
        client, run_id = self.client, run.info.run_id
        for file in files:
            with _local_file(file) as path:
                client.log_artifact(run_id, str(path), file.directory or None)
        has_model = run.outputs and run.outputs.model_outputs
        if write_model is not None and not has_model:
            from mlflow.entities import LoggedModelOutput

            with tempfile.TemporaryDirectory() as directory:
                write_model(Path(directory, "model"))
                model = client.create_logged_model(self.experiment.experiment_id, "model", run_id)
                client.log_model_artifacts(model.model_id, f"{directory}/model")
            client.finalize_logged_model(model.model_id, "READY")
            client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])

    def _pages(self, experiment_id: str, filter_string: str) -> Iterator[Run]:
        token = None
        while True:
            page = self.client.search_runs(
                [experiment_id], filter_string, max_results=RUNS_PER_SEARCH, page_token=token
            )
            yield from page
            token = page.token
            if not token:
                return

    def _log(self, run: Run, content: RunContent) -> None:
        """Send the parameters, tags and metrics that a run lacks in one request."""
        from mlflow.entities import Metric, Param, RunTag

        logged, tags = run.data, _tags(content.tags)
        parameters = {
            _name(key): _text(value)[:PARAMETER_CHARACTERS]
            for key, value in content.parameters.items()
        }
        # MLflow's parameters are immutable; those that a restart has changed become a tag.
        changed = {
            key: value
            for key, value in parameters.items()
            if logged.params.get(key, value) != value
        }
        if changed:
            tags |= _tags({"augury.changed_since_start": json.dumps(changed, ensure_ascii=False)})
        # An interrupted request has the earlier steps.
        metrics = [
            Metric(_name(point.metric), _finite(point.value), _milliseconds(point.time), point.step)
            for point in sorted(content.points, key=lambda point: point.step)
        ]
        for key, value in content.final_metrics.items():
            name, final = _name(key), _finite(value)
            if not _equal(logged.metrics.get(name), final):
                metrics.append(Metric(name, final, _milliseconds(None), 0))
        new_parameters = [
            Param(key, value) for key, value in parameters.items() if key not in logged.params
        ]
        new_tags = [
            RunTag(key, value) for key, value in tags.items() if logged.tags.get(key) != value
        ]
        if new_parameters or new_tags or metrics:
            self.client.log_batch(run.info.run_id, metrics, new_parameters, new_tags)
            self.updated.add(run.info.run_id)


@contextmanager
def _local_file(file: File) -> Iterator[Path]:
    if file.folder.is_local:
        yield Path(file.folder.path(file.name))
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, Path(file.name).name)
        path.write_bytes(file.folder.read(file.name))
        yield path


def _dataset(corpus: Input) -> DatasetInput:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    source, profile = json.dumps({"address": corpus.address}), json.dumps({"rows": corpus.rows})
    digest = corpus.address[:DIGEST_CHARACTERS]
    dataset = Dataset(corpus.role, digest, "augury", source, profile=profile)
    return DatasetInput(dataset, [InputTag("mlflow.data.context", corpus.role)])


def _equal(logged: float | None, value: float) -> bool:
    return logged is not None and (logged == value or (math.isnan(logged) and math.isnan(value)))


def _finite(value: float | None) -> float:
    """Return NaN for None and infinity: MLflow would store infinity as 1.8e308, which flattens
    its chart."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _milliseconds(seconds: float | None) -> int:
    return round((time.time() if seconds is None else seconds) * 1000)


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {_name(key): value[:TAG_CHARACTERS] for key, value in tags.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _name(key: str) -> str:
    """Return `key` with characters that MLflow does not allow replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]

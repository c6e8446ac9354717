"""Brings MLflow in line with run folders; everything here can be repeated and continues where it stopped."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.store import MARKER, Folder
from augury.tracking import runs
from augury.tracking.settings import Place
from augury.training import history

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput

LEDGER = "tracking.json"
METRICS_PER_BATCH, PARAMETERS_PER_BATCH = 1000, 100  # limits of MLflow's REST interface
PARAMETER_CHARACTERS, TAG_CHARACTERS, DIGEST_CHARACTERS = 6000, 8000, 36

# A server that does not answer must not hold up a run (MLflow's own defaults retry for minutes), and standard output is
# kept for results.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}

_ledgers = threading.Lock()


def load_mlflow() -> None:
    """Import MLflow, some seconds the first time; what the environment already says holds."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: F401


def ledger(run: Folder) -> dict[str, Any]:
    """What is to be recorded of a run beyond its folder, and what has been: the content of `tracking.json`."""
    marker = run.filesystem.get_file_info(run.path(MARKER))  # a run that was never tracked may be complete
    complete = marker.mtime is not None
    fresh: dict[str, Any] = {"run_id": None, "parent": None, "status": "FINISHED" if complete else "RUNNING",
                             "started": None, "finished": marker.mtime.timestamp() if complete else None, "files": [],
                             "sent": {}, "closed": False}  # fmt: skip
    return {**fresh, **run.read_json(LEDGER)} if run.exists(LEDGER) else fresh


def note(run: Folder, **changes: Any) -> None:
    """Change entries of a run's ledger."""
    with _ledgers:
        run.write_json(LEDGER, {**ledger(run), **changes})


def closed(state: Mapping[str, Any]) -> bool:
    """Whether a run has ended and MLflow has all of it; a run that starts or ends again is open again."""
    return state["status"] != "RUNNING" and state["closed"] == state["finished"]


class Mirror:
    """The MLflow side of the runs in one storage; one thread at a time. MLflow's errors pass through."""

    def __init__(self, place: Place, experiment: str):
        self.place, self.experiment = place, experiment
        self._client: MlflowClient | None = None
        self._experiment_id = ""
        self._run_ids: dict[str, str] = {}
        self._read: dict[str, dict[str, int]] = {}

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

    def deliver(self, run: Folder) -> bool:
        """Send what MLflow does not have of a run; whether there was anything to send."""
        client, state = self.open(), ledger(run)
        try:
            if run.name not in self._run_ids:
                run_id = self._find(run, state)
                if run_id is not None and run_id == state["run_id"] and closed(state):
                    return False
                self._run_ids[run.name] = self._describe(run, state, run_id)
            run_id = self._run_ids[run.name]
            self._send_history(run, run_id)
            if state["status"] != "RUNNING":
                self._send_scores(run, run_id, state)
                self._send_files(run, run_id, state)
                client.set_terminated(run_id, state["status"], _milliseconds(state["finished"]))
                note(run, closed=state["finished"])
                self.forget(run)
        except Exception:
            self.forget(run)  # the store may have been replaced meanwhile: look the run up again
            raise
        return True

    def forget(self, run: Folder) -> None:
        """Take nothing for granted about a run the next time."""
        self._run_ids.pop(run.name, None)
        self._read.pop(run.name, None)

    def _find(self, run: Folder, state: Mapping[str, Any]) -> str | None:
        """The run noted in the ledger if this store has it, otherwise the one that carries the folder's name."""
        from mlflow.exceptions import MlflowException

        if state["run_id"]:
            try:
                if self.open().get_run(state["run_id"]).info.lifecycle_stage == "active":
                    return str(state["run_id"])
            except MlflowException as error:
                if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                    raise
        return self._named(run.name, run.root)

    def _named(self, name: str, storage: str) -> str | None:
        found = self.open().search_runs([self._experiment_id], f"tags.`augury.run` = '{name}'")
        ours = (run.info.run_id for run in found if run.data.tags.get("augury.storage") == storage)
        return next(ours, None)

    def _create(self, name: str, storage: str, title: str, started: float | None) -> str:
        tags = {"augury.run": name, "augury.storage": storage}
        run = self.open().create_run(self._experiment_id, _milliseconds(started), tags, title)
        return str(run.info.run_id)

    def _describe(self, run: Folder, state: Mapping[str, Any], run_id: str | None) -> str:
        """Parameters, tags and inputs of the run, made if it is not there; its id."""
        from mlflow.entities import Param, RunTag

        client, facts = self.open(), run.read_json(runs.DESCRIPTION)
        title = f"{facts['name']} seed {facts['seed']}"
        run_id = run_id or self._create(run.name, run.root, title, state["started"])
        if run_id != state["run_id"]:
            note(run, run_id=run_id, sent={}, closed=False)
        wanted = {_allowed(key): _shortened(_text(value), PARAMETER_CHARACTERS)
                  for key, value in facts["parameters"].items()}  # fmt: skip
        logged = client.get_run(run_id).data.params
        tags = _tags(facts)
        if notes := runs.notes(run):
            tags["mlflow.note.content"] = "\n\n".join(notes)  # MLflow shows it at the head of the run's page
        # MLflow keeps the first value of a parameter; those that a restart may change (workers, say) become a tag.
        if changed := {key: value for key, value in wanted.items() if logged.get(key, value) != value}:
            tags["augury.changed_since_start"] = json.dumps(changed, ensure_ascii=False)
        if state["parent"]:
            parent = self._named(state["parent"], run.root)
            tags["mlflow.parentRunId"] = parent or self._create(state["parent"], run.root, state["parent"], None)
        parameters = [Param(key, value) for key, value in wanted.items() if key not in logged]
        for batch in _batches(parameters, PARAMETERS_PER_BATCH):
            client.log_batch(run_id, params=batch)
        entries = [RunTag(_allowed(key), _shortened(value, TAG_CHARACTERS)) for key, value in tags.items()]
        for tag_batch in _batches(entries, PARAMETERS_PER_BATCH):
            client.log_batch(run_id, tags=tag_batch)
        client.log_inputs(run_id, [_dataset(entry) for entry in facts["inputs"]])
        client.update_run(run_id, status="RUNNING")
        return run_id

    def _send_history(self, run: Folder, run_id: str) -> None:
        """Send every point of a metric that lies beyond the last one sent.

        A batch that MLflow took although its answer was lost is sent again; MLflow drops equal points.
        """
        from mlflow.entities import Metric

        files, read = history.files(run), self._read.setdefault(run.name, {})
        sent = ledger(run)["sent"]
        unread = [record for name in files if read.get(name) != files[name] for record in history.records(run, name)]
        points = {
            (metric, record["update"]): Metric(_allowed(metric), _finite(value), _milliseconds(record["time"]),
                                               record["update"])
            for record in unread
            for metric, value in record["metrics"].items() if record["update"] > sent.get(metric, -1)
        }  # fmt: skip
        for batch in _batches(list(points.values()), METRICS_PER_BATCH):
            self.open().log_batch(run_id, metrics=batch)
        if points:
            note(run, sent=sent | {metric: update for metric, update in sorted(points, key=lambda point: point[1])})
        read.update(files)

    def _send_scores(self, run: Folder, run_id: str, state: Mapping[str, Any]) -> None:
        """Scores and cost of a finished run as metrics of its last update."""
        from mlflow.entities import Metric

        if not run.exists(runs.SCORES):
            return
        content = run.read_json(runs.SCORES)
        cost = content["cost"]
        values = {f"cost/{name}": value for name, value in cost.items() if not isinstance(value, str)}
        for test, scores in content["tests"].items():
            for score in scores:
                name = f"test/{test}/{score['name']}"
                values |= {name: score["value"], f"{name}/low": score["low"], f"{name}/high": score["high"]}
                self.open().set_tag(run_id, _allowed(f"signature/{score['name']}"), score["signature"])
        self.open().set_tag(run_id, "augury.device", cost["device"])
        present = self.open().get_run(run_id).data.metrics
        time = _milliseconds(state["finished"])
        points = [Metric(_allowed(name), _finite(value), time, cost["updates"])
                  for name, value in values.items() if present.get(_allowed(name)) != value]  # fmt: skip
        for batch in _batches(points, METRICS_PER_BATCH):
            self.open().log_batch(run_id, metrics=batch)

    def _send_files(self, run: Folder, run_id: str, state: Mapping[str, Any]) -> None:
        hypotheses = [f"hypotheses/{name}" for name in run.sub("hypotheses").names()]
        for name in ["experiment.yaml", runs.DESCRIPTION, runs.SCORES, *hypotheses]:
            if run.exists(name):
                self._send_file(run, name, run_id, name.rpartition("/")[0])
        for entry in state["files"]:
            self._send_file(Folder(entry["root"], entry["folder"]), entry["name"], run_id, entry["directory"])

    def _send_file(self, folder: Folder, name: str, run_id: str, directory: str) -> None:
        with _local_file(folder, name) as path:
            self.open().log_artifact(run_id, str(path), directory or None)


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
def _local_file(folder: Folder, name: str) -> Iterator[Path]:
    if folder.is_local:
        yield Path(folder.path(name))
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, Path(name).name)
        path.write_bytes(folder.read(name))
        yield path


def _tags(facts: Mapping[str, Any]) -> dict[str, str]:
    """How a run is found and what made it."""
    tags = {f"augury.{key}": _text(facts[key]) for key in ("name", "experiment", "address", "seed", "task")}
    tags |= {f"version.{package}": version for package, version in facts["versions"].items()}
    if facts["commit"]:
        tags["mlflow.source.git.commit"] = facts["commit"]
    return tags


def _dataset(entry: Mapping[str, Any]) -> DatasetInput:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    source = json.dumps({"address": entry["address"]})
    dataset = Dataset(entry["name"], entry["address"][:DIGEST_CHARACTERS], "augury", source,
                      profile=json.dumps({"rows": entry["rows"]}))  # fmt: skip
    return DatasetInput(dataset, [InputTag("mlflow.data.context", entry["name"])])


def _finite(value: float | None) -> float:
    """Infinity as NaN, which MLflow shows as such; infinity it would store as 1.8e308 and flatten the chart with."""
    return float(value) if value is not None and math.isfinite(value) else math.nan


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str, characters: int) -> str:
    ending = f" ... ({len(text)} characters in all)"
    return text if len(text) <= characters else text[: characters - len(ending)] + ending


def _allowed(key: str) -> str:
    """`key` with what MLflow refuses in names replaced."""
    return re.sub(r"[^\w./ :-]", "_", key)[:250]


def _batches(items: list[Any], size: int) -> Iterable[list[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))

"""What MLflow has of a storage: a run for every sweep and experiment, and below it one for every
seed of every system.

Both share names, so that they are columns of one list: parameters `system`, `regime.name` and what
differs, metrics `test/<set>/<score>`, `best/<validation>` and `cost/...`; a sweep has the means of
its best configuration. Runs begin and end with their training. Pages, scores and hypotheses are
artifacts; weights stay in the storage, where the tag `augury.key` says.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from augury.core import config
from augury.core.directories import TEMPORARY
from augury.core.errors import UserError
from augury.core.locks import is_locked
from augury.core.messages import say, say_once
from augury.core.secrets import redacted
from augury.core.store import MANIFEST, Folder, Store, modified
from augury.experiments import stored_runs
from augury.experiments.record import (
    DESCRIPTION,
    EXPERIMENT,
    HYPOTHESES,
    REPORTS,
    SCORES,
    RunName,
    RunRecord,
)
from augury.experiments.recording import Tracking
from augury.reporting import find, results
from augury.reporting.score_tables import Record, run_records, scored
from augury.reporting.sweeps.report import SUMMARY
from augury.scoring.registry import record_name
from augury.sweeping import state
from augury.tracking.client import SENT, Content, MlflowExperiment, Status, reason
from augury.training import history
from augury.training.trained import FAILURE

if TYPE_CHECKING:
    from mlflow.entities import Run

Group = tuple[Content, Iterable[Folder], Collection[str]]
"""A sweep or an experiment, its runs, and the parameters of each of them, if they are known."""

LEVEL, STATE, NOTE = "augury.level", "augury.state", "mlflow.note.content"
"""Tags; MLflow shows the note at the top of a run's page."""
EXPERIMENTS = "experiments"
IDENTITY = "storage.json"
"""The file with the identity of a storage, which tells its sweeps and experiments from others of
these names, also after it was moved."""
SENT_FILES = (EXPERIMENT, DESCRIPTION, SCORES, HYPOTHESES)
FILES = (*SENT_FILES, history.FILE, MANIFEST, FAILURE)
"""What is sent of a run's folder, and what is read of it."""
DESCRIBED = ("name", "experiment", "address", "seed", "task", "commit")
"""The fields of a record that are tags."""
MATTER = ("regime.name", "corpus.known", "model.name", "training.learning_rate")
"""Parameters of every run, besides those that differ; its `experiment.yaml` has all."""
COSTS = ("train_seconds", "cpu_seconds", "device_hours", "parameters", "data_factor", "updates")
NONE = "none"
"""The value of a parameter that others of its group have."""
ORDER: tuple[Status, ...] = ("RUNNING", "FINISHED", "FAILED")
"""The first one of the seeds is that of what stands above."""


class Exporter:
    """Exports a storage to MLflow. A run that is as it was when it was sent is not read again.

    Rows are MLflow's runs: those of seeds are made first, and what stands above is made from what
    MLflow has of them."""

    def __init__(self, tracking: Tracking, store: Store, *, live: bool = False):
        self.mlflow, self.store = MlflowExperiment(tracking, store), store
        self.address = redacted(self.mlflow.uri)
        self.live = live
        """Whether the command that trains goes on: on object stores, which have no locks, what has
        not ended runs then."""

    def storage(self) -> int:
        """Export everything; return the number of runs that MLflow lacked or that have changed.

        What fails is said, and the rest goes on. UserError where MLflow cannot be used.
        """
        names = [f"{state.SWEEPS}/{name}" for name in state.names(self.store)]
        with self.mlflow.lock():
            self.mlflow.id  # noqa: B018 (raises before anything is sent)
        for name in [*names, *(f"{EXPERIMENTS}/{name}" for name in self.members())]:
            try:
                self.send(name)
            except Exception as error:
                say(f"warning: {name} was not sent to MLflow: {reason(error)}")
        return len(self.mlflow.changed)

    def send(self, name: str) -> None:
        """Export `sweeps/NAME` or `experiments/NAME` with its runs."""
        kind, _, own = name.partition("/")
        above, runs, keys = self._sweep(own) if kind == state.SWEEPS else self._experiment(own)
        with self.mlflow.lock():
            rows = [row for run in runs if (row := self._seed(run, above.tags, keys))]
            if rows and own:  # damaged runs of no known experiment stand alone
                self._above(name, above, rows)

    def members(self) -> dict[str, list[Folder]]:
        """Return the runs that belong to no sweep, by the name of their experiment; it is empty
        for those that are damaged."""
        swept = self._swept()
        members: dict[str, list[Folder]] = {}
        for run in stored_runs.folders(self.store):
            if _address(run) not in swept:
                members.setdefault(experiment_of(run), []).append(run)
        return members

    def groups_of(self, run: Folder) -> list[str]:
        """Return what a run is exported with: the sweeps that it belongs to, else its
        experiment."""
        return self._swept().get(_address(run), [f"{EXPERIMENTS}/{experiment_of(run)}"])

    def _swept(self) -> dict[str, list[str]]:
        """Return the sweeps, `sweeps/NAME`, that have an address, for those that are in one."""
        swept: dict[str, list[str]] = {}
        for name, definition in state.definitions(self.store).items():
            for configuration in definition["configurations"]:
                swept.setdefault(configuration["address"], []).append(f"{state.SWEEPS}/{name}")
        return swept

    def _experiment(self, name: str) -> Group:
        """Return an experiment, but for when it ran, and its runs; their parameters are those in
        which its systems differ."""
        report = self.store.folder(REPORTS, name)
        summary = find.report_summary(report)
        note = str(summary.get("answer", ""))
        tags = {LEVEL: "experiment", "augury.experiment": name, NOTE: note}
        above = Content(name, tags, files=_texts(report, [state.PAGE]))
        return above, self.members().get(name, ()), ()

    def _sweep(self, name: str) -> Group:
        """Return a sweep, but for when it ran, its runs, and the parameters that it varies."""
        folder = self.store.folder(state.SWEEPS, name)
        definition, _ = state.records(folder)
        summary = folder.read_record(SUMMARY) if folder.exists(SUMMARY) else {}
        notes = [definition["question"], summary.get("answer", ""), *summary.get("notes", ())]
        points = {entry["address"]: entry["point"] for entry in definition["configurations"]}
        tags = {LEVEL: "sweep", "augury.sweep": name, NOTE: "\n\n".join(filter(None, notes))}
        page = _texts(folder, [state.PAGE])
        above = Content(name, tags, metrics=_best_metrics(summary), files=page)
        runs = [run for run in stored_runs.folders(self.store) if _address(run) in points]
        keys = dict.fromkeys(key for point in points.values() for key in config.flatten(point))
        return above, runs, keys

    def _above(self, name: str, content: Content, rows: Collection[Run]) -> None:
        """Send a sweep or experiment, which began and ended with its rows, and put these below
        it."""
        states = {row.data.tags[STATE].partition(":")[0] for row in rows}
        content.status = min((row.info.status for row in rows), key=ORDER.index)
        content.started = min(row.info.start_time for row in rows) / 1000
        content.ended = max(row.info.end_time or row.info.start_time for row in rows) / 1000
        content.tags = {**content.tags, STATE: ", ".join(sorted(states))}
        root = Folder(self.store.root, "")
        if not root.exists(IDENTITY):
            root.write_record(IDENTITY, {"id": uuid.uuid4().hex[:12]})
        key = f"{root.read_record(IDENTITY)['id']}/{name}"
        ended = [row.data.tags[SENT] for row in rows if row.info.status != "RUNNING"]
        facts = config.address([content.status, content.tags, content.metrics, ended])
        above = self.mlflow.send(key, facts, lambda: content)
        for row in rows:
            self.mlflow.adopt(above, row)

    def _seed(self, run: Folder, tags: Mapping[str, str], keys: Collection[str]) -> Run | None:
        """Send the run of a seed, once it is more than described: MLflow does not let a run begin
        later than it was said to."""
        files = {
            name: (info.size or 0, modified(info))
            for name, info in run.contents().items()
            if info.is_file and name.startswith(FILES) and TEMPORARY not in name
        }
        if not files.keys() - {EXPERIMENT, DESCRIPTION}:
            return None
        held = is_locked(run) if run.is_local else self.live and FAILURE not in files
        running = held and MANIFEST not in files
        return self.mlflow.send(
            run.name,
            config.address([files, running]),
            lambda: _content(run, tags, keys, files, running),
        )


def _content(
    run: Folder,
    tags: Mapping[str, str],
    keys: Collection[str],
    files: Mapping[str, tuple[int, float]],
    running: bool,
) -> Content:
    """Return what MLflow should have of the run of a seed, with the tags of what stands above it;
    `keys` are the parameters that it shares with others, or none for those that differ."""
    times = [time for _, time in files.values()]
    tags = {**tags, LEVEL: "seed"}
    try:
        record, steps, best = RunRecord.read(run), history.read(run), results.best_validations(run)
    except UserError as error:
        say_once(f"warning: {error}")
        tags |= {STATE: f"damaged: {error}", NOTE: str(error)}
        return Content(f"{run.name} (damaged)", tags, "FAILED", min(times), max(times))
    if steps:  # validations say how long training has taken, the first lines only when they are
        begun = [step["time"] - step["metrics"].get("train/seconds", 0.0) for step in steps]
        times = [min(begun), steps[-1]["time"]]
    failure = run.read_record(FAILURE)["error"] if run.exists(FAILURE) else ""
    status: Status = "FINISHED"
    outcome = "finished" if run.complete else "stopped: the same command continues it"
    if failure:
        status, outcome = "FAILED", f"failed: {failure}"
    if running:
        status, outcome = "RUNNING", "running"
    # A run without one of its group's would stand at "unknown" in parallel coordinates; operators
    # have keys of their own, and "augment" is that none is there.
    differing = [key for key in keys or record.differing if key != "augment"]
    wanted: dict[str, Any] = {**dict.fromkeys(differing, NONE), **record.parameters}
    known = {key: wanted[key] for key in [*differing, *MATTER] if key in wanted}
    metrics: dict[str, float | None] = {f"best/valid/{name}": value for name, value in best.items()}
    scores = run_records(record)
    metrics |= _metrics(scores, scored(None, record.cost))
    return Content(
        f"{record.name} seed {record.seed}",
        status=status,
        started=min(times),
        ended=max(times),
        tags={
            **tags,
            STATE: outcome,
            NOTE: "\n\n".join(stored_runs.corpus_notes(run, record.inputs)),
            **{f"augury.{name}": str(getattr(record, name)) for name in DESCRIBED},
            **{f"signature/{score['metric']}": score["signature"] for score in scores},
        },
        parameters={"system": record.name, **known},
        metrics=metrics,
        history=steps,
        files=_texts(run, [name for name in files if name.startswith(SENT_FILES)]),
    )


def _texts(folder: Folder, names: Iterable[str]) -> dict[str, str]:
    """Return those files of a folder that exist."""
    return {
        name: folder.read(name, verified=False).decode() for name in names if folder.exists(name)
    }


def _best_metrics(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the metrics of the best configuration of a sweep's summary, with fresh seeds where
    these confirm it."""
    for best in summary.get("table", ()):
        if best["address"] == summary["best"]:
            tables = summary["confirmed"] or summary["comparisons"]
            rows = [row for table in tables for row in table["rows"]]
            rows = [row for row in rows if row["address"] == best["address"]]
            metrics = _metrics(rows, rows[0] if rows else best)
            return {f"best/{summary['metric']}": best["validation"]["mean"], **metrics}
    return {}


def _metrics(scores: Sequence[Record], cost: Record) -> dict[str, float | None]:
    """Return the metrics of records of scores, `test/SET/METRIC` with its ends, and of a cost."""
    metrics = {f"cost/{name}": cost.get(name) for name in COSTS}
    for row in scores:
        name = f"test/{row['test']}/{record_name(row['metric'])}"
        metrics |= {name: row["value"], f"{name}/low": row["low"], f"{name}/high": row["high"]}
    return {name: value for name, value in metrics.items() if value is not None}


def experiment_of(run: Folder) -> str:
    """Return the name of the experiment of a run; empty where it is damaged."""
    known = stored_runs.intact([run], RunName.read).get(run)
    return (known.experiment or known.name) if known else ""


def _address(run: Folder) -> str:
    return run.name.split("/")[1]

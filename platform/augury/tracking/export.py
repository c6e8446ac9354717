"""What MLflow has of a storage: a run for every sweep and experiment, below it one for every system
or configuration, and below these one for every seed.

The levels share names, so that they are columns of one list: parameters `system`, `regime.name` and
what differs, metrics `test/<set>/<score>`, `best/<validation>` and `cost/...`. Runs begin and end
with their training.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from augury.core import config
from augury.core.directories import TEMPORARY
from augury.core.errors import UserError
from augury.core.locks import is_locked, locked
from augury.core.messages import say, say_once
from augury.core.naming import counted
from augury.core.secrets import redacted
from augury.core.store import MARKER, Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, KIND, SCORES, RunName, RunRecord
from augury.experiments.recording import Tracking
from augury.reporting import exporting, reported, results
from augury.reporting.run_files import ANALYSES, EXPERIMENT
from augury.reporting.sweeps.report import SUMMARY, stored_summary
from augury.scoring.registry import record_name
from augury.scoring.stored import HYPOTHESES
from augury.sweeping import state
from augury.tracking.client import PARENT, SENT, Content, Experiment, Status, reason, root_of
from augury.training import history
from augury.training.history import Record
from augury.training.trained import FAILURE

LEVEL, SWEEP, STATE, NOTE = "augury.level", "augury.sweep", "augury.state", "mlflow.note.content"
"""Tags; MLflow shows the note at the top of a run's page."""
IDENTITY = "storage.json"
"""The file with the identity of a storage, which stays where it is moved."""
SENT_FILES = (EXPERIMENT, DESCRIPTION, SCORES, HYPOTHESES, ANALYSES)
FILES = (*SENT_FILES, history.KIND, MARKER, FAILURE)
"""What is read of a run's folder."""
DESCRIBED = ("name", "experiment", "address", "seed", "task")
"""The fields of a record that are tags."""
MATTER = (
    "regime.name",
    "corpus.known",
    "model.name",
    "model.architecture",
    "training.learning_rate",
    "training.max_epochs",
    "training.max_updates",
)
"""Parameters of every run, besides those that differ; `experiment.yaml` among its files has all."""
COSTS = ("train_seconds", "cpu_seconds", "device_hours", "parameters", "data_factor", "updates")
STOPPED = "stopped: the same command continues it"
BUDGET = "budget ended: the same command continues it"


@dataclass(frozen=True)
class Facts:
    """What the folder of a run says."""

    files: Mapping[str, tuple[int, float]]
    """Name -> size and time of change."""
    record: RunRecord | None = None
    """None where the run is damaged."""
    history: Sequence[Record] = ()
    best: Mapping[str, float] = field(default_factory=dict)
    """Metric -> its best validation."""
    failure: str = ""
    damage: str = ""

    @cached_property
    def times(self) -> list[float]:
        """Unix times from the beginning of training on, unsorted; empty where none is known."""
        return [
            time
            for record in self.history
            for time in (record["time"] - record["metrics"].get("train/seconds", 0), record["time"])
        ]


class Exporter:
    """Exports one storage to MLflow; keeps in memory what it has read of runs."""

    def __init__(self, tracking: Tracking, store: Store):
        self.mlflow, self.store = Experiment(tracking, store), store
        self.address = redacted(self.mlflow.place.uri)
        self.running: set[Folder] = set()
        """Runs that are known to be trained now, besides those that a process holds the lock of."""
        self.stopped: dict[Folder, str] = {}
        """Why runs have ended that neither finished nor failed, where it is known."""
        self._facts: dict[Folder, Facts] = {}

    def storage(self) -> int:
        """Export everything; return the number of runs that MLflow lacked or that have changed.

        UserError where MLflow cannot be reached, and after all else where something failed.
        """
        failures: list[str] = []

        def attempt(what: str, work: Callable[[], object]) -> None:
            try:
                with self.mlflow.lock():
                    work()
            except Exception as error:
                if not what or isinstance(root_of(error), OSError):
                    raise UserError(
                        f"MLflow at {self.address} cannot be used ({reason(error)}): start it, or "
                        "set MLFLOW_TRACKING_URI or tracking.uri to another store"
                    ) from error
                failures.append(f"  {what}: {reason(error)}")

        attempt("", self.mlflow.load)
        for name in self._sweeps:
            attempt(f"sweep {name}", partial(self.sweep, name))
        for name in self._members:
            attempt(f"experiment {name}", partial(self.experiment, name))
        changed = len(self.mlflow.changed)
        if failures:
            sent = f"sent {counted(changed, 'run')} to MLflow at {self.address}, but not all"
            raise UserError("\n".join([f"{sent}; repeat the command:", *failures]))
        return changed

    def run(self, run: Folder) -> str:
        """Export the sweep or the experiment of a run with all its runs; return the id of its
        own."""
        if sweep := self._swept.get(run.name.split("/")[1]):
            self.sweep(sweep)
        else:
            name = _experiment_of(run)
            self._members.setdefault(name, {})[run] = None
            self.experiment(name)
        row = self.mlflow.find(run.name)
        assert row is not None
        return str(row.info.run_id)

    def experiment(self, name: str) -> None:
        """Export an experiment with its report and the runs of its systems; damaged runs, whose
        experiment is not known, alone."""
        runs = [*self._members.get(name, ())]
        if not (name and runs):
            for run in runs:
                self._seed(run, {}, {}, (), STOPPED)
            return
        report = reported.latest(self.store, name)
        answer = str(reported.summary(report).get("answer", ""))
        status, text = self._overall(runs)
        group = Content(
            self._key("experiments", name),
            name,
            status,
            *self._period(runs),
            origin={LEVEL: "experiment", "augury.experiment": name},
            tags={STATE: text, "augury.answer": answer, NOTE: answer},
            write_files=partial(_copy, report, (reported.PAGE, reported.SUMMARY)),
        )
        parent = self.mlflow.send(group)
        for address in dict.fromkeys(run.name.split("/")[1] for run in runs):
            seeds = [run for run in runs if run.name.split("/")[1] == address]
            records = [record for run in seeds if (record := self._read(run).record)]
            finished = {run: run for run in seeds if self._read(run).record and run.complete}
            metrics: dict[str, float | None] = {}
            if finished:
                (means,) = results.load_groups([dict(enumerate(finished))])
                known = means.to_dict()
                for test, scores in known["tests"].items():
                    metrics |= _scores(test, scores)
                metrics |= _costs(known["cost"])
            title = records[0].name if records else address
            self._system(
                Content(f"{group.key}/{address}", title, "RUNNING", metrics=metrics),
                {PARENT: parent, "augury.experiment": name},
                seeds,
                records[0].differing if records else (),
            )

    def sweep(self, name: str) -> str:
        """Export a sweep with its configurations and the runs of their seeds; return its id. The
        numbers are those of its summary."""
        definition = self.store.folder(state.KIND, name).read_record(state.DEFINITION)
        sweep = state.load(self.store, name, _Curves(definition["metric"]))
        summary = stored_summary(sweep)
        live = not sweep.ended and sweep.silent is None
        stopped = BUDGET if sweep.budget_left == 0 else STOPPED
        status: Status = "RUNNING" if live else "FINISHED"
        if sweep.ended and not sweep.count("finished"):
            status = "FAILED"
        elif not (live or sweep.ended or sweep.stopped):
            status, stopped = "KILLED", STOPPED.replace("stopped", "killed")
        metrics: dict[str, dict[str, float | None]] = {}
        for entry in summary["table"]:
            best, of_entry = entry["validation"], metrics.setdefault(entry["address"], {})
            if best["mean"] is not None:
                mean = {**best, "value": best["mean"], "seeds": best["values"]}
                of_entry |= _spread(f"best/{sweep.metric}", mean)
            for test, row in entry["tests"].items():
                of_entry |= _scores(test, row["scores"]) | _costs(row["cost"])
        facts = ("question", "answer", "metric", "scale", "scheduler", "recommendation")
        group = Content(
            self._key("sweeps", sweep.name),
            sweep.name,
            status,
            sweep.started,
            sweep.updated,
            origin={LEVEL: "sweep", SWEEP: sweep.name},
            tags={
                STATE: "running" if live else "ended" if sweep.ended else stopped,
                NOTE: "\n\n".join([sweep.question, f"**{summary['answer']}**", *summary["notes"]]),
                **{f"augury.{fact}": str(summary[fact]) for fact in facts},
            },
            metrics={
                **metrics.get(summary["best"], {}),
                **{f"trials/{end}": summary[end] for end in state.ENDS},
            },
            write_files=None
            if live
            else partial(_copy, sweep.folder, (state.DEFINITION, state.PAGE, SUMMARY)),
        )
        parent = self.mlflow.send(group)
        points = {entry["address"]: config.flatten(entry["point"]) for entry in summary["table"]}
        keys = dict.fromkeys(key for point in points.values() for key in point)
        for entry in summary["table"]:
            address = entry["address"]
            trials = [trial for known, trial in sweep.trials if known.address == address]
            best = sweep.ended and address == summary["recommended"]
            reference = "yes" if address == sweep.reference else "no"
            self._system(
                Content(
                    f"{group.key}/{address}",
                    f"{entry['name']} (recommended)" if best else entry["name"],
                    status,
                    tags={"augury.reference": reference},
                    parameters={"system": entry["name"], **points[address]},
                    metrics=metrics[address],
                ),
                {PARENT: parent, SWEEP: sweep.name},
                [trial.folder for trial in trials if trial.folder.exists(DESCRIPTION)],
                keys,
                running={trial.folder for trial in trials if live and trial.progress == "running"},
                stopped=stopped,
                log_models=best,
            )
        return parent

    # ----- systems and seeds

    def _system(
        self,
        row: Content,
        origin: Mapping[str, str],
        seeds: Sequence[Folder],
        keys: Iterable[str],
        *,
        running: Container[Folder] = (),
        stopped: str = STOPPED,
        log_models: bool = True,
    ) -> None:
        """Export a system, of which `row` has the name and the scores, and its seeds below it;
        `keys` are the parameters in which systems differ."""
        records = (self._read(run).record for run in seeds)
        settings = next((record.parameters for record in records if record), {})
        known = {key: settings[key] for key in (*keys, *MATTER) if key in settings}
        parameters = {"system": row.title, **row.parameters, **known}
        status, text = self._overall(seeds, running, stopped)
        started, ended = self._period(seeds)
        row = replace(
            row,
            status=status,
            started=started,
            ended=ended,
            origin={LEVEL: "configuration", **origin},
            tags={STATE: text, **row.tags},
            parameters=parameters,
        )
        if seeds:
            below = {**origin, PARENT: self.mlflow.send(row)}
        for run in seeds:
            self._seed(run, below, parameters, running, stopped, log_model=log_models)

    def _seed(
        self,
        run: Folder,
        origin: Mapping[str, str],
        parameters: Mapping[str, Any],
        running: Container[Folder],
        stopped: str,
        *,
        log_model: bool = True,
    ) -> None:
        """Export the run of a seed, unless its folder is as it was."""
        facts, (status, text) = self._read(run), self._outcome(run, running, stopped)
        sent, known = config.address([facts.files, status]), self.mlflow.find(run.name)
        if known is not None and known.data.tags.get(SENT) == sent:
            return
        record = facts.record
        started, ended = self._period([run])
        row = Content(
            run.name,
            f"{record.name} seed {record.seed}" if record else f"{run.name} (damaged)",
            status,
            started,
            ended,
            origin={LEVEL: "seed", **origin},
            tags={STATE: text},
            parameters=parameters,
            history=facts.history,
            state=sent,
        )
        if record is not None:
            row.tags = {
                STATE: text,
                NOTE: "\n\n".join(stored_runs.corpus_notes(run, record.inputs)),
                "mlflow.source.git.commit": record.commit or "",
                **{f"augury.{name}": str(getattr(record, name)) for name in DESCRIBED},
            }
            row.inputs = record.inputs
        if record is not None and status != "RUNNING":
            scores = [score for of_test in record.tests.values() for score in of_test]
            signatures = {
                f"signature/{record_name(known.name)}": known.signature for known in scores
            }
            row.tags = {**row.tags, **signatures}
            row.metrics = {**facts.best, **_costs(asdict(record.cost) if record.cost else None)}
            for test, of_test in record.tests.items():
                row.metrics |= _scores(test, {score.name: asdict(score) for score in of_test})
            model = record.parameters.get("tracking.log_model") and log_model and run.complete
            row.write_files = partial(self._write_files, run, facts.files, bool(model))
        self.mlflow.send(row)

    def _write_files(self, run: Folder, names: Iterable[str], model: bool, target: Path) -> None:
        """Write what MLflow keeps of a run's files into a directory."""
        _copy(run, [name for name in names if name.startswith(SENT_FILES)], target)
        if model:
            exporting.export(run, self.store, "hf", target / "model")

    def _outcome(self, run: Folder, running: Container[Folder], stopped: str) -> tuple[Status, str]:
        """Return the status of a run in MLflow, and what there is to say of it."""
        facts = self._read(run)
        if facts.damage:
            return "FAILED", f"damaged: {facts.damage}"
        if MARKER in facts.files:
            return "FINISHED", "finished"
        if run in running or run in self.running or is_locked(run):
            return "RUNNING", "running"
        if facts.failure:
            return "FAILED", f"failed: {facts.failure}"
        return "FINISHED", self.stopped.get(run, stopped)

    def _overall(
        self, runs: Iterable[Folder], running: Container[Folder] = (), stopped: str = STOPPED
    ) -> tuple[Status, str]:
        """Return the status of what has these runs, and how many are in which state: `2 finished, 1
        running`."""
        outcomes = [self._outcome(run, running, stopped) for run in runs]
        counts = Counter(text.partition(":")[0] for _, text in outcomes)
        order: tuple[Status, ...] = ("RUNNING", "FINISHED", "FAILED")
        status = min((known for known, _ in outcomes), key=order.index, default=order[1])
        return status, ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))

    def _period(self, runs: Iterable[Folder]) -> tuple[float | None, float | None]:
        """Return when the first training of runs began, and when the last one ended."""
        times = [time for run in runs for time in self._read(run).times]
        return min(times, default=None), max(times, default=None)

    # ----- what is stored

    def _read(self, run: Folder) -> Facts:
        """Return what a run's folder says; it is read again where it has changed."""
        files = {
            name: (info.size, info.modified)
            for name, info in run.contents().items()
            if info.is_file and name.startswith(FILES) and TEMPORARY not in name
        }
        if run not in self._facts or self._facts[run].files != files:
            try:
                best = results.best_validations(run)
                facts = Facts(
                    files,
                    RunRecord.read(run),
                    history.read(run),
                    {f"best/valid/{name}": value for name, value in best.items()},
                    run.read_record(FAILURE)["error"] if FAILURE in files else "",
                )
            except UserError as error:
                say_once(f"warning: {error}")
                facts = Facts(files, damage=str(error))
            self._facts[run] = facts
        return self._facts[run]

    @cached_property
    def _sweeps(self) -> dict[str, dict[str, Any]]:
        """The definitions of sweeps by name, in the order in which they started."""
        definitions = state.definitions(self.store).items()
        return dict(sorted(definitions, key=lambda known: known[1]["started"]))

    @cached_property
    def _swept(self) -> dict[str, str]:
        """The addresses of configurations, with the sweep that was the last to have them."""
        return {
            configuration["address"]: name
            for name, definition in self._sweeps.items()
            for configuration in definition["configurations"]
        }

    @cached_property
    def _members(self) -> dict[str, dict[Folder, None]]:
        """The runs that belong to no sweep, by the name of their experiment."""
        members: dict[str, dict[Folder, None]] = {}
        for run in stored_runs.folders(self.store):
            if run.name.split("/")[1] not in self._swept:
                members.setdefault(_experiment_of(run), {})[run] = None
        return members

    def _key(self, kind: str, name: str) -> str:
        """Return the key of a sweep or an experiment: other storages may have one of that name."""
        root = Folder(self.store.root, "")
        with locked(Folder(self.store.root, "storage")):
            if not root.exists(IDENTITY):
                root.write_record(IDENTITY, {"id": uuid.uuid4().hex[:12]})
        return f"{root.read_record(IDENTITY)['id']}/{kind}/{name}"


class _Curves(state.Curves):
    """Validation curves, of which those of damaged runs are empty: they end nothing here."""

    def of(self, run: Folder) -> tuple[state.Point, ...]:
        """Return the validations of a run so far."""
        try:
            return super().of(run)
        except UserError:
            return ()


def forget(store: Store, folders: Iterable[Folder]) -> None:
    """Delete runs, which are being deleted from a storage, from its MLflow store, as far as that
    can be reached."""
    runs = [folder for folder in folders if folder.name.startswith(f"{KIND}/")]
    records = stored_runs.intact(runs, RunRecord.read).values()
    known = {
        key: record.parameters[f"tracking.{key}"]
        for record in records
        for key in ("uri", "experiment")
        if f"tracking.{key}" in record.parameters
    }
    exporter = Exporter(Tracking(**known), store)
    mlflow = exporter.mlflow
    if mlflow.place.database and not mlflow.place.database.exists():
        return
    try:
        with mlflow.lock():
            for row in filter(None, [mlflow.find(run.name) for run in runs]):
                mlflow.client.delete_run(row.info.run_id)
    except Exception as error:
        say(f"MLflow at {exporter.address} keeps the runs: it is unavailable ({reason(error)})")


def _experiment_of(run: Folder) -> str:
    """Return the name of the experiment of a run; empty where it is damaged."""
    try:
        known = RunName.read(run)
    except UserError:
        return ""
    return known.experiment or known.name


def _scores(test: str, scores: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the scores on a test set as metrics, of a run or as means over seeds."""
    metrics: dict[str, float | None] = {}
    for name, score in scores.items():
        metrics |= _spread(f"test/{test}/{record_name(name)}", score)
    return metrics


def _spread(name: str, score: Mapping[str, Any]) -> dict[str, float | None]:
    """Return a value as metrics, with what is known of its spread."""
    metrics = {f"{name}/{key}": score[key] for key in ("sd", "low", "high") if key in score}
    if "seeds" in score:
        metrics[f"{name}/seeds"] = len(score["seeds"])
    known = {key: value for key, value in metrics.items() if value is not None}
    return {name: score["value"], **known}


def _costs(cost: Mapping[str, Any] | None) -> dict[str, float | None]:
    return {f"cost/{name}": cost[name] for name in COSTS} if cost else {}


def _copy(folder: Folder, names: Iterable[str], target: Path) -> None:
    """Copy those files of a folder that exist into a directory."""
    for name in names:
        if folder.exists(name):
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(folder.read(name, verified=False))

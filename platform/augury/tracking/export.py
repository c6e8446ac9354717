"""What MLflow has of a storage: a run for every sweep and experiment, below it one for every system
or configuration, and below these one for every seed.

The levels share names, so that they are columns of one list: parameters `system`, `regime.name` and
what differs, metrics `test/<set>/<score>`, `best/<validation>` and `cost/...`, means above
seeds. Runs begin and end with their training.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from augury.core import config
from augury.core.directories import TEMPORARY
from augury.core.errors import UserError
from augury.core.locks import is_locked
from augury.core.messages import say, say_once
from augury.core.secrets import redacted
from augury.core.store import MANIFEST, Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, SCORES, RunName, RunRecord
from augury.experiments.recording import Tracking
from augury.reporting import find, results
from augury.reporting.run_files import ANALYSES, EXPERIMENT
from augury.reporting.sweeps.report import SUMMARY, write_summary
from augury.scoring.registry import record_name
from augury.scoring.stored import HYPOTHESES
from augury.sweeping import state
from augury.tracking.client import SENT, Content, Experiment, Metrics, Status, reason
from augury.training import history
from augury.training.trained import FAILURE

if TYPE_CHECKING:
    from mlflow.entities import Run

LEVEL, STATE, NOTE = "augury.level", "augury.state", "mlflow.note.content"
"""Tags; MLflow shows the note at the top of a run's page."""
IDENTITY = "storage.json"
"""The file with the identity of a storage, which tells its sweeps and experiments from others of
these names, also after it was moved."""
SENT_FILES = (EXPERIMENT, DESCRIPTION, SCORES, HYPOTHESES, ANALYSES)
FILES = (*SENT_FILES, history.KIND, MANIFEST, FAILURE)
"""What is read of a run's folder."""
DESCRIBED = ("name", "experiment", "address", "seed", "task", "commit")
"""The fields of a record that are tags."""
MATTER = ("regime.name", "corpus.known", "model.name", "training.learning_rate")
"""Parameters of every run, besides those that differ; `experiment.yaml` among its files has all."""
COSTS = ("train_seconds", "cpu_seconds", "device_hours", "parameters", "data_factor", "updates")
LEVELS, SPREAD = ("test/", "best/", "cost/"), ("/low", "/high", "/sd", "/seeds")
"""How metrics begin that all levels have, and how those end that tell of their spread."""
ORDER: tuple[Status, ...] = ("RUNNING", "FINISHED", "FAILED")
"""The first one of those below is that of what stands above."""
FINISHED, STOPPED = "finished", "stopped: the same command continues it"


@dataclass(frozen=True)
class System:
    """A system of an experiment, or a configuration of a sweep."""

    name: str
    runs: Sequence[Folder]
    """Its seeds, as far as training has described them."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Those of all its runs."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of all its runs."""
    keys: Collection[str] = ()
    """The names of further ones; by default, those in which the systems of its experiment
    differ."""
    recommended: bool = False


class Exporter:
    """Exports a storage to MLflow. A folder that is as it was when it was sent is not read again.

    Rows are MLflow's runs: those of seeds are made first, and what stands above is made from what
    MLflow has of them."""

    def __init__(self, tracking: Tracking, store: Store):
        self.mlflow, self.store = Experiment(tracking, store), store
        self.address = redacted(self.mlflow.place.uri)
        self.running: set[Folder] = set()
        """Runs that are known to be trained now, besides those that a process holds the lock of."""
        self._curves: dict[str, _Curves] = {}

    def storage(self) -> int:
        """Export everything; return the number of runs that MLflow lacked or that have changed.

        What fails is said, and the rest goes on. UserError where MLflow cannot be used.
        """
        works = {f"sweep {name}": partial(self.sweep, name) for name in state.names(self.store)}
        for name, runs in self.members().items():
            works[f"experiment {name}"] = partial(self.experiment, name, runs)
        with self.mlflow.lock():
            self.mlflow.id  # noqa: B018
        for what, work in works.items():
            try:
                work()
            except Exception as error:
                say(f"warning: {what} was not sent to MLflow: {reason(error)}")
        return len(self.mlflow.changed)

    def members(self) -> dict[str, list[Folder]]:
        """Return the runs that belong to no sweep, by the name of their experiment; it is empty
        for those that are damaged."""
        swept = set()
        for definition in state.definitions(self.store).values():
            swept |= {configuration["address"] for configuration in definition["configurations"]}
        members: dict[str, list[Folder]] = {}
        for run in stored_runs.folders(self.store):
            if _address(run) not in swept:
                members.setdefault(experiment_of(run), []).append(run)
        return members

    def experiment(self, name: str, runs: Sequence[Folder] | None = None) -> None:
        """Export an experiment with its report and its runs; those of no experiment stand alone."""
        runs = self.members().get(name, ()) if runs is None else runs
        if not name:
            with self.mlflow.lock():
                for run in runs:
                    self._seed(run, System("", [run]), running=False)
            return
        systems, tags = dict[str, System](), {"augury.experiment": name}
        for address in dict.fromkeys(map(_address, runs)):
            of_system = [run for run in runs if _address(run) == address]
            systems[address] = System(RunName.read(of_system[0]).name, of_system, tags)
        report = self.store.folder(find.REPORTS, name)
        summary = find.report_summary(report)
        shown = {NOTE: str(summary.get("answer", "")), "augury.report": str(summary.get("state"))}
        files = partial(_copy, report, (find.PAGE, find.SUMMARY))
        group = Content(name, tags={LEVEL: "experiment", **tags, **shown}, write_files=files)
        self._group(group, systems, self.running)

    def sweep(self, name: str) -> None:
        """Export a sweep with its configurations and the runs of their seeds; the numbers are those
        of its summary."""
        definition = self.store.folder(state.KIND, name).read_record(state.DEFINITION)
        curves = self._curves.setdefault(name, _Curves(definition["metric"]))
        sweep = state.load(self.store, name, curves)
        live = not sweep.ended and sweep.silent is None
        try:
            summary = write_summary(sweep)
        except UserError:  # a damaged run: the numbers are those before it was
            summary = sweep.folder.read_record(SUMMARY)
        points = {entry["address"]: config.flatten(entry["point"]) for entry in summary["table"]}
        keys = dict.fromkeys(key for point in points.values() for key in point)
        systems, tags = dict[str, System](), {"augury.sweep": name}
        for entry in summary["table"]:
            address = entry["address"]
            trials = [trial.folder for known, trial in sweep.trials if known.address == address]
            runs = [run for run in trials if run.exists(DESCRIPTION)]
            best = sweep.ended and address == summary["recommended"]
            systems[address] = System(entry["name"], runs, tags, points[address], keys, best)
        note = [sweep.question, f"**{summary['answer']}**", *summary["notes"]]
        group = Content(
            name,
            "RUNNING" if live else "FAILED",
            tags={LEVEL: "sweep", NOTE: "\n\n".join(note), **tags},
            write_files=partial(_copy, sweep.folder, (state.DEFINITION, state.PAGE, SUMMARY)),
        )
        running = {
            trial.folder for _, trial in sweep.trials if live and trial.progress == "running"
        }
        self._group(group, systems, running, summary["best"])

    def _group(
        self,
        group: Content,
        systems: Mapping[str, System],
        running: Container[Folder],
        best: str | None = None,
    ) -> None:
        """Send an experiment or a sweep with its systems, by address, and their seeds; its metrics
        are those of the best."""
        root = Folder(self.store.root, "")
        above: dict[str, Run] = {}
        with self.mlflow.lock():
            if not root.exists(IDENTITY):
                root.write_record(IDENTITY, {"id": uuid.uuid4().hex[:12]})
            key = f"{root.read_record(IDENTITY)['id']}/{group.tags[LEVEL]}s/{group.title}"
            for address, system in systems.items():
                rows = [self._seed(run, system, running=run in running) for run in system.runs]
                seeds = [row for row in rows if row]
                if not seeds:
                    continue
                finished = [row for row in seeds if row.data.tags[STATE] == FINISHED]
                content = Content(
                    f"{system.name} (recommended)" if system.recommended else system.name,
                    tags={LEVEL: "configuration", **system.tags},
                    parameters=max((row.data.params for row in seeds), key=len),
                    metrics=_means([row.data.metrics for row in finished]),
                )
                above[address] = self._above(f"{key}/{address}", content, seeds)
            if best in above:
                group.metrics = {
                    name: value
                    for name, value in above[best].data.metrics.items()
                    if name.startswith(LEVELS)
                }
            if above:
                self._above(key, group, above.values())

    def _above(self, key: str, content: Content, rows: Collection[Run]) -> Run:
        """Send a run that began and ended with rows, and put these below it."""
        statuses: set[Status] = {content.status, *(row.info.status for row in rows)}
        content.status = next(status for status in ORDER if status in statuses)
        content.started = min(row.info.start_time for row in rows) / 1000
        content.ended = max(row.info.end_time or row.info.start_time for row in rows) / 1000
        states = ", ".join(row.data.tags[STATE].partition(":")[0] for row in rows).split(", ")
        content.tags = {**content.tags, STATE: ", ".join(sorted({*states}))}
        ended = [row.data.tags[SENT] for row in rows if row.info.status != "RUNNING"]
        facts = [content.title, content.status, content.tags, ended]
        row = self.mlflow.send(key, config.address(facts), lambda: content)
        self.mlflow.adopt(row, rows)
        return row

    def _seed(self, run: Folder, system: System, *, running: bool) -> Run | None:
        """Send the run of a seed, once it is more than described: MLflow does not let a run begin
        later than it was said to."""
        files = {
            name: (info.size, info.modified)
            for name, info in run.contents().items()
            if info.is_file and name.startswith(FILES) and TEMPORARY not in name
        }
        if not files.keys() - {EXPERIMENT, DESCRIPTION}:
            return None
        running = MANIFEST not in files and (running or is_locked(run))
        return self.mlflow.send(
            run.name,
            config.address([files, running]),
            lambda: _content(run, system, files, running),
        )


class _Curves(state.Curves):
    """Validation curves, of which those of damaged runs are empty: they end nothing here."""

    def of(self, run: Folder, ended: bool = False) -> tuple[state.Point, ...]:
        """Return the validations of a run so far."""
        try:
            return super().of(run, ended)
        except UserError:
            return ()


def _content(
    run: Folder, system: System, files: Mapping[str, tuple[int, float]], running: bool
) -> Content:
    """Return what MLflow should have of the run of a seed."""
    times = [modified for _, modified in files.values()]
    try:
        record, steps = RunRecord.read(run), history.read(run)
        failure = run.read_record(FAILURE)["error"] if FAILURE in files else ""
        best = results.best_validations(run)
    except UserError as error:
        say_once(f"warning: {error}")
        tags, title = {LEVEL: "seed", STATE: f"damaged: {error}"}, f"{run.name} (damaged)"
        return Content(title, "FAILED", min(times), max(times), tags, {"system": system.name})
    if steps:  # validations say how long training has taken, the first lines only when they are
        begun = [step["time"] - step["metrics"].get("train/seconds", 0.0) for step in steps]
        times = [min(begun), steps[-1]["time"]]
    status: Status = "RUNNING" if running else "FAILED" if failure else "FINISHED"
    outcome = FINISHED if run.complete else STOPPED
    outcome = "running" if running else f"failed: {failure}" if failure else outcome
    wanted = [*(system.keys or record.differing), *MATTER]
    known = {key: record.parameters[key] for key in wanted if key in record.parameters}
    scores = [(test, score) for test, of_test in record.tests.items() for score in of_test]
    metrics: dict[str, float | None] = {f"best/valid/{name}": of for name, of in best.items()}
    if record.cost:
        metrics |= {f"cost/{name}": getattr(record.cost, name) for name in COSTS}
    for test, score in scores:
        name = f"test/{test}/{record_name(score.name)}"
        spread = {f"{name}/low": score.low, f"{name}/high": score.high}
        metrics |= {name: score.value, **{end: of for end, of in spread.items() if of is not None}}

    return Content(
        f"{record.name} seed {record.seed}",
        status,
        min(times),
        max(times),
        tags={
            LEVEL: "seed",
            STATE: outcome,
            NOTE: "\n\n".join(stored_runs.corpus_notes(run, record.inputs)),
            **{f"augury.{name}": str(getattr(record, name)) for name in DESCRIBED},
            **system.tags,
            **{f"signature/{record_name(score.name)}": score.signature for _, score in scores},
        },
        parameters={"system": system.name or record.name, **system.settings, **known},
        metrics=metrics,
        history=steps,
        write_files=partial(_copy, run, [name for name in files if name.startswith(SENT_FILES)]),
    )


def _means(seeds: Sequence[Mapping[str, float]]) -> Metrics:
    """Return the means over the seeds of a system, with their deviation and number."""
    values: dict[str, list[float]] = {}
    for metrics in seeds:
        for name, value in metrics.items():
            if name.startswith(LEVELS) and not name.endswith(SPREAD):
                values.setdefault(name, []).append(value)
    means: dict[str, float | None] = {}
    for name, of_name in values.items():
        means[name] = mean(of_name)
        if not name.startswith("cost/"):
            means[f"{name}/seeds"] = len(of_name)
            if len(of_name) > 1:
                means[f"{name}/sd"] = stdev(of_name)
    return means


def _copy(folder: Folder, names: Iterable[str], target: Path) -> None:
    """Copy those files of a folder that exist into a directory."""
    for name in filter(folder.exists, names):
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(folder.read(name, verified=False))


def experiment_of(run: Folder) -> str:
    """Return the name of the experiment of a run; empty where it is damaged."""
    known = stored_runs.intact([run], RunName.read).get(run)
    return (known.experiment or known.name) if known else ""


def _address(run: Folder) -> str:
    return run.name.split("/")[1]

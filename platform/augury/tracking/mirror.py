"""Brings MLflow in line with run folders; everything here can be repeated and continues where it stopped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from augury.core.config import flatten
from augury.core.store import Folder
from augury.experiments import runs
from augury.experiments.tracking import Place
from augury.tracking.backend import Backend, Content, File, Record, Value
from augury.tracking.ledger import closed, ledger, note
from augury.training import history

if TYPE_CHECKING:
    from mlflow import MlflowClient


@dataclass(frozen=True)
class Member:
    """What a sweep has to say of the run of a seed."""

    tags: Mapping[str, str]
    keys: Collection[str]
    """The parameters to record, where this sweep is the first to record the run."""
    metrics: Mapping[str, float]
    """Final values."""


class Mirror:
    """The MLflow side of the runs in one storage; one thread at a time. MLflow's errors pass through."""

    def __init__(self, place: Place, experiment: str):
        self.backend = Backend(place, experiment)
        self._records: dict[str, Record] = {}
        self._read: dict[str, dict[str, int]] = {}

    def open(self) -> MlflowClient:
        """The client of the store, which is made with its experiment if it is not there yet."""
        return self.backend.open()

    def deliver(self, run: Folder, member: Member | None = None, found: Record | None = None) -> bool:
        """Send what MLflow does not have of a run; whether there was anything to send.

        The run of a sweep's seed has no files and no inputs of its own: those of its configuration count. `found` is
        the run in MLflow, where a search has found it already.
        """
        before = self.backend.sent
        try:
            self._deliver(run, member, found)
        except Exception:
            self.forget(run)  # the store may have been replaced meanwhile: look the run up again
            raise
        return self.backend.sent > before

    def forget(self, run: Folder) -> None:
        """Take nothing for granted about a run the next time."""
        self._records.pop(run.name, None)
        self._read.pop(run.name, None)

    def keep(self, run: Folder) -> None:
        """Send the files of a delivered run, its experiment and hypotheses among them, unless MLflow has them."""
        state = ledger(run)
        if not state["kept"]:
            self.backend.keep(state["run_id"], _files(run, state))
            note(run, kept=True)

    def _deliver(self, run: Folder, member: Member | None, found: Record | None) -> None:
        state, record = ledger(run), self._records.get(run.name)
        content, title = Content(tags=dict(member.tags) if member else {}), ""
        if record is None:
            record = found or self._find(run, state, member)
            if record is not None and record.run_id == state["run_id"] and closed(state):
                return
            title = _describe(run, member, content)
        if record is None or record.run_id != state["run_id"]:  # another store, or the first time
            state |= {"sent": {}, "kept": False}
        content.points, files = self._unread(run, state["sent"])
        ended = state["status"] != "RUNNING"
        if ended:
            _conclude(run, member, state, content)
        # Nothing is made in MLflow before all is read: what is damaged would leave an empty run behind at each attempt.
        record = record or self.backend.create(title, content.tags, state["started"] or described(run))
        self._records[run.name] = record
        self.backend.bring(record, content, state["status"], state["finished"])
        self._read[run.name] = files
        latest = {point.metric: point.step for point in sorted(content.points, key=lambda point: point.step)}
        note(
            run,
            run_id=record.run_id,
            sent=state["sent"] | latest,
            closed=state["finished"] if ended else False,
            kept=state["kept"] or bool(content.files),
        )
        if ended:
            self.forget(run)

    def _find(self, run: Folder, state: Mapping[str, Any], member: Member | None) -> Record | None:
        """The run noted in the ledger if this store has it, otherwise the one that carries the folder's name."""
        if state["run_id"] and (noted := self.backend.get(state["run_id"])):
            return noted
        if member and not state["run_id"]:
            return None  # what a sweep has searched for and nobody has recorded is not there
        return next(iter(self.backend.search("run", run.name, run.root)), None)

    def _unread(self, run: Folder, sent: Mapping[str, int]) -> tuple[list[Value], dict[str, int]]:
        """Every point of a metric that lies beyond the last one sent, and the history files up to which that is so."""
        files, read = history.files(run), self._read.get(run.name, {})
        unread = [record for name in files if read.get(name) != files[name] for record in history.records(run, name)]
        points = {
            (metric, record["update"]): Value(metric, value, record["time"], record["update"])
            for record in unread
            for metric, value in record["metrics"].items()
            if record["update"] > sent.get(metric, -1)
        }
        return list(points.values()), files


def _describe(run: Folder, member: Member | None, content: Content) -> str:
    """Add what a run is; its title."""
    facts = run.read_json(runs.DESCRIPTION)
    parameters = facts["parameters"]
    content.tags = _tags(run, facts) | content.tags
    content.parameters = (
        {key: value for key, value in parameters.items() if key in member.keys} if member else parameters
    )
    content.inputs = [] if member else facts["inputs"]
    return f"{facts['name']} seed {facts['seed']}"


def _conclude(run: Folder, member: Member | None, state: Mapping[str, Any], content: Content) -> None:
    """Add what there is at the end of a run: scores and cost as metrics of its last update, and files."""
    if run.exists(runs.SCORES):
        scores = run.read_json(runs.SCORES)
        cost = scores["cost"]
        values = {f"cost/{name}": value for name, value in flatten(cost).items() if isinstance(value, int | float)}
        for test, found in scores["tests"].items():
            for score in found:
                name = f"test/{test}/{score['name']}"
                values |= {name: score["value"], f"{name}/low": score["low"], f"{name}/high": score["high"]}
                if not member:
                    content.tags[f"signature/{score['name']}"] = score["signature"]
        content.values = [Value(name, value, state["finished"], cost["updates"]) for name, value in values.items()]
        if not member:
            content.tags["augury.device"] = cost["device"]
    if member:
        content.values += [Value(name, value, state["finished"], 0) for name, value in member.metrics.items()]
    else:
        content.files = _files(run, state)


def _files(run: Folder, state: Mapping[str, Any]) -> list[File]:
    own = ["experiment.yaml", runs.DESCRIPTION, runs.SCORES]
    hypotheses = run.sub("hypotheses")
    return [
        *(File(run, name) for name in own if run.exists(name)),
        *(File(hypotheses, name, "hypotheses") for name in hypotheses.names()),
        *(File(Folder(entry["root"], entry["folder"]), entry["name"], entry["directory"]) for entry in state["files"]),
    ]


def described(run: Folder) -> float:
    """When a run was described, just before it began."""
    return float(run.filesystem.get_file_info(run.path(runs.DESCRIPTION)).mtime.timestamp())


def _tags(run: Folder, facts: Mapping[str, Any]) -> dict[str, str]:
    """How a run is found and what made it."""
    tags = {"augury.run": run.name, "augury.storage": run.root}
    tags |= {f"augury.{key}": str(facts[key]) for key in ("name", "experiment", "address", "seed", "task")}
    tags |= {f"version.{package}": version for package, version in facts["versions"].items()}
    if facts["commit"]:
        tags["mlflow.source.git.commit"] = facts["commit"]
    if notes := runs.notes(run):
        tags["mlflow.note.content"] = "\n\n".join(notes)  # MLflow shows it at the head of the run's page
    return tags

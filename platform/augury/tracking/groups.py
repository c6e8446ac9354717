"""Brings MLflow in line with sweeps: a run for the sweep, under it one for each configuration, under those the seeds.

The run of a seed is shown where it was recorded first: one that `augury train` or an earlier sweep has recorded stays
where it is, and the run of the configuration names the runs of its seeds wherever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments import runs
from augury.reporting.sweeps.summary import ConfigurationResult, leader, ranking
from augury.sweeping.state import Configuration, Sweep, Trial
from augury.tracking import contents
from augury.tracking.backend import Backend, File, Record, Status
from augury.tracking.contents import LEVEL, STATE, SWEEP
from augury.tracking.ledger import closed, ledger, note
from augury.tracking.mirror import Member, Mirror, described


class Step(NamedTuple):
    """A part of a sweep's record."""

    name: str
    """Of the folder that it is about."""
    work: Callable[[], bool]
    """Sends what MLflow does not have; whether there was anything to send."""


class _Sent(NamedTuple):
    """The run of a seed as this process has brought it in line."""

    run_id: str
    progress: str
    finished: float | None
    """None while it runs."""


@dataclass
class _Known:
    """What MLflow has of a sweep."""

    whole: Record
    configurations: dict[str, Record]
    """By address."""
    found: dict[str, Record]
    """The runs of seeds as a search found them, by the name of their folder."""
    own: frozenset[str]
    """The names of the run folders that an earlier command has recorded under this sweep."""
    sent: dict[str, _Sent] = field(default_factory=dict)
    scores: dict[str, tuple[object, dict[str, float | str]]] = field(default_factory=dict)
    """By address: the runs and the times that the scores are of, and the scores."""
    cautions: dict[str, list[str]] = field(default_factory=dict)
    """By address: what must be known of the texts."""


def outcome(sweep: Sweep) -> Status:
    """The status of a sweep that has come to its end."""
    return "FINISHED" if sweep.count("finished") else "FAILED"


def concluded(sweep: Sweep) -> Status:
    """The status of a sweep as the storage has it, also where its driver was killed just before it said so."""
    if sweep.ended and ledger(sweep.folder)["status"] == "RUNNING":
        note(sweep.folder, status=outcome(sweep), finished=sweep.updated)
    status: Status = ledger(sweep.folder)["status"]
    return status


class Groups:
    """The MLflow side of the sweeps in one storage; one thread at a time. MLflow's errors pass through."""

    def __init__(self, mirror: Mirror):
        self.mirror = mirror
        self._sweeps: dict[str, _Known] = {}

    @property
    def _backend(self) -> Backend:
        return self.mirror.backend

    def steps(self, sweep: Sweep, status: Status) -> Iterator[Step]:
        """All there is to bring in line; where the first step fails, so would the others.

        With a status other than RUNNING nobody is at work on the sweep any more, and everything is checked again.
        """
        failures: list[str] = []

        def step(folder: str, work: Callable[..., object], *given: Any) -> Step:
            def guarded() -> bool:
                before = self._backend.sent
                try:
                    work(sweep, *given)
                except Exception as error:
                    failures.append(folder)
                    if not isinstance(error, UserError):  # those are about files of the storage
                        self._sweeps.pop(sweep.name, None)  # an answer may have been lost: look everything up again
                    raise
                return self._backend.sent > before

            return Step(folder, guarded)

        yield step(sweep.folder.name, self._look)
        found = ranking(sweep)
        for standing in found:
            trials = [trial for trial in standing.configuration.trials if self._begun(sweep, trial)]
            for trial in trials:
                yield step(trial.folder.name, self._seed, standing.configuration, trial, status)
            if trials:
                name = f"{sweep.folder.name}/{standing.address}"
                yield step(name, self._configuration, standing, trials, status)
        yield step(sweep.folder.name, self._whole, found, status, failures)

    def _look(self, sweep: Sweep) -> _Known:
        """What MLflow has of the sweep: one search, and one more for seeds that others have recorded."""
        if sweep.name not in self._sweeps:
            found = self._backend.search("sweep", sweep.name, sweep.folder.root)
            levels = {
                level: [record for record in found if record.tags.get(LEVEL) == level]
                for level in ("sweep", "configuration", "seed")
            }
            here = {record.run_id for record in found}
            noted = {trial.folder.name: ledger(trial.folder) for each in sweep.configurations for trial in each.trials}
            elsewhere = [state["run_id"] for state in noted.values() if state["run_id"] not in {None, *here}]
            others = self._backend.several(elsewhere)
            whole = next(iter(levels["sweep"]), None)
            if whole is None:
                whole = self._backend.create(sweep.name, contents.identity(sweep), sweep.started)
            if whole.run_id != ledger(sweep.folder)["run_id"]:
                note(sweep.folder, run_id=whole.run_id, closed=False)
            self._sweeps[sweep.name] = _Known(
                whole,
                {record.tags[contents.CONFIGURATION]: record for record in levels["configuration"]},
                {record.tags["augury.run"]: record for record in [*levels["seed"], *others]},
                frozenset(name for name, state in noted.items() if state["parent"] == sweep.folder.name),
            )
        return self._sweeps[sweep.name]

    def _begun(self, sweep: Sweep, trial: Trial) -> bool:
        """Whether there is something to record of a trial; one that waits may have been begun by an earlier command."""
        known, name = self._sweeps.get(sweep.name), trial.folder.name
        if trial.progress == "waiting":
            return known is not None and name in known.own
        return (known is not None and name in known.sent) or trial.folder.exists(runs.DESCRIPTION)

    def _child(self, sweep: Sweep, configuration: Configuration, started: float | None = None) -> Record:
        known = self._look(sweep)
        if configuration.address not in known.configurations:
            tags = contents.identity(sweep, configuration) | {"mlflow.parentRunId": known.whole.run_id}
            known.configurations[configuration.address] = self._backend.create(configuration.name, tags, started)
        return known.configurations[configuration.address]

    def _seed(self, sweep: Sweep, configuration: Configuration, trial: Trial, status: Status) -> None:
        known, run = self._look(sweep), trial.folder
        sent = known.sent.get(run.name)
        ended = sent is not None and sent.finished is not None and sent.progress == trial.progress
        if ended and status == "RUNNING":
            return
        state, said = self._stand(sweep, configuration.address, trial, status)
        if ended and closed(state):
            return
        member = None
        if state["parent"] is not None:
            tags = {LEVEL: "seed", STATE: said}
            if state["parent"] == sweep.folder.name:
                parent = self._child(sweep, configuration, described(run))
                tags |= {SWEEP: sweep.name, "mlflow.parentRunId": parent.run_id}
            keys = () if sweep.scheduler == "pbt" else tuple(contents.swept_values(configuration))
            member = Member(tags, keys, contents.reached(sweep, trial))
        self.mirror.deliver(run, member, known.found.get(run.name))
        state = ledger(run)
        finished = state["finished"] if closed(state) else None
        known.sent[run.name] = _Sent(state["run_id"], trial.progress, finished)

    def _stand(self, sweep: Sweep, address: str, trial: Trial, status: Status) -> tuple[dict[str, Any], str]:
        """Note in a run's ledger what the sweep says of it, unless another command has said something later.

        A trial that waits was begun by an earlier command and stays as that one left it, unless it was killed.
        """
        run, state = trial.folder, ledger(trial.folder)
        if state["run_id"] is None and state["parent"] is None:
            note(run, parent=sweep.folder.name)
        wanted, said = contents.ending(sweep, address, trial, interrupted=status != "RUNNING")
        left = trial.progress == "waiting" and (status == "RUNNING" or state["status"] != "RUNNING")
        if trial.progress == "finished":
            scores = run.filesystem.get_file_info(run.path(runs.SCORES)).mtime
            changed = scores is not None and scores.timestamp() > (state["finished"] or 0.0)
            if changed or state["status"] != wanted:
                note(run, status=wanted, finished=scores.timestamp() if scores else sweep.updated)
        elif not left and sweep.updated >= state["as_of"] and state["status"] != wanted:
            finished = None if wanted == "RUNNING" else sweep.updated
            note(run, status=wanted, finished=finished, as_of=sweep.updated)
        return ledger(run), said

    def _configuration(
        self, sweep: Sweep, standing: ConfigurationResult, trials: Sequence[Trial], status: Status
    ) -> None:
        known, address, first = self._look(sweep), standing.address, trials[0].folder
        sent = {trial.seed: known.sent[trial.folder.name] for trial in trials if trial.folder.name in known.sent}
        if address not in known.cautions:
            known.cautions[address] = runs.notes(first)
        run_ids = {seed: each.run_id for seed, each in sorted(sent.items())}
        content = contents.of_configuration(
            sweep,
            standing,
            self._scores(sweep, standing.configuration),
            run_ids,
            known.cautions[address],
            self._backend.link,
        )
        record = self._child(sweep, standing.configuration, described(first))
        if not record.inputs:  # they are sent last
            content.inputs = first.read_json(runs.DESCRIPTION)["inputs"]
            content.files = [File(first, "experiment.yaml")]
        told, content.tags[STATE] = contents.conclusion(standing, interrupted=status != "RUNNING")
        finished = max((each.finished for each in sent.values() if each.finished is not None), default=sweep.updated)
        self._backend.bring(record, content, told, finished)

    def _scores(self, sweep: Sweep, configuration: Configuration) -> dict[str, float | str]:
        """The scores of the finished seeds, computed again where one was added or scored again."""
        known = self._look(sweep)
        done = [
            trial.folder
            for trial in configuration.trials
            if trial.folder.name in known.sent and trial.progress == "finished"
        ]
        of = [(folder.name, known.sent[folder.name].finished) for folder in done]
        if configuration.address not in known.scores or known.scores[configuration.address][0] != of:
            done = [folder for folder in done if folder.exists(runs.SCORES)]
            known.scores[configuration.address] = of, contents.scored(done) if done else {}
        return known.scores[configuration.address][1]

    def _whole(
        self, sweep: Sweep, found: Sequence[ConfigurationResult], status: Status, failures: Sequence[str]
    ) -> None:
        known, state = self._look(sweep), ledger(sweep.folder)
        cautions = list(dict.fromkeys(caution for each in known.cautions.values() for caution in each))
        content = contents.of_sweep(sweep, found, state["answer"], cautions, self._backend.link)
        if status != "RUNNING" and state["closed"] != state["finished"]:
            content.files = contents.files_of(sweep)
            for folder in self._best(sweep, found):
                self.mirror.keep(folder)
        self._backend.bring(known.whole, content, status, state["finished"])
        if status != "RUNNING" and not failures:
            note(sweep.folder, closed=state["finished"])

    def _best(self, sweep: Sweep, found: Sequence[ConfigurationResult]) -> list[Folder]:
        """The scored runs of the best configuration: theirs are the hypotheses worth looking at."""
        first, known = leader(sweep, found), self._look(sweep)
        trials = first.configuration.trials if first else ()
        return [trial.folder for trial in trials if trial.progress == "finished" and trial.folder.name in known.sent]

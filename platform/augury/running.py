"""One experiment from text to table: prepare, train, translate, score, record, for every system and seed."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from augury import config, trainable
from augury.beside import every
from augury.canonical import canonical
from augury.corpora.corpus import KIND as CORPORA
from augury.errors import UserError
from augury.experiment import Experiment, systems
from augury.locks import alone
from augury.progress import duration, say
from augury.store import Folder, Store
from augury.tracking.runs import DESCRIPTION
from augury.tracking.tracker import File, Tracker
from augury.trainable import Prepared, Trainable
from augury.training import history
from augury.training.launch import Crashed, launch
from augury.training.loop import Diverged

RUNS = "runs"
PACKAGES = ("augury", "torch", "ray", "transformers", "sentencepiece", "sacrebleu", "ctranslate2", "mlflow", "pyarrow")
EVALUATION = ("corpus.tests", "decoding", "scoring")
"""The settings of an experiment that concern a trained model."""
LINE_SECONDS = 10.0


def run_experiment(experiment: Experiment, *, scored: bool = True) -> tuple[dict[str, dict[int, Folder]], list[str]]:
    """Run every system of an experiment with every seed, or find it done; not `scored`, nothing is tested.

    Returns the run of every seed of every system, baseline first, and what went wrong: a run that diverges, or whose
    workers crash, does not stop the others and is left out.
    """
    refuse_lost_storage(experiment.storage)
    store = Store(experiment.storage)
    task = trainable.find(experiment.task)
    chosen = {name: _canonical(name, system, store) for name, system in systems(experiment).items()}
    runs: dict[str, dict[int, Folder]] = {}
    failures: list[str] = []
    with Tracker(experiment.tracking, store) as tracker:
        prepared = {name: task.prepare(system, store) for name, system in chosen.items()}
        _refuse_shared_runs(prepared)
        for name, system in chosen.items():
            for seed in system.seeds:
                try:
                    run = _run(task, name, system, prepared[name], seed, store, tracker, scored)
                except (Diverged, Crashed) as error:
                    failures.append(f"{name}, seed {seed} {type(error).__name__.lower()}: {error}")
                    say(failures[-1])
                else:
                    runs.setdefault(name, {})[seed] = run
    return runs, failures


def _canonical(name: str, system: Experiment, store: Store) -> Experiment:
    """The system as sweeps would write it, so that both find the same runs."""
    plainer, reasons = canonical(system, store)
    for key, reason in reasons.items():
        say(f"{name}: {key} has no effect: {reason}" if key != "augment" else f"{name}: {key}: {reason}")
    return plainer


def _refuse_shared_runs(prepared: Mapping[str, Prepared]) -> None:
    """Systems that train the same model would overwrite each other's scores."""
    named: dict[str, str] = {}
    for name, each in prepared.items():
        other = named.setdefault(each.address, name)
        if other != name:
            raise UserError(
                f"systems '{other}' and '{name}' train the same model, run {each.address}: give them settings that "
                "differ in training; one system can be scored with another beam by --set decoding.beam=..."
            )


def refuse_lost_storage(storage: str) -> None:
    """A Ray job runs in a copy of the working directory that is thrown away with it."""
    if "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ and "://" not in storage and not Path(storage).is_absolute():
        raise UserError(
            f"storage '{storage}' is relative, and a Ray job's working directory is thrown away: add "
            "--set storage=/a/shared/directory, or a URI such as s3://bucket/augury"
        )


def run_folder(store: Store, address: str, seed: int) -> Folder:
    """Where the run of a configuration with a seed lies."""
    return store.folder(RUNS, f"{address}/seed-{seed}")


def _run(
    task: Trainable, name: str, system: Experiment, prepared: Prepared, seed: int, store: Store, tracker: Tracker,
    scored: bool,
) -> Folder:  # fmt: skip
    run = run_folder(store, prepared.address, seed)
    with alone(run):
        if not run.complete:
            describe(run, name, system, prepared, seed)
            tracker.start(run)
            status: Any = "FAILED"
            try:
                train(task, name, system, prepared, seed, store, tracker)
                if scored:
                    evaluate(task, system, prepared, run, store)
                status = "FINISHED"
            finally:
                tracker.finish(run, status, artifacts(prepared, store))
            run.finish({"address": prepared.address, "seed": seed})
        elif scored and not evaluated(run, system, prepared):
            evaluate(task, system, prepared, run, store)
            tracker.finish(run, "FINISHED", artifacts(prepared, store))
        else:
            say(f"{name}, seed {seed}: found, not trained again ({run.uri})")
    return run


def evaluated(run: Folder, system: Experiment, prepared: Prepared) -> bool:
    """Whether a run has the scores that this experiment asks for."""
    return run.exists("scores.json") and bool(
        run.read_json("scores.json")["evaluation"] == _evaluation(system, prepared)
    )


def train(
    task: Trainable, name: str, system: Experiment, prepared: Prepared, seed: int, store: Store, tracker: Tracker
) -> None:
    """Train one seed where the launcher puts it, while its progress is shown and recorded."""
    run = run_folder(store, prepared.address, seed)
    settings = {**prepared.config, "storage": store.root, "run": run.name, "seed": seed}
    label = f"train {name}" + (f" seed {seed}" if len(system.seeds) > 1 else "")
    with tracker.follow(run), _shown(run, label, system):
        launch(task.train_loop, settings, run, system.training, system.execution)


def evaluate(task: Trainable, system: Experiment, prepared: Prepared, run: Folder, store: Store) -> None:
    """Score the run on every test set and write down what it was scored on, and what it cost."""
    outcome = run.read_json("outcome.json")
    tests = task.evaluate(system, prepared, run, store)
    _describe_scores(run, system, prepared)
    run.write_json("scores.json", {
        "evaluation": _evaluation(system, prepared),
        "tests": tests,
        "cost": {
            "parameters": outcome["parameters"], "data_factor": prepared.data_factor, "updates": outcome["updates"],
            "target_tokens": outcome["rows"], "train_seconds": outcome["train_seconds"], "device": outcome["device"],
            "device_hours": outcome["train_seconds"] * outcome["workers"] / 3600,
        },
    })  # fmt: skip


def _evaluation(system: Experiment, prepared: Prepared) -> str:
    """The address of what determines the scores of a trained model."""
    sections = system.plain()
    return config.address(
        {
            "inputs": [list(given) for given in prepared.inputs],
            "decoding": sections.get("decoding"),
            "scoring": sections.get("scoring"),
        }
    )


def describe(run: Folder, name: str, system: Experiment, prepared: Prepared, seed: int) -> None:
    """Write down what a run is: its experiment, inputs, parameters, and what it is made with."""
    run.write("experiment.yaml", yaml.safe_dump(system.plain(), sort_keys=False, allow_unicode=True))
    run.write_json("prepared.json", prepared.config)
    run.write_json(DESCRIPTION, {
        "name": name, "experiment": system.name, "address": prepared.address, "seed": seed, "task": system.task,
        "inputs": _inputs(prepared), "parameters": _parameters(system),
        "versions": {package: _version(package) for package in PACKAGES}, "commit": _commit(),
    })  # fmt: skip


def _describe_scores(run: Folder, system: Experiment, prepared: Prepared) -> None:
    """Bring up to date what a run's description says of test sets and scoring, which may change after training."""
    facts, parameters = run.read_json(DESCRIPTION), _parameters(system)
    trained = {key: value for key, value in facts["parameters"].items() if not key.startswith(EVALUATION)}
    scored = {key: value for key, value in parameters.items() if key.startswith(EVALUATION)}
    run.write_json(DESCRIPTION, facts | {"inputs": _inputs(prepared), "parameters": trained | scored})


def _inputs(prepared: Prepared) -> list[dict[str, Any]]:
    return [{"name": role, "address": address, "rows": rows} for role, address, rows in prepared.inputs]


def _parameters(system: Experiment) -> dict[str, Any]:
    return {key: value for key, value in config.flatten(system.plain()).items() if not key.startswith("systems")}


def artifacts(prepared: Prepared, store: Store) -> list[File]:
    """The files to keep with a run: vocabulary, what operators learned, manifests of corpora."""
    folders = {name: Folder(store.root, folder) for name, folder in prepared.artifacts.items()}
    files = [File(folder, file, name) for name, folder in folders.items() for file in folder.names() if file[0] != "_"]
    corpora = [
        File(store.folder(CORPORA, given.address), "manifest.json", f"corpora/{given.role}")
        for given in prepared.inputs
    ]
    return files + corpora


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str | None:
    """The commit of the working directory's repository, `+` where there are uncommitted changes."""
    if shutil.which("git") is None:
        return None
    found = subprocess.run(
        ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or None


@contextmanager
def _shown(run: Folder, label: str, system: Experiment) -> Iterator[None]:
    """Print a line about a run's training now and then, and one when it ends."""
    watch = _Watch(run, label, system)
    try:
        with every(1.0, watch.look, name=label):
            yield
    finally:
        watch.look(last=True)


class _Watch:
    """What there is to say about a run, from its history."""

    def __init__(self, run: Folder, label: str, system: Experiment):
        self.run, self.label, self.training = run, label, system.training
        self.seen = -1
        self.latest: dict[str, float] = {}
        self.said = 0.0
        self.update, self.epoch = 0, 0

    def look(self, last: bool = False) -> None:
        """Read what is new; say it at most every few seconds."""
        for record in history.read(self.run, self.seen):
            if record["update"] >= self.seen:
                self.latest |= record["metrics"]
                self.update, self.epoch, self.seen = record["update"], record["epoch"], record["update"]
        if self.latest and (last or time.monotonic() - self.said > LINE_SECONDS):
            self.said = time.monotonic()
            say(self._line(last))

    def _line(self, last: bool) -> str:
        of = f"/{self.training.max_updates:,}" if self.training.max_updates and not last else ""
        epochs = f"/{self.training.max_epochs}" if self.training.max_epochs and not last else ""
        shown = {"loss": "train/loss", "bleu": "valid/bleu", "chrf": "valid/chrf", "accuracy": "valid/accuracy"}
        numbers = [f"{name} {self.latest[key]:.2f}" for name, key in shown.items() if key in self.latest]
        numbers.append(f"{self.latest.get('train/tokens_per_second', 0):,.0f} tokens/s")
        seconds = self.latest.get("train/seconds", 0.0)
        if last:
            numbers.append(duration(seconds))
        elif left := self._left(seconds):
            numbers.append(f"at most {duration(left)} left")
        return f"{self.label:<22} update {self.update:,}{of}, epoch {self.epoch}{epochs}  " + "  ".join(numbers)

    def _left(self, seconds: float) -> float | None:
        """Time left if patience does not end training before, from the validations so far."""
        done = self.latest.get("train/epochs", float(self.epoch))
        if not seconds or not done:
            return None
        shares = [self.update / self.training.max_updates] if self.training.max_updates else []
        shares += [done / self.training.max_epochs] if self.training.max_epochs else []
        return seconds * (1 / max(shares) - 1) if shares else None

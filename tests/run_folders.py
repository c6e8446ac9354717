"""Storages as experiments and sweeps leave them: runs, their corpora, sweeps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from augury.core.naming import title
from augury.core.store import Folder, Store
from augury.corpora.corpus import NLI, PARALLEL, CorpusWriter
from augury.experiments.record import Cost, Input, RunRecord
from augury.reporting.results import SystemResult, load_groups
from augury.scoring.scores import score
from augury.scoring.stored import Measured, Score, write_statistics
from augury.sweeping import state
from augury.sweeping.state import Sweep
from augury.training import history
from augury.training.history import FILE as HISTORY_FILE
from augury.training.history import History
from augury.training.trained import WEIGHTS, Outcome, ReportedWeights

ADDRESS = "00aa11bb22cc33dd"
TEXT = "7e57" * 4
"""The address of the text of a test set."""


def outcome(seconds: float, **changes: object) -> Outcome:
    """What a training of this time came to."""
    values = {
        "updates": 200,
        "epochs": 10.0,
        "onset": 0.0,
        "rows": 5000,
        "weights": ReportedWeights("averaged"),
        "device": "cpu",
        "parameters": 1200,
    }
    return Outcome(**{**values, "train_seconds": seconds, **changes})  # type: ignore[arg-type]


def write_scores(
    run: Folder,
    tests: Mapping[str, Sequence[Score]],
    training: Outcome,
    data_factor: float = 1.0,
) -> None:
    """Write the scores of a described run, and the cost of its training."""
    cost = Cost.of(
        run,
        training,
        data_factor=data_factor,
    )
    record = RunRecord.read(run)
    scores = {test: tuple(of_test) for test, of_test in tests.items()}
    replace(record, tests=scores, training=training, cost=cost).write_scores(run)


def weights(storage: str | Path) -> dict[str, bytes]:
    """The file of the weights of every run of a storage, by the name of the run."""
    store = Store(storage)
    kinds = {address: store.folder("runs", address) for address in store.addresses("runs")}
    runs = [folder.sub(seed) for folder in kinds.values() for seed in folder.subfolders()]
    return {run.name: run.read(WEIGHTS) for run in runs if run.exists(WEIGHTS)}


def load(folders: Sequence[Folder]) -> list[SystemResult]:
    """The systems of run folders, one per configuration, in the order in which they first occur."""
    groups: dict[str, dict[int, Folder]] = {}
    for folder in folders:
        record = RunRecord.read(folder)
        groups.setdefault(record.address, {})[record.seed] = folder
    return load_groups(list(groups.values()))


class Run:
    """A run folder that grows as training writes it."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.describe()

    def describe(self, **changes: object) -> None:
        record = RunRecord(
            name="cipherdaug",
            experiment="ciphers",
            address=ADDRESS,
            seed=3,
            task="nmt",
            inputs=(Input("train", "a" * 16, 2900), Input("test", "b" * 16, 9)),
            parameters={
                "regime.beta": 5,
                "augment.0.keys": [1, 2],
                "training.precision": "fp32",
            },
            differing=("regime.beta", "augment.0.keys"),
            versions={"augury": "0.1.0"},
            commit="c0ffee",
        )
        self.folder.write("experiment.yaml", "name: ciphers\n")
        replace(record, **changes).write_description(self.folder, {})  # type: ignore[arg-type]

    def history(self, first: int, last: int, delay: float = 0.0) -> None:
        """Records after updates `first`, `first + 50` ... `last`, loss 1000 / update, at 10
        updates a second, in place of what was recorded from `first` on."""
        lines = [
            {
                "update": update,
                "epochs": 0.0,
                "time": 1.7e9 + update / 10 + delay,
                "metrics": {"train/loss": 1000 / update},
            }
            for update in range(first, last + 1, 50)
        ]
        earlier = [record for record in history.read(self.folder) if record["update"] < first]
        self.folder.remove(history.FILE)
        self.record(*earlier, *lines)

    def record(self, *lines: object) -> None:
        """Add records."""
        all_lines = [*history.read(self.folder), *lines]
        self.folder.write(history.FILE, "".join(json.dumps(line) + "\n" for line in all_lines))

    def scores(self, value: float = 31.5) -> None:
        score = Score("bleu", value, 29.0, 34.0, "tok:13a", 9)
        training = outcome(20.0, cpu_seconds=19.0)
        write_scores(self.folder, {"test": [score]}, training, data_factor=3.0)
        self.folder.sub("hypotheses").write("test.txt", "a house\n")


class Results:
    """A storage that fills with scored runs and their test sets."""

    def __init__(self, root: str | Path):
        self.store = Store(root)

    def corpus(
        self, texts: Sequence[Sequence[str]], note: str | None = None, address: str = TEXT
    ) -> None:
        """A test set of sources and targets, or of premises, hypotheses and labels."""
        kind, columns = PARALLEL, ["source", "target"]
        if len(texts[0]) == 3:
            kind, columns = NLI, ["premise", "hypothesis", "label"]
        common: dict[str, Any] = {
            "source_language": "de",
            "target_language": "en",
            "language": "sw",
        }
        common |= {"origin": "corpus", "views": [], "lineage": None}
        rows = [
            {"id": f"test:{place}", **common, **dict(zip(columns, row, strict=True))}
            for place, row in enumerate(texts)
        ]
        kept = [{name: row[name] for name in kind.schema.names} for row in rows]
        writer = CorpusWriter(self.store.folder("corpora", address))
        writer.add(pa.Table.from_pylist(kept, schema=kind.schema))
        writer.finish({"note": note} | ({"kind": "nli"} if kind is NLI else {}))

    def run(
        self,
        name: str,
        address: str,
        seed: int = 1,
        *,
        bleu: float | None = None,
        correct: Sequence[int] = (),
        tests: Mapping[str, Sequence[Score]] | None = None,
        half_width: float = 1.0,
        metric: str = "bleu",
        signature: str = "tok:13a",
        test: str = "test",
        text: str = TEXT,
        parameters: Mapping[str, Any] | None = None,
        seconds: float = 100.0,
        cpu_seconds: float | None = None,
        device: str = "cpu",
        data: float = 1.0,
        hypotheses: Sequence[str] = (),
        history: Sequence[tuple[int, Mapping[str, float]]] = (),
    ) -> Folder:
        """A run; scored if it has `tests`, labels that are right (1) or wrong (0), or `bleu`, which
        is the value of `metric`."""
        run = self.store.folder("runs", f"{address}/seed-{seed}")
        record = RunRecord(
            name=name,
            experiment="ciphers",
            address=address,
            seed=seed,
            task="nmt",
            inputs=(Input("train", "a" * 16, 2900), Input(test, text, 3)),
            parameters={"training.precision": "fp32", **(parameters or {})},
            versions={"augury": "0.1.0", "torch": "2.13.0"},
            commit="c0ffee",
        )
        record.write_description(run, {})
        if tests is None and len(correct):
            labels = [str(label) for label in correct]
            tests = {test: score(labels, ["1"] * len(labels), metrics=["accuracy"])}
        elif tests is None and bleu is not None:
            values = ((metric, bleu), ("chrf", 50.0))
            tests = {
                test: [
                    Score(name, value, value - half_width, value + half_width, signature, 2000)
                    for name, value in values
                ]
            }
        if hypotheses:
            run.sub("hypotheses").write(f"{test}.txt", "".join(f"{line}\n" for line in hypotheses))
        for name_of_test, scores in (tests or {}).items():
            measured = [known for known in scores if isinstance(known, Measured)]
            if measured:
                write_statistics(run, name_of_test, measured)
        if tests is not None:
            training = outcome(
                seconds,
                cpu_seconds=cpu_seconds,
                parameters=1_230_000,
                updates=400,
                rows=5_400_000,
                device=device,
            )
            write_scores(run, tests, training, data)
        lines = [
            {"update": update, "epochs": 0, "time": 1.7e9 + 2 * update, "metrics": metrics}
            for update, metrics in history
        ]
        if lines:
            content = "".join(json.dumps(line) + "\n" for line in lines)
            run.write(HISTORY_FILE, content)
        return run


class Sweeps:
    """Writes one sweep into the storage of `results`."""

    def __init__(self, results: Results, name: str = "beta"):
        self.results, self.name = results, name
        self.folder = results.store.folder(state.SWEEPS, name)
        self.configurations: list[dict[str, Any]] = []
        self.trials: dict[str, dict[str, Any]] = {}
        self.chosen: str | None = None
        """What the scheduler has chosen."""
        self.merged: list[dict[str, Any]] = []
        self.confirmation: dict[str, Any] | None = None

    def configuration(self, point: Mapping[str, Any], name: str = "", address: str = "") -> str:
        """A configuration without trials; returns its address."""
        address = address or f"{len(self.configurations):016x}"
        self.configurations.append(
            {"name": name or title(point), "address": address, "point": dict(point)}
        )
        return address

    def trial(
        self,
        address: str,
        seed: int,
        values: Sequence[float],
        progress: str = "finished",
        *,
        error: str | None = None,
        bleu: float | None = None,
        seconds: float = 60.0,
        **run: Any,
    ) -> Folder:
        """A trial with its validations, one in `seconds`.

        Finished ones are scored with the last value, `bleu` or what `run` has.
        """
        names = {
            configuration["address"]: configuration["name"] for configuration in self.configurations
        }
        scored = bleu if bleu is not None else values[-1] if progress == "finished" else None
        seconds_of_all = seconds * len(values)
        folder = self.results.run(
            names[address], address, seed, bleu=scored, seconds=seconds_of_all, **run
        )
        written = History(folder)
        for index, value in enumerate(values, start=1):
            written.add(100 * index, 0, {"valid/bleu": value, "train/seconds": seconds * index})
        written.flush()
        if progress == "finished":
            folder.finish({})
        self.trials[f"{address}/seed-{seed}"] = {"progress": progress, "error": error}
        return folder

    def load(
        self,
        seeds: Sequence[int] = (1, 2, 3),
        *,
        scheduler: str = "all",
        mode: str = "max",
        ended: bool = True,
        question: str = "Does a stronger pull between views help?",
        tests: Sequence[str] = ("test",),
    ) -> Sweep:
        """Write the sweep's two files and read it."""
        keys = dict.fromkeys(
            key for configuration in self.configurations for key in configuration["point"]
        )
        definition = {
            "name": self.name,
            "question": question,
            "metric": "valid/bleu",
            "mode": mode,
            "scale": "smoke",
            "keys": list(keys),
            "seeds": list(seeds),
            "scheduler": scheduler,
            "reference": self.configurations[0]["address"],
            "configurations": self.configurations,
            "merged": self.merged,
            "started": 1.7e9,
            "tests": list(tests),
            "command": f"augury sweep {self.name}",
        }
        written = {
            "time": 1.7e9 + 3600,
            "ended": ended,
            "trials": self.trials,
            "chosen": self.chosen,
            "confirmation": self.confirmation,
        }
        self.folder.write_record(state.DEFINITION, definition)
        self.folder.write_record(state.STATE, written)
        return state.load(self.results.store, self.name)

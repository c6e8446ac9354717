"""The runs of one configuration of a sweep: one for each seed, in the folders that `augury train` uses too.

This is the only place of a sweep that knows how an experiment is prepared, trained and scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from augury.core import config
from augury.core.store import Folder, Store
from augury.experiments import evaluation, trainable
from augury.experiments.description import describe
from augury.experiments.experiment import Experiment, parse
from augury.experiments.recording import Recording
from augury.experiments.runs import run_folder
from augury.experiments.trainable import Input, Prepared
from augury.training.launch import FAILURE, launch
from augury.training.loop import Report

CONFIGURATIONS = "configurations"
"""The folder in a sweep's of what its trials start from."""


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of a configuration; everything that they read is made."""

    experiment: Experiment
    prepared: Prepared
    storage: str

    @classmethod
    def prepare(cls, experiment: Experiment, address: str, store: Store, recording: Recording) -> ConfigurationRuns:
        """Make every corpus, view, vocabulary and token folder that is missing.

        `address` differs from the experiment's own where a population changes its settings on the way.
        """
        prepared = trainable.find(experiment.task).prepare(experiment, store, recording)
        if prepared.address != address:
            settings = {
                key: value for key, value in prepared.config.items() if key != "trunk"
            }  # its beginning is its own
            prepared = prepared._replace(address=address, config={**settings, "address": address})
        return cls(experiment, prepared, store.root)

    def write(self, sweep: Folder) -> None:
        """Write down what the trials of the configuration start from."""
        prepared = self.prepared._asdict() | {"artifacts": dict(self.prepared.artifacts)}
        content = {"experiment": self.experiment.plain(), "prepared": prepared}
        sweep.sub(CONFIGURATIONS).write_json(f"{self.prepared.address}.json", content)

    @classmethod
    def read(cls, sweep: Folder, address: str) -> ConfigurationRuns:
        """Return what `write` has written down."""
        content = sweep.sub(CONFIGURATIONS).read_json(f"{address}.json")
        inputs = tuple(Input(*entry) for entry in content["prepared"]["inputs"])
        prepared = Prepared(**{**content["prepared"], "inputs": inputs})
        return cls(parse(content["experiment"]), prepared, sweep.root)

    def folder(self, seed: int) -> Folder:
        """Return the folder of a run."""
        return run_folder(Store(self.storage), self.prepared.address, seed)

    def done(self, seed: int) -> bool:
        """Return whether a run is trained and scored as the experiment asks for now."""
        run = self.folder(seed)
        return run.complete and evaluation.evaluated(run, self.experiment, self.prepared)

    def describe(self, name: str, seed: int) -> None:
        """Write down what a run is, before it begins."""
        if not self.folder(seed).complete:
            describe(self.folder(seed), name, self.experiment, self.prepared, seed)

    def train(
        self,
        seed: int,
        execution: Mapping[str, Any],
        report: Report | None = None,
        *,
        until: int | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> bool:
        """Train a run, from its last checkpoint if there is one, and return whether training has ended.

        `execution` says where; `until` is the validation to stop at; `values` are settings in place of the
        configuration's own.
        """
        experiment = parse(config.merge(self.experiment.plain(), values)) if values else self.experiment
        settings = {**self.prepared.config, "storage": self.storage, "run": self.folder(seed).name, "seed": seed}
        settings |= {"experiment": experiment.plain()} if values else {}
        settings |= {"until": until} if until is not None else {}
        return launch(
            trainable.find(experiment.task).train_loop,
            settings,
            self.folder(seed),
            experiment.training,
            experiment.execution.model_copy(update=dict(execution)),
            report,
        )

    def finish(self, seed: int) -> None:
        """Score a trained run, unless it has these scores, and mark it as complete."""
        run, task = self.folder(seed), trainable.find(self.experiment.task)
        if not evaluation.evaluated(run, self.experiment, self.prepared):
            evaluation.evaluate(task, self.experiment, self.prepared, run, Store(self.storage))
        run.finish({"address": self.prepared.address, "seed": seed})

    def fail(self, seed: int, error: Exception) -> str:
        """Write down why a run failed, and return it for people."""
        self.folder(seed).write_json(FAILURE, {"kind": type(error).__name__, "error": str(error)})
        return f"{type(error).__name__}: {error}"

"""The runs of one configuration of a sweep: one for each seed, in the folders that `augury train` uses too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from augury.core import config
from augury.core.plugins import describe_error
from augury.core.store import Folder, Store
from augury.experiments import evaluation
from augury.experiments.description import describe
from augury.experiments.experiment import Experiment, parse
from augury.experiments.preparation import prepare
from augury.experiments.recording import Recording
from augury.experiments.run import Run
from augury.experiments.training import train
from augury.training.launch import FAILURE
from augury.training.loop import Report

CONFIGURATIONS = "configurations"
"""The folder in a sweep's of what its trials start from."""


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of a configuration; everything that they read is made."""

    first: Run
    """The run with the first seed."""

    @classmethod
    def prepare(cls, experiment: Experiment, address: str, store: Store, recording: Recording) -> ConfigurationRuns:
        """Make every corpus, view, vocabulary and token folder that is missing.

        `address` differs from the experiment's own where a population changes its settings on the way.
        """
        run = prepare(experiment, store, recording)
        if run.address != address:  # its beginning is its own
            run = replace(run, address=address, trunk=None).at(run.seed)
        return cls(run)

    def write(self, sweep: Folder) -> None:
        """Write down what the trials of the configuration start from."""
        sweep.sub(CONFIGURATIONS).write_json(f"{self.first.address}.json", self.first.to_dict())

    @classmethod
    def read(cls, sweep: Folder, address: str) -> ConfigurationRuns:
        """Return what `write` has written down."""
        return cls(Run.from_dict(sweep.root, sweep.sub(CONFIGURATIONS).read_json(f"{address}.json")))

    def folder(self, seed: int) -> Folder:
        """Return the folder of a run."""
        return self.first.at(seed).folder

    def done(self, seed: int) -> bool:
        """Return whether a run is trained and scored as the experiment asks for now."""
        run = self.first.at(seed)
        return run.folder.complete and evaluation.evaluated(run)

    def describe(self, name: str, seed: int) -> None:
        """Write down what a run is, before it begins."""
        run = self.first.at(seed)
        if not run.folder.complete:
            describe(run, name)

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
        run = self.first.at(seed)
        if values:
            run = replace(run, experiment=parse(config.merge(run.experiment.to_dict(), values)))
        where = run.experiment.execution.model_copy(update=dict(execution))
        return train(run, execution=where, report=report, until=until)

    def finish(self, seed: int) -> None:
        """Score a trained run, unless it has these scores, and mark it as complete."""
        run = self.first.at(seed)
        if not evaluation.evaluated(run):
            evaluation.evaluate(run)
        run.folder.finish({"address": run.address, "seed": seed})

    def fail(self, seed: int, error: Exception) -> str:
        """Write down why a run failed, and return it for people."""
        self.folder(seed).write_json(FAILURE, {"kind": type(error).__name__, "error": str(error)})
        return describe_error(error)

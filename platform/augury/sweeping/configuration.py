"""The runs of one configuration of a sweep, one per seed, in the same folders as those of
`augury train`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from augury.core import config
from augury.core.plugin_files import describe_error
from augury.core.store import Folder
from augury.experiments import evaluate
from augury.experiments.description import describe
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.training.trained import FAILURE

if TYPE_CHECKING:
    from augury.training.loop import Report

CONFIGURATIONS = "configurations"
"""Subfolder of a sweep for the prepared runs of its configurations."""


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of a configuration whose data is prepared."""

    first: Run
    """The run with the first seed."""
    unscored: tuple[int, ...] = ()
    """The seeds that only operators use, whose models are not scored."""

    @classmethod
    def of(cls, run: Run, address: str, unscored: Iterable[int] = ()) -> ConfigurationRuns:
        """Return the runs of a configuration, given one whose texts are made.

        `address` differs from the run's own for a member of a population, whose settings change in
        training.
        """
        if run.address != address:  # a member shares no prefix with other runs
            run = replace(run, address=address, prefix=None)
            run = run.with_seed(run.seed)
        return cls(run, tuple(unscored))

    def write(self, sweep: Folder) -> None:
        """Write the prepared run for the trials of the configuration."""
        sweep.sub(CONFIGURATIONS).write_object(
            f"{self.first.address}.json",
            self.first.to_dict() | {"unscored": list(self.unscored)},
        )

    @classmethod
    def read(cls, sweep: Folder, address: str) -> ConfigurationRuns:
        """Return the configuration that `write` has written."""
        content = sweep.sub(CONFIGURATIONS).read_json(f"{address}.json")
        return cls(Run.from_dict(sweep.root, content), tuple(content["unscored"]))

    def folder(self, seed: int) -> Folder:
        """Return the folder of a run."""
        return self.first.with_seed(seed).folder

    def done(self, seed: int) -> bool:
        """Return whether a run is trained and has the scores that the experiment now requests."""
        run = self.first.with_seed(seed)
        return run.folder.complete and (seed in self.unscored or evaluate.evaluated(run))

    def describe(self, name: str, seed: int) -> None:
        """Write the description of a run before it starts."""
        run = self.first.with_seed(seed)
        if not run.folder.complete:
            describe(run, name)

    def train(
        self,
        seed: int,
        execution: Mapping[str, Any],
        report: Report | None = None,
        *,
        deadline: float | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> bool:
        """Train a run, from its last checkpoint if there is one, and return whether training has
        ended.

        `execution` and `values` override settings of the configuration; training ends at the
        first validation after `deadline`.
        """
        from augury.experiments.training import train  # torch, which the command does not need

        run = self.first.with_seed(seed)
        if values:
            run = replace(run, experiment=parse(config.merge(run.experiment.to_dict(), values)))
        merged = run.experiment.execution.model_copy(update=dict(execution))
        return train(run, execution=merged, report=report, deadline=deadline)

    def finish(self, seed: int) -> None:
        """Score a trained run unless its scores are up to date, and mark it as complete."""
        run = self.first.with_seed(seed)
        if seed not in self.unscored and not evaluate.evaluated(run):
            evaluate.evaluate(run)
        run.folder.finish({"address": run.address, "seed": seed}, files=())

    def fail(self, seed: int, error: Exception) -> str:
        """Write the error of a failed run to its folder and return it as text."""
        self.folder(seed).write_record(FAILURE, {"kind": type(error).__name__, "error": str(error)})
        return describe_error(error)

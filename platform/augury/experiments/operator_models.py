"""The models that an experiment's operators work with: experiments of their own, found by address or trained first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.augment.pipeline import Models
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments import trainable
from augury.experiments.experiment import Experiment
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.run import Run
from augury.experiments.runs import run_folder

if TYPE_CHECKING:
    import numpy as np

    from augury.decoding.settings import Sampler


@dataclass(frozen=True)
class RunModel:
    """The model of a finished run, loaded where it is used."""

    name: str
    """The run's folder in the store, which identifies the model."""
    task: str

    def sampler(self, store: Store) -> Sampler:
        """Return the model as a function that writes text, loaded once."""
        return trainable.find(self.task).sampler(self._run(store))

    def probabilities(self, store: Store, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        """Return the probability of every label, (pairs, labels)."""
        return trainable.find(self.task).probabilities(self._run(store), premises, hypotheses)

    def _run(self, store: Store) -> Run:
        return Run.read(Folder(store.root, self.name))


def addressed(experiment: Experiment, store: Store) -> list[Models]:
    """Return the models of each operator by role; nothing is made."""
    return [
        {role: _model(model_experiment, store) for role, model_experiment in wanted.items()}
        for wanted in experiment.models()
    ]


def trained(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> list[Models]:
    """Return the models of each operator by role; what is missing is trained, with all that it needs."""
    from augury.experiments import running  # with all that training takes

    for operator, wanted in zip(experiment.augment, experiment.models(), strict=True):
        for role, model_experiment in wanted.items():
            _, failures = running.run_experiment(model_experiment, recording, scored=False)
            if failures:
                raise UserError(f"the {role} of operator {operator.operator} cannot be trained: {failures[0]}")
    return addressed(experiment, store)


def _model(experiment: Experiment, store: Store) -> RunModel:
    from augury.experiments import preparation  # which prepares the models of operators in turn

    address = preparation.address(experiment, store)
    return RunModel(run_folder(store, address, experiment.seeds[0]).name, experiment.task)

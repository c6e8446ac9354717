"""The models that an experiment's operators work with: experiments of their own, trained first, or ready ones."""

from __future__ import annotations

from augury.augment.operator import ReadyModel, TrainedModel
from augury.augment.pipeline import Models
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.experiment import Experiment
from augury.experiments.ready_models import RunModel, ready_model
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.runs import run_folder


def addressed(experiment: Experiment, store: Store) -> list[Models]:
    """Return the models of each operator by role; nothing is made."""
    return [{role: _model(model, store) for role, model in wanted.items()} for wanted in experiment.models()]


def trained(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> list[Models]:
    """Return the models of each operator by role; what is missing is trained, with all that it needs."""
    from augury.experiments import running  # with all that training takes

    for operator, wanted in zip(experiment.augment, experiment.models(), strict=True):
        for role, model in wanted.items():
            if isinstance(model, ReadyModel):
                continue
            _, failures = running.run_experiment(model, recording, scored=False)
            if failures:
                raise UserError(f"the {role} of operator {operator.operator} cannot be trained: {failures[0]}")
    return addressed(experiment, store)


def _model(model: Experiment | ReadyModel, store: Store) -> TrainedModel:
    from augury.experiments import preparation  # which prepares the models of operators in turn

    if isinstance(model, ReadyModel):
        return ready_model(model)
    address = preparation.address(model, store)
    return RunModel(run_folder(store, address, model.seeds[0]).name, model.task)

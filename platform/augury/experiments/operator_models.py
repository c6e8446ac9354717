"""The models that an experiment's operators work with: experiments of their own, trained first, or ready ones."""

from __future__ import annotations

from augury.augment.operator import ReadyModel
from augury.augment.pipeline import Models
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.canonical import canonical
from augury.experiments.experiment import Experiment
from augury.experiments.ready_models import RunModel, ready_model
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.runs import run_folder


def resolve_models(experiment: Experiment, store: Store) -> list[Models]:
    """Return the models of each operator by role, `<role>-<seed>` where an experiment has several seeds.

    No model is made; operators of an experiment that trains one may be fitted, to find what it is equal to.
    """
    return [
        {name: model for role, wanted in roles.items() for name, model in _resolve_role(role, wanted, store).items()}
        for roles in experiment.models()
    ]


def train_models(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> list[Models]:
    """Return the models of each operator by role; what is missing is trained, with all that it needs."""
    from augury.experiments import running  # with all that training takes

    for operator, wanted in zip(experiment.augment, experiment.models(), strict=True):
        for role, model in wanted.items():
            if isinstance(model, ReadyModel):
                continue
            _, failures = running.run_experiment(model, recording, scored=False)
            if failures:
                raise UserError(f"the {role} of operator {operator.operator} cannot be trained: {failures[0]}")
    return resolve_models(experiment, store)


def _resolve_role(role: str, model: Experiment | ReadyModel, store: Store) -> Models:
    from augury.experiments import preparation  # which prepares the models of operators in turn

    if isinstance(model, ReadyModel):
        return {role: ready_model(model)}
    trained_as = canonical(model, store).experiment
    address = preparation.address(trained_as, store)
    runs = {seed: RunModel(run_folder(store, address, seed).name, model.task) for seed in model.seeds}
    return {role if len(runs) == 1 else f"{role}-{seed}": run for seed, run in runs.items()}

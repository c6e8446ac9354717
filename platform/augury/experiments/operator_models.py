"""The models that an experiment's operators use: trained by experiments of their own, or ready
ones."""

from __future__ import annotations

from augury.augment.models import ReadyModel
from augury.augment.pipeline import Models
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.ready_models import RunModel, ready_model
from augury.experiments.record import run_folder
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical


def resolve_models(experiment: Experiment, store: Store) -> list[Models]:
    """Return the models of each operator by role, `<role>-<seed>` where an experiment has several
    seeds.

    Nothing is trained; operators of an experiment that trains a model may be fitted, to find its
    canonical form.
    """
    return [
        {
            name: model
            for role, content in roles.items()
            for name, model in _resolve_role(role, content, store).items()
        }
        for roles in experiment.models
    ]


def train_models(
    experiment: Experiment, store: Store, recording: Recording = unrecorded
) -> list[Models]:
    """Return the models of each operator by role; missing ones are trained first."""
    from augury.experiments import running  # here, as it imports all of training

    for operator, models in zip(experiment.augment, experiment.models, strict=True):
        for role, model in models.items():
            if isinstance(model, ReadyModel):
                continue
            _, failures = running.run_experiment(model, recording, scored=False)
            if failures:
                raise UserError(
                    f"the {role} of operator {operator.operator} cannot be trained: {failures[0]}"
                )
    return resolve_models(experiment, store)


def _resolve_role(role: str, model: Experiment | ReadyModel, store: Store) -> Models:
    from augury.experiments import preparation  # here, as it imports this module

    if isinstance(model, ReadyModel):
        return {role: ready_model(model)}
    trained_as = canonical(model, store).experiment
    address = preparation.address(trained_as, store)
    runs = {
        seed: RunModel(run_folder(store, address, seed).name, model.task) for seed in model.seeds
    }
    return {role if len(runs) == 1 else f"{role}-{seed}": run for seed, run in runs.items()}

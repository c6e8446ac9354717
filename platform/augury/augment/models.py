"""The models that an experiment's operators work with: experiments of their own, found by address or trained first."""

from __future__ import annotations

from augury import trainable
from augury.augment.pipeline import Models
from augury.errors import UserError
from augury.experiment import Experiment
from augury.store import Store
from augury.tracking.runs import run_folder


def addressed(experiment: Experiment, store: Store) -> list[Models]:
    """The run folders of each operator's models, by role; nothing is made."""
    return [{role: _folder(each, store) for role, each in wanted.items()} for wanted in experiment.models()]


def trained(experiment: Experiment, store: Store) -> list[Models]:
    """The run folders of each operator's models, by role; what is missing is trained, with all that it needs."""
    from augury import running  # with all that training takes

    for operator, wanted in zip(experiment.augment, experiment.models(), strict=True):
        for role, each in wanted.items():
            _, failures = running.run_experiment(each, scored=False)
            if failures:
                raise UserError(f"the {role} of operator {operator.operator} cannot be trained: {failures[0]}")
    return addressed(experiment, store)


def _folder(each: Experiment, store: Store) -> str:
    address = trainable.find(each.task).address(each, store)
    return run_folder(store, address, each.seeds[0]).name

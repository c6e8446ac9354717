"""Warn of pretrained models that cannot be had here, before training ends with that."""

from __future__ import annotations

from collections.abc import Iterable

from augury.augment.models import ReadyModel
from augury.experiments.spec import Experiment
from augury.models import pretrained
from augury.models.settings import Pretrained


def missing_models(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return warnings on pretrained models, and those of operators, that cannot be had here, by
    their names."""
    listed = list(experiments)
    listed += [model for experiment in listed for model in experiment.model_experiments.values()]
    advice: dict[tuple[str, str | None], str] = {}
    for experiment in listed:
        if model := pretrained_model(experiment):
            advice[model.name, model.revision] = (
                "give model.name the path of a directory that save_pretrained wrote, or train "
                "from nothing, model: {architecture: tiny}"
            )
        for operator, roles in zip(experiment.augment, experiment.models, strict=True):
            for role, ready in roles.items():
                if isinstance(ready, ReadyModel) and ready.checkpoint:
                    advice[ready.checkpoint, ready.revision] = (
                        f"give the {role} of operator {operator.operator} as the path of a "
                        "directory that save_pretrained wrote"
                    )
    return {
        name: f"the pretrained model {name} cannot be had here, and training would end with that: "
        f"there is no such directory, and no hub that has it can be reached ({reason:.200}); "
        f"{remedy}"
        for (name, revision), remedy in advice.items()
        if (reason := pretrained.unreachable(name, revision))
    }


def pretrained_model(experiment: Experiment) -> Pretrained | None:
    """Return the settings of an experiment's pretrained model; None for one from nothing."""
    model = getattr(experiment, "model", None)
    return model if isinstance(model, Pretrained) else None

"""Settings of an experiment without those at their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.experiments.spec import Experiment, parse


def shortened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an experiment without those at their defaults; what they describe is
    the same.

    Names of operators and of the regime are kept. Where the shorter settings would be read as
    others, such as in a model that trains with defaults of its own, the section is kept as it is.
    """
    experiment = parse(dict(settings))
    full = experiment.to_dict()
    short = _without_defaults(experiment, full)
    read = parse(dict(short)).to_dict()
    for section, value in full.items():
        if read[section] != value:
            short[section] = value
    return short


def _without_defaults(experiment: Experiment, full: Mapping[str, Any]) -> dict[str, Any]:
    changed = experiment.model_dump(mode="json", exclude_defaults=True)
    required = [
        name for name, field in type(experiment).model_fields.items() if field.is_required()
    ]
    short = {
        section: changed.get(section, {})
        for section in full
        if section in changed or section in required
    }
    short |= {section: full[section] for section in ("name", "task", "seeds")}
    if "augment" in short:
        short["augment"] = [
            {"operator": operator["operator"], **kept}
            for operator, kept in zip(full["augment"], changed["augment"], strict=True)
        ]
    if "regime" in short:
        short["regime"] = {"name": full["regime"]["name"], **changed["regime"]}
    return short

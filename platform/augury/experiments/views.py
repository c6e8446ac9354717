"""The views of an experiment by the names that people use: `plain`, and those that its operators
make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from augury.augment.operator import VIEW
from augury.core.errors import UserError, nearest
from augury.decoding.settings import PLAIN as PLAIN
from augury.regimes.regime import SOURCE

if TYPE_CHECKING:
    from augury.experiments.experiment import Experiment


def views(experiment: Experiment) -> tuple[str, ...]:
    """Return the views that texts can be rendered as: plain first, then those of the operators
    in their order."""
    parts = (part for operator in experiment.augment for part in operator.parts())
    return (PLAIN, *(part.name() for part in parts if part.makes() == VIEW))


def resolve_view(experiment: Experiment, name: str) -> str:
    """Return the name of a view in tokens and vocabularies, `source` for `plain`; UserError
    lists the known views."""
    known = views(experiment)
    if name in (PLAIN, SOURCE):
        return SOURCE
    if name in known:
        return name
    there = (
        f"there are {', '.join(known)}"
        if len(known) > 1
        else "no operator makes views here: there is plain"
    )
    if any(draw.use == VIEW and draw.name() == name for draw in experiment.token_draws):
        raise UserError(
            f"view '{name}' changes token ids anew in every pass of training: no text can be "
            f"rendered as it; {there}"
        )
    hint = nearest(name, known)
    raise UserError(
        f"unknown view '{name}': {f'{hint} {there}' if hint.startswith('did') else there}"
    )

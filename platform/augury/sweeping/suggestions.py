"""Points that Optuna suggests, a pure function of scores: a sweep that is continued asks for the
same points again, and needs no study on disk."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import create_trial

from augury.core.rng import seed_of
from augury.sweeping.declarations import Point
from augury.sweeping.space import Space, points


def suggest(
    space: Space,
    scored: Sequence[tuple[Point, float]],
    known: Sequence[Point],
    count: int,
) -> list[dict[str, Any]]:
    """Return points of a space's grid that are none of the known ones, by Optuna's tree-structured
    Parzen estimator.

    `scored` are points with their scores; those with other values teach nothing, and fewer than ten
    none at all: until then, points are drawn at random. Fewer than `count` are returned where the
    grid has no more.
    """
    # Indices are suggested, as Optuna compares plain values only: of numbers, near ones are alike.
    listed: dict[str, list[Any]] = {}
    by_key: dict[str, BaseDistribution] = {}
    for key, values in space.keys.items():
        if all(isinstance(value, int | float) for value in values):
            listed[key] = sorted(values)
            by_key[key] = IntDistribution(0, len(values) - 1)
        else:
            listed[key] = list(values)
            by_key[key] = CategoricalDistribution(range(len(values)))
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction={"max": "maximize", "min": "minimize"}[space.mode])
    study.sampler = optuna.samplers.TPESampler(
        seed=seed_of("suggestions", *sorted(space.keys), len(known)) % 2**32, constant_liar=True
    )
    for point, score in scored:
        with suppress(KeyError, ValueError):  # not of this space, such as the reference
            params = {key: values.index(point[key]) for key, values in listed.items()}
            study.add_trial(create_trial(params=params, distributions=by_key, value=score))
    suggested: list[dict[str, Any]] = []
    for _ in range(10 * count):  # the same point may come again
        if len(suggested) == count:
            break
        drawn = {key: listed[key][place] for key, place in study.ask(by_key).params.items()}
        if drawn not in known and drawn not in suggested:
            suggested.append(drawn)
    optuna.logging.set_verbosity(level)
    if len(suggested) < count:  # where few are left, they are hardly drawn
        left = [point for point in points(space) if point not in known and point not in suggested]
        suggested += left[: count - len(suggested)]
    return suggested

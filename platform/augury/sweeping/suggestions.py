"""Points that Optuna suggests, a pure function of scores: a sweep that is continued asks for the
same points again, and needs no study on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import create_trial

from augury.core.rng import seed_of
from augury.sweeping.space import rounded

Values = Mapping[str, Any]
"""Dotted key -> value."""


def suggest(
    keys: Mapping[str, Any],
    scored: Sequence[tuple[Values, float]],
    known: Sequence[Values],
    count: int,
    *,
    mode: Literal["max", "min"],
    startup: int,
) -> list[dict[str, Any]]:
    """Return points that are none of the known ones, by Optuna's tree-structured Parzen estimator.

    `keys` have a domain of Ray Tune or a list of values each. `scored` are points with their
    scores; those with values outside the domains teach nothing, and fewer than `startup` none at
    all: until then, points are drawn at random. Fewer than `count` are returned where the keys
    have no more.
    """
    by_key = _distributions(keys)
    # Lists and mappings are suggested by their index, as Optuna compares plain values only.
    indexed = {key: list(keys[key]) for key in by_key if _is_indexed(keys[key])}
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction={"max": "maximize", "min": "minimize"}[mode])
    study.sampler = optuna.samplers.TPESampler(
        seed=seed_of("suggestions", *sorted(keys), len(known)) % 2**32,
        n_startup_trials=startup,
        constant_liar=True,
    )
    for values, score in scored:
        params = {
            key: indexed[key].index(value) if value in indexed.get(key, ()) else value
            for key, value in values.items()
        }
        if all(_is_of(distribution, params.get(key)) for key, distribution in by_key.items()):
            params = {key: params[key] for key in by_key}
            study.add_trial(create_trial(params=params, distributions=by_key, value=score))
    suggested: list[dict[str, Any]] = []
    for _ in range(10 * count):  # of lists, the same point may come again
        if len(suggested) == count:
            break
        point = {
            key: indexed[key][value] if key in indexed else rounded(value)
            for key, value in study.ask(by_key).params.items()
        }
        if point not in known and point not in suggested:
            suggested.append(point)
    optuna.logging.set_verbosity(level)
    return suggested


def _distributions(keys: Mapping[str, Any]) -> dict[str, BaseDistribution]:
    from ray.tune.search.optuna import OptunaSearch

    domains = {key: values for key, values in keys.items() if not isinstance(values, Sequence)}
    by_key: dict[str, BaseDistribution] = OptunaSearch.convert_search_space(domains)
    for key, values in keys.items():
        if key not in domains:
            choices = range(len(values)) if _is_indexed(values) else values
            by_key[key] = CategoricalDistribution(list(choices))
    return by_key


def _is_indexed(values: Any) -> bool:
    """Return whether values are a list with some that Optuna cannot keep as they are."""
    plain = bool | int | float | str | None
    return isinstance(values, Sequence) and not all(isinstance(value, plain) for value in values)


def _is_of(distribution: BaseDistribution, value: Any) -> bool:
    """Return whether a value is one that a distribution can draw."""
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except (ValueError, TypeError):  # none of its choices
        return False

"""The main settings of a system (weight, rate, keys), and values of them that Optuna suggests.

A pure function of scores: the same scores lead to the same suggestions, so that a race that is
continued tunes the same points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import TrialState, create_trial

from augury.core.rng import seed_of
from augury.experiments.spec import Experiment
from augury.sweeping.adaptive import distributions, storable
from augury.sweeping.declarations import MainSettings, Point
from augury.sweeping.rounds import SUGGESTED
from augury.sweeping.space import rounded

STARTUP = 4
"""Points, the winner among them, that are drawn at random before Optuna learns from scores."""

Values = Mapping[str, Any]
"""Dotted key -> value of a main setting."""


def main_settings(point: Point, declared: MainSettings) -> dict[str, Any]:
    """Return the dotted keys of a point's main settings, those of its regime and operators, with
    their domains or lists of values."""
    domains: dict[str, Any] = {}
    sections = {"regime": point.get("regime", {})}
    sections |= {f"augment.{place}": part for place, part in enumerate(point.get("augment", ()))}
    for section, settings in sections.items():
        name = settings.get("operator", settings.get("name"))
        if name in declared:
            setting, domain = declared[name]
            domains[f"{section}.{setting}"] = domain
    return domains


def sections(experiment: Experiment) -> dict[str, Any]:
    """Return the regime and the operators of a system as JSON-like values."""
    return {
        "regime": experiment.regime.to_dict(),
        "augment": [operator.to_dict() for operator in experiment.augment],
    }


def values_of(point: Point, keys: Iterable[str]) -> dict[str, Any]:
    """Return the values that settings of a point's regime and operators have, by dotted key."""
    values = {}
    for key in keys:
        value: Any = point
        for part in key.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
        values[key] = list(value) if isinstance(value, tuple) else value
    return values


def with_values(point: Point, values: Values) -> dict[str, Any]:
    """Return a row of operators and a regime with other values of its main settings."""
    augment = [dict(part) for part in point.get("augment", ())]
    changed: dict[str, Any] = {**point, "augment": augment, "regime": dict(point["regime"])}
    for key, value in values.items():
        section, _, rest = key.partition(".")
        if section == "regime":
            changed["regime"][rest] = value
        else:
            place, _, setting = rest.partition(".")
            augment[int(place)][setting] = value
    return changed


def suggest(
    domains: Mapping[str, Any],
    scored: Sequence[tuple[Values, float]],
    count: int = SUGGESTED,
    *,
    mode: Literal["max", "min"],
) -> list[dict[str, Any]]:
    """Return points that are new, by Optuna's tree-structured Parzen estimator.

    `scored` are points with their scores; values outside the domains teach nothing. Fewer than
    `count` are returned where the domains have no more.
    """
    lists = {key: values for key, values in domains.items() if isinstance(values, Sequence)}
    by_key = distributions({key: domains[key] for key in domains if key not in lists}, lists)
    indexed = {key: list(values) for key, values in lists.items() if not storable(values)}
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction={"max": "maximize", "min": "minimize"}[mode])
    seed = seed_of("main settings", *sorted(domains), len(scored)) % 2**32
    study.sampler = optuna.samplers.TPESampler(
        seed=seed, n_startup_trials=STARTUP, constant_liar=True
    )
    for values, score in scored:
        params = {
            key: indexed[key].index(value) if key in indexed and value in indexed[key] else value
            for key, value in values.items()
        }
        if all(_is_of(by_key[key], params[key]) for key in by_key):
            study.add_trial(
                create_trial(
                    params=params, distributions=by_key, value=score, state=TrialState.COMPLETE
                )
            )
    known = [dict(values) for values, _ in scored]
    suggested: list[dict[str, Any]] = []
    for _ in range(10 * count):  # of lists, the same point may come again
        if len(suggested) == count:
            break
        asked = study.ask(by_key).params
        point = {
            key: indexed[key][value] if key in indexed else rounded(value)
            for key, value in asked.items()
        }
        if point not in known and point not in suggested:
            suggested.append(point)
    optuna.logging.set_verbosity(level)
    return suggested


def _is_of(distribution: BaseDistribution, value: Any) -> bool:
    """Return whether a value is one that a distribution can draw."""
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except (ValueError, TypeError):  # none of its choices
        return False

"""Find configurations that are the same experiment before anything runs, so that each is run
once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from augury.augment import pipeline
from augury.augment.mixins import Fitted
from augury.augment.operator import Operator
from augury.core.config import Section
from augury.core.naming import title
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.experiments.spec import SHARED, Experiment, last_stage, parse


class Canonical(NamedTuple):
    """An experiment in which settings without effect have their defaults, and the reasons."""

    experiment: Experiment
    reasons: dict[str, str]
    """Dotted key -> the reason why the setting has no effect."""


def canonical(experiment: Experiment, store: Store) -> Canonical:
    """Return the canonical form of an experiment, which is equal for all experiments that are the
    same.

    Sections say which of their settings have no effect (`Section.inactive`), operators which of
    their parameters make equal text (`Operator.canonical`), for which they may have to be fitted on
    the training text first. Of several stages the last one is returned, with those before it in
    canonical form too.
    """
    experiment = last_stage(experiment)
    content = experiment.to_dict()
    if before := experiment.before():
        plain = canonical(before, store).experiment.to_dict()
        content["stage"]["after"] = {
            key: value for key, value in plain.items() if key not in SHARED
        }
    reasons = dict(_inactive_settings(experiment))
    for key in reasons:
        _delete(content, key.split("."))
    result = parse(content)
    reduced = _canonical_operators(result, store)
    if tuple(reduced) != result.augment:
        shown = "; ".join(title(operator.to_dict()) for operator in reduced)
        reasons["augment"] = f"on this text it is the same as {shown}"
        result = parse({**content, "augment": [operator.to_dict() for operator in reduced]})
    return Canonical(result, reasons)


def _inactive_settings(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted keys of settings without effect, with the reason, in all sections."""
    if isinstance(value, Section):
        inactive = value.inactive()
        yield from ((f"{prefix}{name}", reason) for name, reason in inactive.items())
        for name in type(value).model_fields:
            if name not in inactive:
                yield from _inactive_settings(getattr(value, name), f"{prefix}{name}.")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _inactive_settings(item, f"{prefix}{index}.")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _inactive_settings(item, f"{prefix}{name}.")


def _delete(content: Any, path: Sequence[str]) -> None:
    for part in path[:-1]:
        content = content[int(part)] if isinstance(content, list) else content[part]
    del content[path[-1]]


def _canonical_operators(experiment: Experiment, store: Store) -> list[Operator]:
    """Return the operators, with parameters that make equal text written in one way."""
    return [_canonical_operator(operator, experiment, store) for operator in experiment.augment]


def _canonical_operator(operator: Operator, experiment: Experiment, store: Store) -> Operator:
    if not isinstance(operator, Fitted) or type(operator).canonical is Fitted.canonical:
        return operator
    train = cached_corpus(experiment.first().corpus, "train", store.root)
    return operator.canonical(pipeline.fit(train, operator, store, execution=experiment.execution))

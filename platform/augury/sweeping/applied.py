"""Put a search space on an experiment of the user's, in place of the space's own base.

The space brings what it asks about: its keys and rows, and the operators and the regime that they
vary. Corpus, vocabulary, model, training and seeds are the experiment's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from augury.augment.operator import OF_ANOTHER_TASK
from augury.core import config
from augury.core.errors import UserError
from augury.core.naming import title
from augury.experiments.spec import Experiment, parse
from augury.regimes import regime as regimes
from augury.regimes.regime import WarmupRegime
from augury.sweeping.declarations import Point
from augury.sweeping.space import Space

METHOD = ("augment", "mixture", "regime")
"""The sections that a space brings along, unless it varies none of them and the experiment has its
own."""

OWN = "systems of the experiment"
"""Their family."""


class LeftOut(NamedTuple):
    """A point, a key or a value of a space that an experiment does not allow."""

    name: str
    reason: str
    """Why, and which setting would allow it."""


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """Return a line for each reason, with all names that it concerns."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out:
        shared = OF_ANOTHER_TASK if reason.endswith(OF_ANOTHER_TASK) else reason
        names.setdefault(shared, []).append(name)
    return [f"left out: {', '.join(of_reason)}: {reason}" for reason, of_reason in names.items()]


def apply(space: Space, experiment: Experiment, file: str = "") -> tuple[Space, list[LeftOut]]:
    """Return a space with the settings of `experiment`, read from `file`, in place of its base, and
    what of it was left out.

    Keys whose section the experiment does not have, values that are not valid there, and rows that
    its task cannot read are left out. Raises UserError if nothing is left. Texts are not read.
    """
    if space.joins:
        early = {name: _with_early_onset(row, experiment) for name, row in space.rows.items()}
        space = replace(space, rows=early)
        own = _systems_of(experiment)
        # What else they change would not be that of a combination.
        alone = [name for name, row in own.items() if set(row) <= set(METHOD)]
        space = replace(
            space,
            rows={**space.rows, **own},
            families={**space.families, **dict.fromkeys(alone, OWN)},
        )
    refused: list[LeftOut] = []
    for base in _bases(space, experiment):
        keys, left_out = _keys(space, base)
        rows: dict[str, Point] = {}
        for name, row in space.rows.items():
            if reason := _refusal(base, row):
                left_out.append(LeftOut(name, reason))
            else:
                rows[name] = row
        if keys or rows:
            break
        refused += left_out
    else:
        reasons = "\n".join(f"  {name}: {reason}" for name, reason in dict.fromkeys(refused))
        raise UserError(
            f"nothing of search space '{space.name}' applies to experiment "
            f"'{experiment.name}':\n{reasons}"
        )
    reference = space.reference
    if (isinstance(reference, str) and reference not in rows) or (
        isinstance(reference, Mapping) and _refusal(base, reference)
    ):
        reference = next(iter(rows), None)
    metric, mode = experiment.validated
    applied = replace(
        space,
        base=base,
        scale=experiment.name,
        keys=keys,
        rows=rows,
        metric=metric,
        mode=mode,
        seeds=tuple(experiment.seeds),
        reference=reference,
        experiment=file or experiment.name,
    )
    return applied, left_out


def _with_early_onset(row: Point, experiment: Experiment) -> Point:
    """Return a row whose regime is complete for half of the training: a warm-up that suits a
    training from nothing can outlast the tuning of a pretrained model."""
    regime, epochs = row.get("regime"), experiment.training.max_epochs
    if regime is None or epochs is None:
        return row
    parsed = regimes.parse(regime)
    if not isinstance(parsed, WarmupRegime) or (parsed.warmup_epochs or 0) <= epochs / 2:
        return row
    return config.merge(row, {"regime.warmup_epochs": epochs / 2})


def _systems_of(experiment: Experiment) -> dict[str, Point]:
    """Return the systems of an experiment as rows, but for one that changes nothing."""
    plain: dict[str, Any] = {"augment": [], "mixture": {}, "regime": {"name": "plain"}}
    content = experiment.model_dump(mode="json", exclude_unset=True)
    own = {section: content[section] for section in METHOD if section in content}
    if not experiment.systems:
        return {experiment.name: {**plain, **own}} if own else {}
    rows: dict[str, Point] = {}
    for name, dotted in experiment.systems.items():
        if own or dotted:
            row = {**plain, **own, **dotted}
            if isinstance(row["regime"], str):  # the short form, which rows of spaces never have
                row["regime"] = {"name": row["regime"]}
            rows[name] = row
    return rows


def _bases(space: Space, experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield the experiment's settings with the method of the space and with its own, the likelier
    one first."""
    content = experiment.model_dump(mode="json", exclude_unset=True)
    own = {key: value for key, value in content.items() if key != "systems"}
    brought = {key: value for key, value in own.items() if key not in METHOD}
    brought |= {section: space.base[section] for section in METHOD if section in space.base}
    regime, chosen = brought.get("regime"), own.get("regime", {})
    if isinstance(regime, Mapping) and regime.get("name") == chosen.get("name"):
        # The same regime keeps what the user has set, such as when a divergence begins.
        brought["regime"] = {**regime, **chosen}
    varied = {key.partition(".")[0] for key in chain(space.keys, *space.rows.values())}
    has_own = not own.keys().isdisjoint(METHOD)
    yield from [own, brought] if has_own and varied.isdisjoint(METHOD) else [brought, own]


def _keys(space: Space, base: Mapping[str, Any]) -> tuple[dict[str, Sequence[Any]], list[LeftOut]]:
    """Return the keys of a space that an experiment has, with the values that it allows."""
    keys: dict[str, Sequence[Any]] = {}
    left_out: list[LeftOut] = []
    for key, values in space.keys.items():
        refusals = [_refusal(base, {key: value}) for value in values]
        allowed = [value for value, reason in zip(values, refusals, strict=True) if not reason]
        if allowed:
            keys[key] = allowed
        for value, reason in zip(values, refusals, strict=True):
            if reason and allowed:
                left_out.append(LeftOut(title({key: value}), reason))
        if not allowed:
            left_out.append(LeftOut(key, refusals[0] or ""))
    return keys, left_out


def _refusal(base: Mapping[str, Any], point: Point) -> str | None:
    """Return why the experiment is not valid at a point; None if it is."""
    content = config.merge(base, point)
    try:
        parse({**content, "baseline": False}, "the experiment")
    except UserError as error:
        return " ".join(str(error).removeprefix("the experiment is not valid:").split())
    return None

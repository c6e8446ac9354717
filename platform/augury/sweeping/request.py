"""What is asked of a sweep, by flags or in Python: its space and its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from augury.core.errors import UserError, unknown
from augury.core.messages import say
from augury.core.naming import file_name
from augury.experiments.spec import check_seeds
from augury.experiments.systems import load
from augury.sweeping import space as spaces
from augury.sweeping.applied import METHOD, apply, left_out_lines
from augury.sweeping.declarations import SchedulerName
from augury.sweeping.plan import SweepOptions
from augury.sweeping.schedulers import FRESH
from augury.sweeping.space import Space

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def prepare(
    space: str,
    experiment: str | Path | None = None,
    *,
    settings: Mapping[str, Any],
    scale: str | None = None,
    scheduler: SchedulerName | None = None,
    rows: Sequence[str] | None = None,
    confirm: int | None = None,
    **limits: Any,
) -> tuple[Space, SweepOptions]:
    """Return a space, on an experiment file where one is given, and the options of its sweep.

    `settings` override by dotted keys, as `--set` does; `limits` are further arguments of
    `options`. What is not given is as the space declares it.
    """
    # Mistakes in arguments are said before anything of the space.
    if not isinstance(settings, Mapping):
        raise UserError(f"settings are {settings!r}: give a mapping of dotted keys")
    seconds(limits.get("budget"))
    if scheduler is not None and scheduler not in get_args(SchedulerName):
        raise unknown("scheduler", str(scheduler), get_args(SchedulerName))
    if isinstance(rows, str):
        raise UserError(f"rows is '{rows}': give a list of names, such as ['{rows}']")
    found = ready = spaces.find(space, scale)
    if experiment:
        # What is set applies to the file first, but for the method, which the space brings.
        of_file = {key: settings[key] for key in settings if key.partition(".")[0] not in METHOD}
        ready, left_out = apply(found, load(experiment, of_file), str(experiment))
        for line in left_out_lines(item for item in left_out if not rows or item.name in rows):
            say(line)
    if rows:
        ready = _select_rows(ready, rows, {**found.rows, **ready.rows})
    return ready, options(
        ready,
        settings=settings,
        scheduler=scheduler or ready.scheduler,
        rows=tuple(rows or ()),
        confirm=FRESH if confirm is None else confirm,
        **limits,
    )


def options(
    space: Space,
    *,
    settings: Mapping[str, Any],
    storage: str | None = None,
    seeds: Sequence[int] | None = None,
    name: str | None = None,
    budget: str | None = None,
    executor: str | None = None,
    **others: Any,
) -> SweepOptions:
    """Return the options of a sweep; `settings` may have its storage, seeds and name too, `others`
    are fields of the options as they are."""
    assignments, usual = dict(settings), f"{space.name}-{space.scale}".replace("/", "-")
    if not space.experiment and any(key.partition(".")[0] == "systems" for key in settings):
        raise UserError("--set systems: a search space has rows in their place; choose by --rows")
    given: dict[str, Any] = {"storage": storage, "seeds": seeds, "name": name}
    for key in [key for key in given if key in assignments]:
        if given[key]:
            raise UserError(f"--set {key} and --{key} are the same: give one of them")
        given[key] = assignments.pop(key)
    if executor:
        assignments["execution.executor"] = executor
    return SweepOptions(
        storage=str(given["storage"] or space.base.get("storage", "results")),
        name=file_name(str(given["name"] or usual), "--name "),
        seeds=check_seeds(space.seeds if given["seeds"] is None else given["seeds"]),
        budget=seconds(budget),
        assignments=assignments,
        **others,
    )


def seconds(text: str | None) -> float | None:
    """Return a duration such as `90s`, `30m`, `2h` or `1d` in seconds."""
    if text is None:
        return None
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd])", str(text))
    if not parts:
        raise UserError(f"--budget '{text}': give a number and a unit, such as 90s, 30m, 2h or 1d")
    return float(parts[1]) * UNITS[parts[2]]


def _select_rows(space: Space, names: Sequence[str], known: Iterable[str]) -> Space:
    """Return a space with its reference and those of its rows that were named, without its keys;
    UserError for names that are not `known` ones, and where no row is left."""
    for name in names:
        if name not in {*known}:
            raise unknown(f"row of search space '{space.name}'", name, known)
    selected = {name: space.rows[name] for name in space.rows if name in (*names, space.reference)}
    if all(name == space.reference for name in selected):
        raise UserError(
            f"--rows {shlex.join(names)} leaves nothing to compare with {space.reference}: name "
            f"others of {', '.join(space.rows)}"
        )
    return replace(space, rows=selected, keys={})

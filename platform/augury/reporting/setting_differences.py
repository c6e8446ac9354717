"""The settings in which systems differ."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from augury.augment import operator
from augury.core import plugins
from augury.core.config import Section, flatten
from augury.core.errors import UserError
from augury.regimes.regime import REGIMES, Regime
from augury.reporting.numbers import MISSING
from augury.reporting.results import SystemResult
from augury.reporting.tables import Cell, Table, table

NAME = re.compile(r"regime\.name|augment\.\d+\.operator")
"""The settings whose value is a class that has further settings, with defaults."""


def differences(results: Sequence[SystemResult]) -> Table | None:
    """Return the settings that differ between the systems; None where there are none.

    Settings that some systems do not have, and that are the default of all others, are left out:
    the regime or the operator that brings them says as much.
    """
    described = [result for result in results if result.runs]
    parameters = [result.record.parameters for result in described]
    defaults = [_defaults(settings) for settings in parameters]
    rows = []
    for key in dict.fromkeys(key for settings in parameters for key in settings):
        values = [settings.get(key) for settings in parameters]
        known = [place for place, value in enumerate(values) if not _is_unset(value)]
        texts = {json.dumps(values[place], sort_keys=True, default=str) for place in known}
        same = len(texts) <= 1
        usual = all(key in defaults[at] and values[at] == defaults[at][key] for at in known)
        if not (same and (usual or len(known) == len(values))):
            rows.append([Cell(key, code=True), *map(_cell, values)])
    columns = ["setting", *(result.name for result in described)]
    return table(columns, rows, kind="words") if rows else None


def _is_unset(value: Any) -> bool:
    return value is None or value == [] or value == {}


def _cell(value: Any) -> Cell:
    if _is_unset(value):
        return Cell(MISSING)
    return Cell(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), code=True
    )


def _defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a system's regime and operators, by dotted key."""
    defaults: dict[str, Any] = {}
    for key, name in settings.items():
        if NAME.fullmatch(key) and (schema := _schema(key, str(name))):
            prefix = key.rpartition(".")[0]
            fields = {
                field: info.get_default(call_default_factory=True)
                for field, info in schema.model_fields.items()
                if not info.is_required() and f"{prefix}.{field}" != key
            }
            defaults |= flatten(fields, f"{prefix}.")
    return defaults


def _schema(key: str, name: str) -> type[Section] | None:
    """Return the class that a setting names; None where its file is gone."""
    try:
        if key == "regime.name":
            return plugins.resolve(REGIMES, Regime, "name", {"name": name})[0]
        return operator.schema(name)
    except UserError:
        return None

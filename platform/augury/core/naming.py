"""Short names for combinations of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FILE_NAME = r"^[\w-][\w.-]{0,99}$"
"""What names the files and folders of a storage: never hidden, never one outside."""
FILE_NAME_OF_ANY_LENGTH = r"^[\w-][\w.-]*$"
FILE_NAME_LENGTH = 100
"""`FILE_NAME` in two parts: pydantic takes 60 ms to compile its bounded repetition of letters."""
FILE_NAME_ALLOWS = "letters, digits, '_', '-' and, not first, '.', at most 100"
"""`FILE_NAME` in words."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 row` or `1,234 rows`; `plural` is that of a noun that does not end in `s` then."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def title(point: Mapping[str, Any]) -> str:
    """Return `beta=5, tau=1` for values by dotted key; keys with the same last part are written
    out."""
    short = [_last_part(key) for key in point]
    names = [
        last if short.count(last) == 1 else key for last, key in zip(short, point, strict=True)
    ]
    return ", ".join(
        f"{name}={_format(value)}" for name, value in zip(names, point.values(), strict=True)
    )


def _last_part(key: str) -> str:
    parts = [part for part in key.split(".") if not part.isdigit()]
    return parts[-1] if parts else key


def _format(value: Any) -> str:
    if isinstance(value, Mapping):
        name = value.get("name") or value.get("operator")
        rest = {key: item for key, item in value.items() if key not in ("name", "operator", "file")}
        if not name:
            return json.dumps(value, ensure_ascii=False)
        return f"{name}({title(rest)})" if rest else str(name)
    if isinstance(value, list | tuple):
        return "+".join(_format(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)

"""What a choice of settings is called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def title(point: Mapping[str, Any]) -> str:
    """`beta=5, tau=1`, of dotted keys; they keep as much of their dotted name as tells them apart."""
    short = [_last_word(key) for key in point]
    names = [last if short.count(last) == 1 else key for last, key in zip(short, point, strict=True)]
    return ", ".join(f"{name}={_said(value)}" for name, value in zip(names, point.values(), strict=True))


def _last_word(key: str) -> str:
    words = [part for part in key.split(".") if not part.isdigit()]
    return words[-1] if words else key


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        name = value.get("name") or value.get("operator")
        rest = {key: item for key, item in value.items() if key not in ("name", "operator", "file")}
        if not name:
            return json.dumps(value, ensure_ascii=False)
        return f"{name}({title(rest)})" if rest else str(name)
    if isinstance(value, list | tuple):
        return "+".join(_said(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)

"""Former names of settings, in experiment files and overrides, and of entries in stored files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.core.messages import say_once

RENAMED = {
    "max_passes": "max_epochs",
    "validate_every_passes": "validate_every_epochs",
    "warmup_passes": "warmup_epochs",
    "ramp_passes": "ramp_epochs",
}
"""Former name -> name of settings."""
_STORED = {"passes": "epochs", "passes_by_view": "epochs_by_view"}
"""Former name -> name of entries in the files of runs."""


def with_present_names(content: Any) -> Any:
    """Return a copy of nested settings with the present name of every key, dotted or not; a notice
    says once which name is a former one."""
    if isinstance(content, Mapping):
        return {_present(key): with_present_names(value) for key, value in content.items()}
    if isinstance(content, list):
        return [with_present_names(value) for value in content]
    return content


def with_present_entries(content: Any) -> Any:
    """Return a copy of the content of a run's file with the present name of every entry."""
    if not isinstance(content, Mapping):
        return content
    names = _STORED | RENAMED
    return {_renamed(key, names): with_present_entries(value) for key, value in content.items()}


def _present(key: Any) -> Any:
    name = str(key).rpartition(".")[2]
    if name in RENAMED:
        say_once(f"{name} is now called {RENAMED[name]}; the former name is read too")
    return _renamed(key, RENAMED)


def _renamed(key: Any, names: Mapping[str, str]) -> Any:
    """Return a key, dotted or not, with the present name of its last part."""
    section, dot, name = str(key).rpartition(".")
    return f"{section}{dot}{names[name]}" if name in names else key

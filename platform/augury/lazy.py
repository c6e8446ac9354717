"""Packages whose names are imported when they are asked for, so that reading settings loads no torch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def provide(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that has each name from one of its modules.

    No name may be a module's: importing that would put the module in the name's place.
    """
    assert not modules.keys() & set(modules.values()), f"{package}: a name is that of a module"

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return get

"""Lazy imports of the public names of a package, so that reading settings does not import torch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports each name from one of its modules on first
    access.

    No name may equal that of a module, since importing the module would replace it.
    """
    assert not modules.keys() & set(modules.values()), f"{package}: a name equals that of a module"

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return get

"""Lazy imports, so that a command imports only what it uses: reading settings needs no torch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
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


class LazyModule(ModuleType):
    """A module of that name, imported when something of it is first asked for.

    For a library that few of the functions of a module need, and that takes long to import. Type
    checkers see the import itself:

        if TYPE_CHECKING:
            import psutil
        else:
            psutil = LazyModule("psutil")
    """

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(_imported(self.__name__), name)  # asked for once
        return value

    def __reduce__(self) -> tuple[type[LazyModule], tuple[str]]:
        return LazyModule, (self.__name__,)


@contextmanager
def deferred(module: str, *functions: str) -> Iterator[None]:
    """Let what the block imports import a module only when something of it is asked for.

    For a module of the standard library that a library imports and hardly uses. `functions` are
    those that it imports by name.
    """
    if module in sys.modules:
        yield
        return
    lazy = LazyModule(module)
    if functions:
        lazy.__path__ = []  # which `from` asks for
    for name in functions:
        setattr(lazy, name, _function(module, name))
    sys.modules[module] = lazy
    try:
        yield
    finally:
        if sys.modules.get(module) is lazy:
            del sys.modules[module]


def _imported(name: str) -> ModuleType:
    if isinstance(sys.modules.get(name), LazyModule):  # in a block of `deferred`
        sys.modules.pop(name, None)
    return importlib.import_module(name)


def _function(module: str, name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(_imported(module), name)(*arguments, **options)

    return call

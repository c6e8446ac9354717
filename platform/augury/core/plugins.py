"""Registries of operators, regimes, metrics, tasks, analyses, search spaces and tables.

A plug-in is looked up by name among the built-in modules (those of a package that assign a certain
attribute), then among the entry points of installed packages; a path is that of a file
(`plugin_files`).
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from augury.core.config import Section
from augury.core.errors import UserError, nearest
from augury.core.plugin_files import file_of, is_path, load, reference, reference_of

FILE = "file"
"""Key under which a section defined by a file stores the reference to that file."""


@dataclass(frozen=True)
class Registry:
    """The registry of one type of plug-in, such as operators."""

    noun: str
    """Name of the plug-in type in messages and in the entry-point group."""
    package: str
    """Package that contains the built-in modules."""
    attribute: str
    """Top-level attribute that a plug-in module must assign."""
    contract: str
    """Completes "a plug-in file must ..." in error messages."""
    is_mapping: bool = False
    """Whether the attribute maps names to plug-ins, so that one module can define several."""

    def builtin(self) -> dict[str, str]:
        """Return the built-in names with their modules, which are only imported if
        `is_mapping`."""
        package = importlib.import_module(self.package)
        modules = _modules(self.package, tuple(package.__path__), self.attribute)
        if not self.is_mapping:
            return dict(modules)
        names: dict[str, str] = {}
        for module in modules.values():
            names |= dict.fromkeys(getattr(importlib.import_module(module), self.attribute), module)
        return names

    def names(self) -> list[str]:
        """Return all registered names, built-in ones first."""
        builtin = self.builtin()
        return [*builtin, *sorted(set(self._installed()) - builtin.keys())]

    def __contains__(self, name: str) -> bool:
        """Return whether a name is registered."""
        return name in self.builtin() or name in self._installed()

    def find(self, name: str) -> Any:
        """Return the plug-in with this name or at this path.

        Raises UserError if the name is unknown, or if the file cannot be imported, does not meet
        the contract or has changed since its reference was created.
        """
        if module := self.builtin().get(name):
            return self._extract(importlib.import_module(module), name)
        if is_path(name):
            return self._extract(load(self.reference(name)), name)
        if point := self._installed().get(name):
            try:
                plugin = point.load()
            except Exception as error:
                raise UserError(
                    f"{self.noun} '{name}' of {point.value} cannot be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
            return self._extract(plugin, name) if isinstance(plugin, ModuleType) else plugin
        raise self.unknown(name, self.names())

    def unknown(self, name: str, options: Iterable[str]) -> UserError:
        """Return the error for a name that is not among `options`, with how to use one's own."""
        hint = nearest(name, options)
        return UserError(
            f"unknown {self.noun} '{name}': {hint}{'' if hint.endswith('?') else '.'} To use your "
            f"own, give its path, ./{name}.py; the file must {self.contract}"
        )

    def reference(self, name: str) -> str:
        """Return a name as it is, and a path with the hash of its content, which pins it (see
        `reference`)."""
        if name in self.builtin() or not is_path(name):
            return name
        try:
            return reference(name)
        except FileNotFoundError as error:
            file = file_of(name)
            siblings = [str(sibling) for sibling in file.parent.glob("*.py")]
            close = nearest(str(file), siblings) if siblings else ""
            reason = f"there is no file {file}{f' ({close})' if close.endswith('?') else ''}"
            if file.is_dir():
                reason = f"{file} is a folder: give the file in it"
            raise UserError(
                f"no {self.noun} '{name}': {reason}. Built-in and installed: "
                f"{', '.join(self.names())}; a file of your own must {self.contract}"
            ) from error

    def _installed(self) -> dict[str, EntryPoint]:
        noun = self.noun.replace(" ", "_")
        group = f"augury.{noun[:-2]}es" if noun.endswith("is") else f"augury.{noun}s"
        return _installed(group, tuple(sys.path))

    def _extract(self, module: ModuleType, name: str) -> Any:
        """Return the plug-in that a module defines; raise UserError if it defines none."""
        try:
            value = getattr(module, self.attribute)
        except AttributeError as error:
            raise UserError(
                f"'{name}' does not define {self.attribute}: the file must {self.contract}"
            ) from error
        if not self.is_mapping:
            return value
        if isinstance(value, Mapping) and (name in value or len(value) == 1):
            return value.get(name, next(iter(value.values())))
        raise UserError(
            f"{self.attribute} of '{name}' is not one {self.noun}: the file must {self.contract}"
        )


class Extension(Section):
    """Settings whose class may be defined by a plug-in file, which is then serialised as `file`."""

    @classmethod
    def origin(cls) -> dict[str, str]:
        """Return `{"file": reference}` for a class that a plug-in file defines, and an empty
        dict otherwise."""
        reference = reference_of(cls.__module__)
        return {FILE: reference} if reference else {}

    @model_serializer(mode="wrap")
    def _with_origin(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**handler(self), **self.origin()}

    @model_validator(mode="before")
    @classmethod
    def _without_origin(cls, values: Any) -> Any:
        origin = cls.origin()
        if origin and isinstance(values, Mapping) and values.get(FILE) == origin[FILE]:
            return {key: value for key, value in values.items() if key != FILE}
        return values


def resolve(
    registry: Registry, base: type[Extension], key: str, values: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the class of the section described by `values`, and its settings; `key` holds its name
    or path.

    Raises UserError if there is no such class, or if it is abstract or not a subclass of `base`.
    """
    name = str(values[FILE]) if FILE in values else values[key]
    schema = registry.find(name)
    if not (isinstance(schema, type) and issubclass(schema, base)):
        raise UserError(
            f"'{name}' is not a valid {registry.noun}: its file must {registry.contract}"
        )
    if missing := sorted(getattr(schema, "__abstractmethods__", ())):
        raise UserError(
            f"'{name}' is not a valid {registry.noun}: {schema.__name__} does not define "
            f"{', '.join(missing)}"
        )
    settings = {setting: value for setting, value in values.items() if setting != FILE}
    if is_path(name) and schema.origin():
        default = schema.model_fields[key].get_default()
        settings[key] = default if isinstance(default, str) else file_of(name).stem
    return schema, settings


@lru_cache(maxsize=256)
def _modules(package: str, path: tuple[str, ...], attribute: str) -> Mapping[str, str]:
    """Return the short and full names of the modules of a package, whose directories are `path`,
    whose source assigns `attribute`."""
    modules: dict[str, str] = {}
    assigns = re.compile(rf"^{attribute}\b[^=\n]*=".encode(), re.MULTILINE)
    for module in iter_modules(path):
        place = Path(module.module_finder.path) / module.name  # type: ignore[union-attr]
        file = place / "__init__.py" if module.ispkg else place.with_suffix(".py")
        if assigns.search(file.read_bytes()):
            modules[module.name] = f"{package}.{module.name}"
    return modules


@lru_cache(maxsize=32)
def _installed(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; `path` is sys.path, which the cache depends
    on."""
    return {point.name: point for point in entry_points(group=group)}

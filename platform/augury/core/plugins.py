"""Finding operators, regimes, metrics, tasks, search spaces and tables, in three ways that look the same.

A name is looked up among the built-in ones, which are the modules of a package that define what one must define, and
among the entry points of installed packages. A path (`./mine.py`, or a directory for a package) is imported as a module
of this package whose name holds its path and the hash of its content: a class of it can be pickled to other processes,
and a file that has changed is another module.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from traceback import walk_tb
from types import CodeType, ModuleType
from typing import Any

from pydantic import GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from augury.core.config import Section
from augury.core.errors import UserError, nearest

__path__: list[str] = []  # files by their paths are modules below this one
FILE = "file"
"""The key under which a section that comes from a file says so."""
PATH_PATTERN = r"^[./~]|/$|\.py$"
"""What a path looks like, for JSON Schemas."""
_MODULE = re.compile(rf"{re.escape(__name__)}\.\w*?__([0-9a-f]{{16}})__([0-9a-f]+)")
_REFERENCE = re.compile(r"(.+)@([0-9a-f]{16})")


@dataclass(frozen=True)
class Kind:
    """One kind of thing that users can add: where it is found, and what a module must define to be one."""

    noun: str
    """What people call one."""
    package: str
    """The package whose modules are the built-in ones."""
    attribute: str
    """What a module that is one defines at its top level."""
    how: str
    """What one in a file of one's own does, for errors."""
    whole: bool = False
    """Whether the module itself is the thing, and not what the attribute holds."""
    several: bool = False
    """Whether the attribute holds a mapping of names to things."""
    depth: int = 0
    """How many packages stand above a built-in module and are part of its name."""

    @property
    def group(self) -> str:
        """Return the group of the entry points of installed packages."""
        return f"augury.{self.noun.replace(' ', '_')}s"

    def builtin(self) -> dict[str, str]:
        """Return the built-in names and their modules; nothing is imported but packages above them."""
        modules = _modules(self.package, self.attribute, self.depth)
        if not self.several:
            return modules
        return {
            name: module
            for module in modules.values()
            for name in getattr(importlib.import_module(module), self.attribute)
        }

    def names(self) -> list[str]:
        """Return all names there are, built-in ones first."""
        builtin = self.builtin()
        return [*builtin, *sorted(set(self._installed()) - builtin.keys())]

    def find(self, name: str) -> Any:
        """Return what `name` or the path `name` means.

        UserError where there is nothing of that name, and where a file cannot be read, is not one or has changed since
        the reference (see `reference`) to it was made.
        """
        if module := self.builtin().get(name):
            return self._held(importlib.import_module(module), name)
        if is_path(name):
            return self._held(load(self._at(name)), name)
        if points := self._installed().get(name):
            return self._loaded(points, name)
        hint = nearest(name, self.names())
        raise UserError(
            f"unknown {self.noun} '{name}': {hint}{'' if hint.endswith('?') else '.'} One of your own is given by its "
            f"path, ./{name}.py, and {self.how}"
        )

    def reference(self, name: str) -> str:
        """Return `name`, a path with the hash of what lies there, so that it means the same later and elsewhere."""
        return self._at(name) if is_path(name) and name not in self.builtin() else name

    def _at(self, path: str) -> str:
        """The reference to what lies at a path."""
        try:
            return reference(path)
        except FileNotFoundError as error:
            siblings = [str(file) for file in file_of(path).parent.glob("*.py")]
            close = nearest(error.filename, siblings) if siblings else ""
            hint = f", {close}" if close.endswith("?") else ""
            raise UserError(
                f"no {self.noun} '{path}': there is no file {error.filename}{hint}. By name there are "
                f"{', '.join(self.names())}; one of your own {self.how}"
            ) from error

    def _installed(self) -> dict[str, list[EntryPoint]]:
        return _installed(self.group, tuple(sys.path))

    def _loaded(self, points: Sequence[EntryPoint], name: str) -> Any:
        packages = sorted({point.dist.name if point.dist else point.value for point in points})
        if len(packages) > 1:
            raise UserError(
                f"{self.noun} '{name}' is in several packages: {', '.join(packages)}: uninstall all but one"
            )
        try:
            content = points[0].load()
        except Exception as error:
            raise UserError(
                f"{self.noun} '{name}' of package {packages[0]} cannot be read: {type(error).__name__}: {error}"
            ) from error
        return self._held(content, name) if isinstance(content, ModuleType) else content

    def _held(self, module: ModuleType, name: str) -> Any:
        """What a module defines; UserError where that is nothing."""
        try:
            content = getattr(module, self.attribute)
        except AttributeError as error:
            raise UserError(
                f"'{name}' is no {self.noun}, it defines no {self.attribute}: one of your own {self.how}"
            ) from error
        if self.whole:
            return module
        if not self.several:
            return content
        if not is_path(name) or name in content:
            return content[name]
        if len(content) != 1:
            raise UserError(f"'{name}' defines {len(content)} {self.noun}s in {self.attribute}: a file has one")
        return next(iter(content.values()))


class Extension(Section):
    """Settings whose class may come from a file, which they then name with the hash of its content under `file`."""

    @classmethod
    def origin(cls) -> dict[str, str]:
        """Return {file: path with hash} for a class that comes from a file, nothing for another one."""
        module = _MODULE.match(cls.__module__)
        return {FILE: f"{_path(module[2])}@{module[1]}"} if module else {}

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


@dataclass(frozen=True)
class Choice:
    """Says, in the annotation of a setting, that its sections are found by name, so that JSON Schemas list them."""

    kind: Kind
    key: str
    """The setting of a section that has its name or its path."""
    default: str | None = None
    """The name of a section that names none, if that is allowed; then a name alone is a section too."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        names = self.kind.names()
        path = {"type": "string", "pattern": PATH_PATTERN}
        classes = {name: self.kind.find(name) for name in names}
        by_name = [
            {
                "allOf": [section.__get_pydantic_json_schema__(section.__pydantic_core_schema__, handler)],
                "properties": {self.key: {"const": name}},
                "required": [] if name == self.default else [self.key],
            }
            for name, section in classes.items()
        ]
        by_path = {"type": "object", "properties": {self.key: path}, "required": [self.key]}
        name_alone = [{"enum": names}, path] if self.default else []
        return {"anyOf": [*name_alone, *by_name, by_path]}


def section(kind: Kind, base: type[Extension], key: str, values: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the class of the section that `values` describes and its settings; `key` has its name or its path.

    UserError where there is no such class, or where it does not derive from `base`.
    """
    name = str(values.get(FILE, values[key]))
    schema = kind.find(name)
    if not (isinstance(schema, type) and issubclass(schema, base)):
        raise UserError(f"'{name}' is no {kind.noun}: one of your own {kind.how}")
    if lacking := sorted(getattr(schema, "__abstractmethods__", ())):
        raise UserError(f"'{name}' is no {kind.noun}: {schema.__name__} does not define {', '.join(lacking)}")
    settings = {setting: value for setting, value in values.items() if setting != FILE}
    if is_path(name) and schema.origin():
        settings[key] = schema.model_fields[key].get_default() or file_of(name).stem
    return schema, settings


def is_path(name: str) -> bool:
    """Return whether a name is written as a path, perhaps with the hash of its content."""
    written = name.startswith((".", "/", "~")) or name.endswith((".py", "/")) or _REFERENCE.fullmatch(name)
    return bool(written) or ("/" in name and Path(name).exists())


def file_of(name: str) -> Path:
    """Return the absolute path that a path or a reference names."""
    path = _REFERENCE.fullmatch(name)
    return Path(path[1] if path else name).expanduser().absolute()


def reference(name: str) -> str:
    """Return the absolute path of a file or directory with the hash of its content: `/home/me/mine.py@1a2b...`.

    FileNotFoundError where nothing is there; UserError where `name` has a hash already and the content another one.
    """
    path, old = file_of(name), _REFERENCE.fullmatch(name)
    source = path / "__init__.py" if path.is_dir() else path
    if not source.is_file():
        raise FileNotFoundError(errno.ENOENT, "no such file", str(source))
    if old and old[2] != _content(path):
        raise _changed(path)
    return f"{path}@{_content(path)}"


def _changed(path: Path) -> UserError:
    return UserError(
        f"'{path}' is not what it was when the experiment began: restore it to go on with that (its runs keep it in "
        "their folders, plugins/), or give its path anew"
    )


def sources(settings: Any) -> dict[str, bytes]:
    """Return what the files hold that references in settings (JSON-like) name, by `<hash>/<name of the file>`."""
    if isinstance(settings, Mapping):
        return {name: held for item in settings.values() for name, held in sources(item).items()}
    if isinstance(settings, list | tuple):
        return {name: held for item in settings for name, held in sources(item).items()}
    named = _REFERENCE.fullmatch(settings) if isinstance(settings, str) else None
    if named is None or not Path(named[1]).exists():
        return {}
    path = Path(named[1])
    files = path.rglob("*.py") if path.is_dir() else [path]
    return {f"{named[2]}/{file.relative_to(path.parent).as_posix()}": file.read_bytes() for file in files}


def load(reference: str) -> ModuleType:
    """Return the module that a reference names; UserError where it cannot be imported."""
    path, _, content = reference.rpartition("@")
    stem = re.sub(r"\W", "_", Path(path).stem)
    try:
        return importlib.import_module(f"{__name__}.{stem}__{content}__{path.encode().hex()}")
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"'{path}' cannot be read: {told(error)}") from error


def told(error: BaseException) -> str:
    """Return the kind and the words of an error, and the place in a user's file that it comes from, if it does."""
    frames = [frame for frame in walk_tb(error.__traceback__) if _MODULE.match(str(frame[0].f_globals["__name__"]))]
    place = f" ({frames[-1][0].f_code.co_filename}, line {frames[-1][1]})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def short_name(module: ModuleType) -> str:
    """Return the name that a module had before it was imported by its path, or its own."""
    path = _MODULE.fullmatch(module.__name__)
    return _path(path[2]).stem if path else module.__name__


def _path(encoded: str) -> Path:
    return Path(bytes.fromhex(encoded).decode())


def _content(path: Path) -> str:
    """The hash of a file, or of all Python files in a directory."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    content = hashlib.blake2b(digest_size=8)
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else ""
        content.update(f"{name}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return content.hexdigest()


def _modules(package: str, attribute: str, depth: int) -> dict[str, str]:
    """Short and full name of every module in a package whose source defines `attribute`."""
    named: dict[str, str] = {}
    for module in iter_modules(_package(package).__path__):
        full = f"{package}.{module.name}"
        if depth and module.ispkg:
            named |= {f"{module.name}/{name}": below for name, below in _modules(full, attribute, depth - 1).items()}
        elif not depth:
            directory = Path(module.module_finder.path) / module.name  # type: ignore[union-attr]
            file = directory / "__init__.py" if module.ispkg else directory.with_suffix(".py")
            if _defines(file, attribute):
                named[module.name] = full
    return named


@lru_cache(maxsize=32)
def _installed(group: str, path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by their names, for as long as packages are looked for in the same directories."""
    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group):
        points.setdefault(point.name, []).append(point)
    return points


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise UserError(f"'{name}' cannot be imported: install Augury, or run from its root directory") from error


@lru_cache(maxsize=256)
def _defines(file: Path, attribute: str) -> bool:
    """Whether a module's source assigns to `attribute` at its top level; nothing is imported for that."""
    return re.search(rf"^{attribute}\b[^=\n]*=", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compile what the file holds now: a cached one might be of another content of equal size and time."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Files(MetaPathFinder):
    """Finds the modules whose names hold the path of a file and the hash of its content."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        module = _MODULE.fullmatch(fullname)
        if module is None:
            return None
        file, content = _path(module[2]), module[1]
        if not file.exists():
            raise UserError(f"there is no '{file}': every machine that takes part needs it at the same place")
        if _content(file) != content:
            raise _changed(file)
        source, inside = (file / "__init__.py", [str(file)]) if file.is_dir() else (file, None)
        loader = _Loader(fullname, str(source))
        return spec_from_file_location(fullname, source, loader=loader, submodule_search_locations=inside)


sys.meta_path.append(_Files())

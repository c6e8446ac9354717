"""Code and versions of this environment, and how they differ from those of another."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import platform
from collections.abc import Mapping
from pathlib import Path

from augury.core.errors import UserError

CODE = ("augury", "toy_languages", "trainables", "search_spaces")
"""The import packages of the project."""
DISTRIBUTIONS = (
    "ctranslate2",
    "mlflow",
    "numpy",
    "pyarrow",
    "ray",
    "sacrebleu",
    "sentencepiece",
    "tokenizers",
    "torch",
    "transformers",
)
"""What results and their records depend on."""


def packages() -> list[Path]:
    """Return the directories of the project's import packages, in a checkout or installed."""
    return [_directory(name) for name in CODE]


def _directory(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"the package '{name}' is not installed here: install Augury again")
    return Path(next(iter(spec.submodule_search_locations)))


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python, of the packages that matter, and a hash of the code."""
    installed = {name: _version(name) for name in DISTRIBUTIONS}
    return {"Python": platform.python_version(), **installed, "code of Augury": _code()}


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _code() -> str:
    digest = hashlib.sha256()
    for directory in packages():
        for file in sorted(directory.rglob("*.py")):
            digest.update(f"{file.relative_to(directory.parent)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def difference(client: str) -> str | None:
    """Return a warning where this environment differs from that of a client, given as JSON; None
    where it does not."""
    expected, here = json.loads(client), versions()
    differing = [
        f"{name} {here.get(name)} (client {version})"
        for name, version in expected.items()
        if here.get(name) != version
    ]
    if not differing:
        return None
    return (
        f"warning: this cluster differs from the client: {', '.join(differing)}: scores can differ "
        "by rounding, or more; install the same constraints.txt on both"
    )

"""The shape of the project: what would break it silently."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOTS = {
    "augury": ROOT / "platform" / "augury",
    "toy_languages": ROOT / "platform" / "toy_languages",
    "trainables": ROOT / "trainables",
    "search_spaces": ROOT / "search_spaces",
}


def test_platform_is_a_source_root_and_shadows_nothing() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    code = "import platform; print(platform.system())"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)


def test_every_data_file_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]
    installed: set[Path] = set()
    for package, listed in patterns.items():
        root, *below = package.split(".")
        for pattern in listed:
            installed |= set(ROOTS[root].joinpath(*below).glob(pattern))
    files = {path for root in ROOTS.values() for path in root.rglob("*.*")}
    assert {path for path in files if path.suffix not in (".py", ".pyc")} == installed


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {re.split(r"[\[>=]", name)[0].lower() for name in wanted}
    pinned = {
        line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()
    }
    assert names == pinned


def imported(path: Path, modules: Iterable[str]) -> set[str]:
    """The modules that a file imports, within functions and for type checking too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= parts.intersection(modules) or {str(node.module)}
    return names.intersection(modules)


def reached(module: str, imports: Mapping[str, set[str]]) -> set[str]:
    """The modules that a module imports, directly or through others."""
    known: set[str] = set()
    waiting = [module]
    while waiting:
        new = imports[waiting.pop()] - known
        known |= new
        waiting += new
    return known


def test_no_files_import_each_other_in_a_ring() -> None:
    modules: dict[str, Path] = {}
    for root in ROOTS.values():
        for path in root.rglob("*.py"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            modules[".".join(parts).removesuffix(".__init__")] = path
    imports = {name: imported(path, modules) for name, path in modules.items()}
    assert [name for name in modules if name in reached(name, imports)] == []

"""The shape of the project: what would break it silently."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_platform_is_a_source_root_and_shadows_nothing() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    printed = subprocess.run(
        [sys.executable, "-c", "import platform; print(platform.system())"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert printed.strip()


def test_dependencies_point_one_way() -> None:
    for path in (ROOT / "platform").rglob("*.py"):
        imported = _imports(path)
        assert not imported & {"trainables", "search_spaces"}, path
    for path in (ROOT / "trainables").rglob("*.py"):
        assert "search_spaces" not in _imports(path), path


def test_every_package_is_installed() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {
        ".".join(path.parent.relative_to(root).parts)
        for root, pattern in ((ROOT / "platform", "augury"), (ROOT, "trainables"), (ROOT, "search_spaces"))
        for path in (root / pattern).rglob("__init__.py")
    }
    assert found == listed


def test_every_data_file_is_installed() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    roots = {"augury": ROOT / "platform" / "augury", "trainables": ROOT / "trainables",
             "search_spaces": ROOT / "search_spaces"}  # fmt: skip
    packages = {package: roots[package.partition(".")[0]].joinpath(*package.split(".")[1:]) for package in patterns}
    installed = {
        path for package, listed in patterns.items() for each in listed for path in packages[package].glob(each)
    }
    beside = {path for root in roots.values() for path in root.rglob("*.*") if path.suffix not in (".py", ".pyc")}
    assert beside == installed


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {name.partition("[")[0].partition(">")[0].lower() for name in wanted}
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()}
    assert names == pinned


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names

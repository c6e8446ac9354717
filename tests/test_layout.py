"""The shape of the project: what would break it silently."""

from __future__ import annotations

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


def test_every_data_file_is_installed() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]
    roots = {
        "augury": ROOT / "platform" / "augury",
        "trainables": ROOT / "trainables",
        "search_spaces": ROOT / "search_spaces",
    }
    packages = {
        package: roots[package.partition(".")[0]].joinpath(*package.split(".")[1:])
        for package in patterns
    }
    installed = {
        path
        for package, listed in patterns.items()
        for pattern in listed
        for path in packages[package].glob(pattern)
    }
    beside = {
        path
        for root in roots.values()
        for path in root.rglob("*.*")
        if path.suffix not in (".py", ".pyc")
    }
    assert beside == installed


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    names = {name.partition("[")[0].partition(">")[0].lower() for name in wanted}
    pinned = {
        line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()
    }
    assert names == pinned

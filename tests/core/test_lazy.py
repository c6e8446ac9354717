"""Lazy imports."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from types import ModuleType

import pytest

from augury.core.lazy import LazyModule, deferred


def test_a_module_is_imported_when_something_of_it_is_asked_for() -> None:
    module = LazyModule("colorsys")
    sys.modules.pop("colorsys", None)
    assert "colorsys" not in sys.modules
    assert module.rgb_to_hls is not None and "colorsys" in sys.modules


def test_it_survives_pickling() -> None:
    module = pickle.loads(pickle.dumps(LazyModule("math")))
    assert module.floor(1.5) == 1


@pytest.fixture
def unimported(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that is not imported, and has a function."""
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    return "colorsys"


def test_a_deferred_module_is_imported_by_what_asks_for_it_later(unimported: str) -> None:
    with deferred(unimported):
        import colorsys
    assert unimported not in sys.modules
    assert colorsys.hsv_to_rgb(0, 0, 1) == (1, 1, 1)
    assert type(sys.modules[unimported]) is ModuleType


def test_functions_of_it_that_are_imported_by_name_are_deferred_too(unimported: str) -> None:
    with deferred(unimported, "hsv_to_rgb"):
        from colorsys import hsv_to_rgb
    assert unimported not in sys.modules
    assert hsv_to_rgb(0, 0, v=1) == (1, 1, 1)


def test_it_is_imported_at_once_where_the_block_asks_for_something_else(unimported: str) -> None:
    with deferred(unimported, "hsv_to_rgb"):
        from colorsys import ONE_THIRD
    assert ONE_THIRD == 1 / 3
    assert type(sys.modules[unimported]) is ModuleType


def test_it_is_imported_at_once_where_the_block_calls_a_function(unimported: str) -> None:
    with deferred(unimported, "hsv_to_rgb"):
        from colorsys import hsv_to_rgb

        assert hsv_to_rgb(0, 0, 1) == (1, 1, 1)
    assert type(sys.modules[unimported]) is ModuleType


def test_a_module_that_is_imported_stays(unimported: str) -> None:
    imported = importlib.import_module(unimported)
    with deferred(unimported):
        import colorsys
    assert colorsys is imported and sys.modules[unimported] is imported


@pytest.mark.parametrize(
    ("module", "not_imported"),
    [
        ("augury.decoding.ctranslate", "asyncio"),
        ("augury.core.config", "importlib.metadata"),
    ],
)
def test_libraries_are_imported_without_what_they_hardly_use(
    module: str, not_imported: str
) -> None:
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, augury.cli, {module}; print('{not_imported}' in sys.modules)",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert process.stdout == b"False\n"

"""Lazy imports."""

from __future__ import annotations

import pickle
import sys

from augury.core.lazy import LazyModule


def test_a_module_is_imported_when_something_of_it_is_asked_for() -> None:
    module = LazyModule("colorsys")
    sys.modules.pop("colorsys", None)
    assert "colorsys" not in sys.modules
    assert module.rgb_to_hls is not None and "colorsys" in sys.modules


def test_it_survives_pickling() -> None:
    module = pickle.loads(pickle.dumps(LazyModule("math")))
    assert module.floor(1.5) == 1

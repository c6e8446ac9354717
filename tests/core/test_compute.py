"""Arrow's functions by name: the same as in `pyarrow.compute`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from augury.core import compute

TEXTS = pa.array([" a b", "c ", None, "a"])
NUMBERS = pa.array([3, 1, 2])


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda of: of.utf8_length(TEXTS), id="no options"),
        pytest.param(lambda of: of.match_substring(TEXTS, "a"), id="an option by place"),
        pytest.param(lambda of: of.utf8_lpad(TEXTS, 8, "0"), id="two options by place"),
        pytest.param(lambda of: of.is_in(TEXTS, value_set=TEXTS[:1]), id="an option by name"),
        pytest.param(lambda of: of.match_substring(TEXTS, "A", ignore_case=True), id="both"),
        pytest.param(lambda of: of.binary_join_element_wise(TEXTS, TEXTS, "-"), id="any number"),
        pytest.param(lambda of: of.or_(of.is_null(TEXTS), of.equal(TEXTS, "a")), id="a keyword"),
        pytest.param(lambda of: of.cast(NUMBERS, pa.string()), id="cast"),
        pytest.param(lambda of: of.take(TEXTS, NUMBERS), id="take"),
        pytest.param(lambda of: of.filter(TEXTS, of.is_valid(TEXTS)), id="filter"),
        pytest.param(lambda of: of.sort_indices(NUMBERS), id="optional options"),
    ],
)
def test_functions_compute_what_those_of_pyarrow_do(use: Callable[[Any], pa.Array]) -> None:
    assert use(compute).equals(use(pc))


def test_a_cast_that_would_lose_something_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        compute.cast(pa.array([300]), pa.int8())


def test_a_function_that_has_no_options_takes_no_more_arguments() -> None:
    with pytest.raises(TypeError):
        compute.utf8_length(TEXTS, 1)


def test_other_names_are_no_attributes() -> None:
    assert not hasattr(compute, "no_function_of_arrow")


def test_functions_are_those_of_pyarrow_where_its_registry_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow._compute", ModuleType("pyarrow._compute"))
    compute._function.cache_clear()
    assert compute.utf8_length is pc.utf8_length
    compute._function.cache_clear()

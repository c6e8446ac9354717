from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.axes import Axis, axes, short_names


def axis(values: list[Any]) -> Axis:
    (result,) = axes(["regime.beta"], [{"regime.beta": value} for value in values])
    return result


@pytest.mark.parametrize(
    ("values", "kind", "ordered"),
    [
        ([5, 0, 1, 10, 2], "linear", (0, 1, 2, 5, 10)),
        ([1e-4, 5e-4, 3e-3], "log", (1e-4, 5e-4, 3e-3)),
        ([0.02, 0.2, 0.25, 0.3, 0.5], "linear", (0.02, 0.2, 0.25, 0.3, 0.5)),
        ([0, 0.1, 1, 10, 100], "ordinal", (0, 0.1, 1, 10, 100)),
        ([-1, 0, 100], "linear", (-1, 0, 100)),
        ([0.3], "linear", (0.3,)),
        (["rot", "eda", "rot"], "category", ("rot", "eda")),
        ([[1], [1, 2], [1]], "category", ([1], [1, 2])),
        ([True, False], "category", (True, False)),
        ([1, None], "category", (1, None)),
    ],
)
def test_values_choose_their_scale(values: list[Any], kind: str, ordered: tuple[Any, ...]) -> None:
    result = axis(values)
    assert (result.kind, result.values) == (kind, ordered)


def test_few_values_are_written_themselves() -> None:
    assert axis([0, 1, 2, 5, 10]).ticks() == {0.0: "0", 1.0: "1", 2.0: "2", 5.0: "5", 10.0: "10"}
    assert axis([1e-4, 5e-4, 3e-3]).ticks() == {1e-4: "0.0001", 5e-4: "0.0005", 3e-3: "0.003"}
    assert axis([0, 0.1, 1, 10, 100]).ticks() == {
        0.0: "0",
        1.0: "0.1",
        2.0: "1",
        3.0: "10",
        4.0: "100",
    }
    assert axis([[1], [1, 2]]).ticks() == {0.0: "1", 1.0: "1+2"}


def test_a_baseline_beside_the_space_has_no_rank() -> None:
    (result,) = axes(["regime.beta", "never"], [{}, {"regime.beta": 1}])
    assert (result.index({}), result.index({"regime.beta": 1}), result.values) == (None, 0, (1,))


def test_names_are_as_short_as_tells_them_apart() -> None:
    assert short_names(
        ["regime.beta", "augment.0.keys", "model.encoder.layers", "model.decoder.layers"]
    ) == [
        "beta",
        "keys",
        "model.encoder.layers",
        "model.decoder.layers",
    ]

from __future__ import annotations

import math

import pytest
import torch

from augury.regimes.perturbation import PerturbationSpace, Scope
from augury.regimes.regime import Embedded


def space(scope: Scope, ids: list[list[int]], size: int = 2) -> PerturbationSpace:
    """The space over sentences of these word ids; 0 is a pad."""
    words = torch.tensor(ids)
    return PerturbationSpace.of(Embedded(torch.ones(*words.shape, size), words, words != 0), scope)


def test_three_steps_of_a_third_of_the_radius_are_not_projected() -> None:
    """Their sum may exceed the radius by rounding, which is no projection."""
    perturbation_space = space("example", [[7]], size=3)
    values, gradient = perturbation_space.start(), torch.tensor([[[0.1, 0.7, -0.3]]])
    for _ in range(10):
        values = perturbation_space.step(values, gradient, 0.1)
    projected, changed = perturbation_space.project(values, 1)
    assert torch.equal(projected, values) and changed.tolist() == [False]


@pytest.mark.parametrize("nothing", [0.0, math.nan, math.inf, -math.inf])
def test_a_gradient_without_a_direction_takes_no_step_for_its_example_alone(nothing: float) -> None:
    both = space("example", [[7, 8], [7, 8]])
    gradient = torch.tensor([[[3.0, 0.0], [0.0, 4.0]], [[nothing, 0.0], [0.0, 0.0]]])
    values = both.step(torch.full((2, 2, 2), 0.5), gradient, 1)
    assert torch.allclose(values[0], torch.tensor([[1.1, 0.5], [0.5, 1.3]]))
    assert torch.equal(values[1], torch.full((2, 2), 0.5))


def test_which_examples_a_projection_changed() -> None:
    values = torch.tensor([[[3.0, 4.0], [0.0, 0.0]], [[0.6, 0.0], [0.8, 0.0]]])
    projected, changed = space("example", [[7, 8], [7, 9]]).project(values, 2)
    assert changed.tolist() == [True, False] and torch.equal(projected[1], values[1])
    assert torch.allclose(projected[0], torch.tensor([[1.2, 1.6], [0.0, 0.0]]))
    _, changed = space("matrix", [[7, 8], [7, 9]]).project(torch.full((3, 2), 3.0), 1)
    assert changed.tolist() == [True, True]  # of a single norm


@pytest.mark.parametrize("scope", ["example", "token", "matrix"])
def test_units_are_the_norms_of_the_embeddings_that_the_scope_names(scope: Scope) -> None:
    ids = torch.tensor([[5, 9, 5], [9, 0, 0]])
    table = torch.rand(10, 4)
    embedded = Embedded(table[ids], ids, ids != 0)
    real = table[ids] * embedded.mask.unsqueeze(-1)
    expected = {
        "example": real.norm(dim=(1, 2)),
        "token": real.norm(dim=2).flatten(),
        "matrix": table[[5, 9]].norm()[None],
    }
    unit = PerturbationSpace.of(embedded, scope).unit(embedded)
    torch.testing.assert_close(unit.flatten(), expected[scope])

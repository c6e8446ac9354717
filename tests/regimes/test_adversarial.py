from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augury.regimes import regime
from augury.regimes.adversarial import Adversarial, project, step
from augury.regimes.plain import Plain
from augury.regimes.regime import Embedded, Progress, Rows
from tests.regimes.words import PAD, SIZE, VOCABULARY, Batch, Words, sentences

SHARP = {"label_smoothing": 0.0}


class Straight:
    """One example of one word and two classes.

    The loss falls along (-3, -4) wherever the word is.
    """

    def __init__(self, head: tuple[float, float] = (3, 4)):
        self.module = nn.Linear(2, 2, bias=False)
        with torch.no_grad():
            self.module.weight.copy_(torch.tensor([[0.0, 0.0], head]))
        self.word, self.mask = torch.tensor([[[0.0, -0.5]]]), torch.tensor([[True]])
        self.seen: list[list[float]] = []

    def embedded(self, batch: object, view: int) -> Embedded:
        return Embedded(self.word, self.mask)

    def rows(self, batch: object, views: list[int], perturbation: Tensor | None = None) -> Rows:
        moved = torch.zeros_like(self.word) if perturbation is None else perturbation
        self.seen.append(moved.flatten().tolist())
        labels = torch.zeros(self.word.shape[1], dtype=torch.long)
        return Rows(self.word + moved, self.module.weight, None, labels)


@pytest.mark.parametrize(
    ("settings", "seen", "steps"),
    [
        ({"epsilon": 3.0}, [[0, 0], [0.6, 0.8], [1.2, 1.6], [1.8, 2.4]], 0),
        ({"epsilon": 2.0}, [[0, 0], [0.6, 0.8], [1.2, 1.6], [1.2, 1.6]], 1 / 3),
        ({"epsilon": 1.5, "alpha_share": 1.0}, [[0, 0], [0.3, 0.4], [0.6, 0.8], [0.9, 1.2]], 0),
        ({"preset": "fgm"}, [[0, 0], [1.8, 2.4]], 0),
        ({"clean_weight": 1, "steps": 1}, [[0, 0], [0.6, 0.8], [0, 0]], 0),
        ({}, [[0, 0], [0.6, 0.8], [1.2, 1.6], [1.8, 2.4]], 0),
        (
            {"relative": True, "epsilon": 3.0, "alpha": 2.0},
            [[0, 0], [0.6, 0.8], [0.9, 1.2], [0.9, 1.2]],
            2 / 3,
        ),
    ],
)
def test_perturbations_under_a_constant_gradient(
    settings: dict[str, object], seen: list[list[float]], steps: float
) -> None:
    chosen = regime.parse({"name": "adversarial", **settings, **SHARP})
    model = Straight()
    metrics = chosen.loss(model, None, Progress(0)).metrics
    assert model.seen == [pytest.approx(perturbation, abs=1e-6) for perturbation in seen]
    assert float(metrics["projected_steps"]) == pytest.approx(steps)
    length = torch.tensor(seen[-1] if any(seen[-1]) else seen[-2]).norm()
    assert float(metrics["perturbation"]) == pytest.approx(float(length) / 0.5, rel=1e-5)
    before, after = float(metrics["nll_before"]), float(metrics["nll"])
    assert before == pytest.approx(float(F.softplus(torch.tensor(-2.0)))) and after > before


def test_until_the_warm_up_ends_words_stay_where_they_are() -> None:
    chosen, model = Adversarial(epsilon=3.0, steps=1, warmup_steps=2, **SHARP), Straight()
    plain = Plain(**SHARP).loss(Straight(), None, Progress(0))
    for update in (0, 1):
        assert torch.equal(chosen.loss(model, None, Progress(update)).total, plain.total)
    assert model.seen == [[0, 0], [0, 0]]
    assert chosen.loss(model, None, Progress(2)).total > plain.total


def loss_at(model: Words, batch: Batch, perturbation: Tensor | None) -> Tensor:
    rows = model.rows(batch, [0], perturbation)
    return F.cross_entropy(rows.hidden[0] @ rows.weight.T + rows.bias, rows.labels, reduction="sum")


def naive_pgd(model: Words, batch: Batch, epsilon: float, alpha: float, steps: int) -> None:
    """Leaves the gradients in the parameters: `backward` throughout, and the parameters'
    gradients thrown away."""
    perturbation = torch.zeros(*batch.ids.shape, SIZE)
    for _ in range(steps):
        perturbation.requires_grad_()
        loss_at(model, batch, perturbation).backward()
        moved = perturbation.detach().clone()
        for example, ids in enumerate(batch.ids):
            gradient = perturbation.grad[example] * (ids != PAD).unsqueeze(-1)
            moved[example] += alpha * gradient / gradient.norm()
            if moved[example].norm() > epsilon:
                moved[example] *= epsilon / moved[example].norm()
        perturbation = moved
        model.module.zero_grad()
    loss_at(model, batch, perturbation).backward()


@pytest.mark.parametrize(
    ("epsilon", "alpha", "steps"), [(3.0, 1.0, 3), (0.5, 0.4, 4)], ids=["inside", "projected"]
)
def test_gradients_are_those_of_the_naive_loop(epsilon: float, alpha: float, steps: int) -> None:
    batch, ours, theirs = sentences(12), Words(), Words()
    attack = Adversarial(epsilon=epsilon, alpha=alpha, steps=steps, **SHARP)
    losses = attack.loss(ours, batch, Progress(0))
    assert all(parameter.grad is None for parameter in ours.module.parameters())
    losses.total.backward()
    naive_pgd(theirs, batch, epsilon, alpha, steps)
    for (name, parameter), expected in zip(
        ours.module.named_parameters(), theirs.module.parameters(), strict=True
    ):
        assert torch.allclose(parameter.grad, expected.grad, atol=1e-5), name
    assert bool(losses.metrics["projected_steps"] > 0) == (epsilon == 0.5)


@pytest.mark.parametrize("nothing", [0.0, math.nan, math.inf, -math.inf])
def test_a_gradient_without_a_direction_takes_no_step_for_its_example_alone(nothing: float) -> None:
    gradient = torch.tensor([[[3.0, 0.0], [0.0, 4.0]], [[nothing, 0.0], [0.0, 0.0]]])
    values = step(torch.full((2, 2, 2), 0.5), gradient, 1)
    assert torch.allclose(values[0], torch.tensor([[1.1, 0.5], [0.5, 1.3]]))
    assert torch.equal(values[1], torch.full((2, 2), 0.5))


def test_three_steps_of_a_third_of_the_radius_are_not_projected() -> None:
    """Their sum may exceed the radius by rounding, which is no projection."""
    values, gradient = torch.zeros(1, 1, 3), torch.tensor([[[0.1, 0.7, -0.3]]])
    for _ in range(10):
        values = step(values, gradient, 0.1)
    assert torch.equal(project(values, 1)[0], values)
    assert project(values, 0.5)[0].norm().item() == pytest.approx(0.5)


def test_an_example_is_attacked_alike_in_any_company_and_pads_are_left_alone() -> None:
    batch = sentences(6)
    chosen = Adversarial(epsilon=0.5, alpha=0.3, **SHARP)
    together = Words()
    total = float(chosen.loss(together, batch, Progress(0)).total.detach())
    final = together.perturbations[-1]
    assert final[batch.ids == PAD].count_nonzero() == 0
    totals = []
    for number, ids in enumerate(batch.ids):
        alone = Words()
        length = int((ids != PAD).sum())
        single = Batch(ids[None, :length], batch.labels[number : number + 1])
        totals.append(float(chosen.loss(alone, single, Progress(0)).total.detach()))
        assert torch.allclose(alone.perturbations[-1][0], final[number, :length], atol=1e-6)
    assert total == pytest.approx(sum(totals), rel=1e-5)


def test_the_attack_leaves_gradients_modes_and_frozen_parameters_as_they_were() -> None:
    model, batch = Words(dropout=0.1), sentences(4)
    model.module["positions"].requires_grad_(False)
    model.module["head"].eval()
    marks = [torch.ones_like(parameter) for parameter in model.module.parameters()]
    for parameter, mark in zip(model.module.parameters(), marks, strict=True):
        parameter.grad = mark
    trained = [parameter.requires_grad for parameter in model.module.parameters()]
    modes = [part.training for part in model.module.modules()]
    Adversarial().loss(model, batch, Progress(0))
    with pytest.raises(IndexError):  # a word beyond the vocabulary, met in the attack
        Adversarial().loss(model, Batch(batch.ids + VOCABULARY, batch.labels), Progress(0))
    assert [parameter.requires_grad for parameter in model.module.parameters()] == trained
    assert [part.training for part in model.module.modules()] == modes
    for parameter, mark in zip(model.module.parameters(), marks, strict=True):
        assert parameter.grad is mark and bool((mark == 1).all())

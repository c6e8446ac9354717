from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augury.core.errors import UserError
from augury.regimes import regime
from augury.regimes.adversarial import Adversarial
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
        self.word = torch.tensor([[[0.0, -0.5]]])
        self.seen: list[list[float]] = []

    def embedded(self, batch: object, view: int) -> Embedded:
        return Embedded(self.word, torch.tensor([[5]]), torch.tensor([[True]]))

    def rows(self, batch: object, views: list[int], perturbation: Tensor | None = None) -> Rows:
        moved = torch.zeros_like(self.word) if perturbation is None else perturbation
        self.seen.append(moved.flatten().tolist())
        return Rows(self.word + moved, self.module.weight, None, torch.tensor([0]))


@pytest.mark.parametrize(
    ("settings", "seen", "steps"),
    [
        ({"epsilon": 3.0}, [[0, 0], [0.6, 0.8], [1.2, 1.6], [1.8, 2.4]], 0),
        ({"epsilon": 2.0}, [[0, 0], [0.6, 0.8], [1.2, 1.6], [1.2, 1.6]], 1 / 3),
        ({"epsilon": 2.0, "steps": 2}, [[0, 0], [0.6, 0.8], [1.2, 1.6]], 0),
        ({"epsilon": 1.5, "alpha_share": 1.0}, [[0, 0], [0.3, 0.4], [0.6, 0.8], [0.9, 1.2]], 0),
        ({"epsilon": 3.0, "alpha_share": 1.5}, [[0, 0], [0.9, 1.2], [1.8, 2.4], [1.8, 2.4]], 1 / 3),
        ({"preset": "fgm"}, [[0, 0], [1.8, 2.4]], 0),
        ({"preset": "snippet"}, [[0, 0], [0.18, 0.24], [0.36, 0.48], [0.54, 0.72], [0, 0]], 0),
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
    assert float(metrics["projected"]) == (steps > 0)
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


def snippet_pgd(model: Words, batch: Batch, epsilon: float, alpha: float, steps: int) -> None:
    """The widely copied loop, which moves the embedding matrix and sums the clean and the last
    gradient."""
    weight = model.module["words"].weight
    loss_at(model, batch, None).backward()
    clean = {name: parameter.grad.clone() for name, parameter in model.module.named_parameters()}
    backup = weight.data.clone()
    for step in range(steps):
        norm = weight.grad.norm()
        if norm != 0:
            weight.data.add_(alpha * weight.grad / norm)
            moved = weight.data - backup
            if moved.norm() > epsilon:
                moved = epsilon * moved / moved.norm()
            weight.data = backup + moved
        if step != steps - 1:
            model.module.zero_grad()
        else:
            for name, parameter in model.module.named_parameters():
                parameter.grad = clean[name]
        loss_at(model, batch, None).backward()
    weight.data = backup


@pytest.mark.parametrize(
    ("naive", "settings"),
    [
        (naive_pgd, {"epsilon": 3.0, "alpha": 1.0, "steps": 3}),
        (naive_pgd, {"epsilon": 0.5, "alpha": 0.4, "steps": 4}),
        (snippet_pgd, {"epsilon": 1.0, "alpha": 0.3, "steps": 3}),
        (snippet_pgd, {"epsilon": 0.5, "alpha": 0.3, "steps": 3}),
    ],
)
def test_gradients_are_those_of_the_naive_loop(
    naive: Callable[..., None], settings: dict[str, float]
) -> None:
    batch = sentences(12)
    as_snippet = {"norm_scope": "matrix", "clean_weight": 1} if naive is snippet_pgd else {}
    ours, theirs = Words(), Words()
    losses = Adversarial(**settings, **as_snippet, **SHARP).loss(ours, batch, Progress(0))
    assert all(parameter.grad is None for parameter in ours.module.parameters())
    losses.total.backward()
    naive(theirs, batch, **settings)
    for (name, parameter), expected in zip(
        ours.module.named_parameters(), theirs.module.parameters(), strict=True
    ):
        assert torch.allclose(parameter.grad, expected.grad, atol=1e-5), name
    assert bool(losses.metrics["projected"] > 0) == (settings["epsilon"] == 0.5)


@pytest.mark.parametrize("scope", ["example", "token"])
def test_an_example_is_attacked_alike_in_any_company_and_pads_are_left_alone(scope: str) -> None:
    batch = sentences(6)
    chosen = Adversarial(epsilon=0.5, alpha=0.3, norm_scope=scope, **SHARP)
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


@pytest.mark.parametrize(
    ("settings", "inactive"),
    [
        ({"epsilon": 3.0}, {"epsilon"}),
        ({"epsilon": 2.9}, set()),
        ({"epsilon": 0.3, "alpha": 0.1}, {"epsilon"}),  # 3 · 0.1 exceeds 0.3 by rounding
        ({"epsilon": 3.0, "steps": 4}, set()),
        ({"epsilon": 1.0, "alpha_share": 1.0}, {"alpha"}),
        ({"epsilon": 1.0, "attack": "fgm"}, {"alpha", "alpha_share", "steps"}),
        ({}, set()),
    ],
)
def test_settings_without_effect(settings: dict[str, object], inactive: set[str]) -> None:
    assert set(Adversarial(**settings).inactive()) == inactive


@pytest.mark.parametrize("settings", [{"attack": "fgm"}, {"alpha_share": 0.5}])
def test_settings_that_do_not_fit_are_user_errors(settings: dict[str, object]) -> None:
    with pytest.raises(UserError, match="epsilon"):
        regime.parse({"name": "adversarial", **settings})

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.regimes import regime
from augury.regimes.adversarial import Adversarial
from augury.regimes.plain import Plain
from augury.regimes.regime import SOURCE, TARGET, Embedded, Progress, Rows, ViewGroup
from augury.training import history
from tests.regimes import words
from tests.regimes.words import Batch, Words, sentences

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


def test_without_a_gradient_there_is_no_step_and_no_nan() -> None:
    model = Straight(head=(0, 0))
    losses = Adversarial(**SHARP).loss(model, None, Progress(0))
    assert model.seen == [[0, 0]] * 4 and float(losses.metrics["perturbation"]) == 0
    assert float(losses.total.detach()) == pytest.approx(0.693147, abs=1e-6)


# Against the loops as they are usually written


def loss_at(model: Words, batch: Batch, perturbation: Tensor | None) -> Tensor:
    rows = model.rows(batch, [0], perturbation)
    return F.cross_entropy(rows.hidden[0] @ rows.weight.T + rows.bias, rows.labels, reduction="sum")


def naive_pgd(model: Words, batch: Batch, epsilon: float, alpha: float, steps: int) -> None:
    """Leaves the gradients in the parameters: `backward` throughout, and the parameters'
    gradients thrown away."""
    perturbation = torch.zeros(*batch.ids.shape, words.SIZE)
    for _ in range(steps):
        perturbation.requires_grad_()
        loss_at(model, batch, perturbation).backward()
        moved = perturbation.detach().clone()
        for example, ids in enumerate(batch.ids):
            gradient = perturbation.grad[example] * (ids != words.PAD).unsqueeze(-1)
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
    assert final[batch.ids == words.PAD].count_nonzero() == 0
    totals = []
    for number, ids in enumerate(batch.ids):
        alone = Words()
        length = int((ids != words.PAD).sum())
        single = Batch(ids[None, :length], batch.labels[number : number + 1])
        totals.append(float(chosen.loss(alone, single, Progress(0)).total.detach()))
        assert torch.allclose(alone.perturbations[-1][0], final[number, :length], atol=1e-6)
    assert total == pytest.approx(sum(totals), rel=1e-5)


def test_a_tiny_ball_gives_the_gradients_of_the_plain_loss() -> None:
    batch = sentences(6)
    attacked, plain = Words(), Words()
    Adversarial(epsilon=1e-6).loss(attacked, batch, Progress(0)).total.backward()
    losses = Plain().loss(plain, batch, Progress(0))
    losses.total.backward()
    for parameter, expected in zip(
        attacked.module.parameters(), plain.module.parameters(), strict=True
    ):
        assert torch.allclose(parameter.grad, expected.grad, atol=1e-5)
    assert losses.divisor == 6


def test_the_attack_leaves_gradients_modes_and_frozen_parameters_as_they_were() -> None:
    model, batch = Words(dropout=0.1), sentences(4)
    model.module["positions"].requires_grad_(False)
    model.module["head"].eval()
    marks = [torch.ones_like(parameter) for parameter in model.module.parameters()]
    for parameter, mark in zip(model.module.parameters(), marks, strict=True):
        parameter.grad = mark
    trained = [parameter.requires_grad for parameter in model.module.parameters()]
    modes = [part.training for part in model.module.modules()]
    Adversarial(attack_dropout=False).loss(model, batch, Progress(0))
    with pytest.raises(IndexError):  # a word beyond the vocabulary, met in the attack
        Adversarial(attack_dropout=False).loss(
            model, Batch(batch.ids + words.VOCABULARY, batch.labels), Progress(0)
        )
    assert [parameter.requires_grad for parameter in model.module.parameters()] == trained
    assert [part.training for part in model.module.modules()] == modes
    for parameter, mark in zip(model.module.parameters(), marks, strict=True):
        assert parameter.grad is mark and bool((mark == 1).all())


def test_an_attack_without_dropout_is_that_on_the_model_at_rest() -> None:
    batch = sentences(5)
    resting, trained = Words(dropout=0.5), Words(dropout=0.5)
    resting.module.eval()
    for model in (resting, trained):
        Adversarial(attack_dropout=False).loss(model, batch, Progress(0))
    assert torch.equal(trained.perturbations[-1], resting.perturbations[-1])
    torch.manual_seed(1)
    Adversarial().loss(trained, batch, Progress(0))
    assert not torch.allclose(trained.perturbations[-1], resting.perturbations[-1], atol=1e-3)


def test_an_attack_in_bf16_goes_nearly_the_same_way_and_training_does_not() -> None:
    batch, model = sentences(5), Words()
    Adversarial(epsilon=1.0).loss(model, batch, Progress(0))
    losses = Adversarial(epsilon=1.0, attack_precision="bf16").loss(model, batch, Progress(0))
    exact, rounded = model.perturbations[3], model.perturbations[7]
    assert not torch.equal(exact, rounded)
    assert torch.cosine_similarity(exact.flatten(), rounded.flatten(), dim=0) > 0.999
    assert losses.total.dtype == torch.float32


def test_a_random_start_changes_the_first_epoch_alone_by_chance() -> None:
    model, batch = Words(), sentences(5)
    for _ in range(2):
        torch.manual_seed(3)
        Adversarial(epsilon=1.0, init_magnitude=0.5).loss(model, batch, Progress(0))
    first, again = model.perturbations[:4], model.perturbations[4:]
    assert all(
        torch.equal(perturbation, repeated)
        for perturbation, repeated in zip(first, again, strict=True)
    )
    assert 0 < float(first[0].flatten(1).norm(dim=1).max()) <= 0.5
    assert first[0][batch.ids == words.PAD].count_nonzero() == 0


def test_under_autocast_perturbations_stay_in_float32_and_full_length() -> None:
    model, batch = Words(), sentences(5)
    with torch.autocast("cpu", torch.bfloat16):
        losses = Adversarial(**SHARP, attack="fgm", epsilon=0.5).loss(model, batch, Progress(0))
    losses.total.backward()
    final = model.perturbations[-1]
    assert final.dtype == torch.float32
    assert torch.allclose(final.flatten(1).norm(dim=1), torch.tensor(0.5), rtol=1e-4)
    exact = Words()
    Adversarial(**SHARP, attack="fgm", epsilon=0.5).loss(exact, batch, Progress(0))
    along = F.cosine_similarity(final.flatten(1), exact.perturbations[-1].flatten(1))
    assert float(along.min()) > 0.98


@pytest.mark.parametrize("scope", ["example", "token", "matrix"])
def test_a_relative_step_is_a_share_of_the_embeddings_that_the_scope_names(scope: str) -> None:
    model, batch = Words(), sentences(5)
    embedded = model.embedded(batch, 0)
    settings = {**SHARP, "attack": "fgm", "epsilon": 0.25, "relative": True, "norm_scope": scope}
    metrics = Adversarial.model_validate(settings).loss(model, batch, Progress(0)).metrics
    final = model.perturbations[-1]
    if scope == "matrix":  # equal words are moved alike, however often they occur
        distinct = {int(word): index for index, word in enumerate(batch.ids.flatten())}
        places = [index for word, index in distinct.items() if word != words.PAD]
        moved, norm = (
            final.flatten(0, 1)[places].norm(),
            embedded.embeddings.flatten(0, 1)[places].norm(),
        )
        assert float(moved / norm) == pytest.approx(0.25, rel=1e-4)
    else:
        dims = (1, 2) if scope == "example" else (2,)
        real = embedded.mask.any(1) if scope == "example" else embedded.mask
        norms = (embedded.embeddings * embedded.mask.unsqueeze(-1)).norm(dim=dims)
        assert torch.allclose(
            final.norm(dim=dims)[real] / norms[real], torch.tensor(0.25), rtol=1e-4
        )
        assert float(metrics["perturbation"]) == pytest.approx(0.25 * 5, rel=1e-3)


# In training


@pytest.mark.trains
@pytest.mark.slow
def test_two_workers_train_as_one_with_accumulation_and_log_the_attack(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, words.__file__, str(tmp_path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    alone = words.TRAINING.model_copy(update={"accumulation": 2})
    words.train(str(tmp_path / "alone"), Adversarial(epsilon=0.5, alpha=0.3), alone)
    parallel_weights, single_weights = (
        load_file(tmp_path / part / "weights.safetensors") for part in ("run", "alone/run")
    )
    fresh = Words().module.state_dict()
    for name, expected in single_weights.items():
        assert torch.allclose(parallel_weights[name], expected, atol=1e-5), name
        assert not torch.allclose(fresh[name], expected, atol=1e-3), name
    metrics = history.read(Folder(str(tmp_path / "alone"), "run"))
    logged = [record["metrics"] for record in metrics if "train/projected" in record["metrics"]]
    assert logged and all(
        0 < values["train/projected"] <= 1 and values["train/nll_before"] < values["train/nll"]
        for values in logged
    )


# Configuration


def test_draws_make_every_view_an_example() -> None:
    assert Adversarial().view_groups(["rot-1"]) == [
        ViewGroup((SOURCE,), TARGET),
        ViewGroup(("rot-1",), TARGET),
    ]
    assert Adversarial().view_groups([]) == Plain().view_groups([])


def test_presets() -> None:
    paper, snippet, fgm = (
        regime.parse({"name": "adversarial", "preset": preset})
        for preset in ("paper", "snippet", "fgm")
    )
    assert paper == Adversarial(
        epsilon=3, alpha=1, steps=3, norm_scope="example", clean_weight=0, init_magnitude=0
    )
    assert snippet == Adversarial(
        epsilon=1, alpha=0.3, steps=3, norm_scope="matrix", clean_weight=1
    )
    assert fgm == Adversarial(attack="fgm", epsilon=3)


@pytest.mark.parametrize(
    ("settings", "inactive"),
    [
        ({"epsilon": 3.0}, {"epsilon"}),
        ({"epsilon": 5.0}, {"epsilon"}),
        ({"epsilon": 2.9}, set()),
        ({"epsilon": 0.3, "alpha": 0.1}, {"epsilon"}),  # 3 · 0.1 exceeds 0.3 by rounding
        ({"epsilon": 3.0, "init_magnitude": 0.1}, set()),
        ({"epsilon": 3.0, "steps": 4}, set()),
        ({"epsilon": 1.0, "alpha_share": 1.0}, {"alpha"}),
        ({"epsilon": 1.0, "attack": "fgm"}, {"alpha", "alpha_share", "steps"}),
        ({}, set()),
    ],
)
def test_settings_without_effect(settings: dict[str, object], inactive: set[str]) -> None:
    assert set(Adversarial(**settings).inactive()) == inactive


def test_a_setting_without_effect_changes_nothing_at_its_default() -> None:
    batch, seen = sentences(4), []
    for settings in ({"epsilon": 10.0, "alpha": 2.0, "steps": 4}, {"alpha": 2.0, "steps": 4}):
        model = Words()
        Adversarial(**settings).loss(model, batch, Progress(0))
        seen.append(model.perturbations[-1])
    assert torch.equal(*seen) and float(seen[0].flatten(1).norm(dim=1).min()) > 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attack": "fgm"}, "fgm needs epsilon"),
        ({"alpha_share": 0.5}, "alpha_share is a fraction of epsilon"),
        ({"epsilon": 1, "init_magnitude": 2}, "init_magnitude=2 exceeds epsilon=1"),
        ({"epsilon": 0}, "epsilon = 0"),
        ({"steps": 0}, "steps = 0"),
        ({"epsilom": 1}, "did you mean 'epsilon'"),
    ],
)
def test_settings_that_do_not_fit_are_user_errors(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        regime.parse({"name": "adversarial", **settings})


def test_the_attack_is_no_regime_of_its_own() -> None:
    assert regime.names() == ["adversarial", "coregularised", "multi_source", "plain"]

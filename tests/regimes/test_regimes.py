from __future__ import annotations

import importlib.metadata
import math
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from augury.core import plugins
from augury.core.errors import UserError
from augury.regimes import regime
from augury.regimes.coregularised import CoRegularised
from augury.regimes.multi_source import MultiSource
from augury.regimes.plain import Plain
from augury.regimes.regime import (
    SOURCE,
    TARGET,
    Progress,
    Rows,
    ViewGroup,
    reads_per_epoch,
)


class Fixed:
    """A model whose logits are given: the hidden state is the logits and the head is the
    identity."""

    def __init__(self, *views: list[list[float]], labels: list[int]):
        self.logits = torch.tensor(views, dtype=torch.float64).log().requires_grad_()
        self.labels = torch.tensor(labels)
        self.computed: list[list[int]] = []

    def rows(self, batch: object, views: list[int]) -> Rows:
        self.computed.append(list(views))
        return Rows(self.logits[list(views)], torch.eye(3, dtype=torch.float64), None, self.labels)


PLAIN = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]
CIPHER = [[0.4, 0.4, 0.2], [0.2, 0.6, 0.2]]
BATCH = SimpleNamespace()


def loss_of(losses: regime.Losses) -> float:
    return float(losses.total) / losses.divisor


def two_views() -> Fixed:
    return Fixed(PLAIN, CIPHER, labels=[0, 1])


def test_co_regularised_goldens() -> None:
    chosen = CoRegularised(beta=5, warmup_steps=0, label_smoothing=0)
    losses = chosen.loss(two_views(), BATCH, Progress(0))
    assert float(losses.total) == pytest.approx(3.436921, abs=1e-6)
    assert loss_of(losses) == pytest.approx(0.859230, abs=1e-6)
    assert float(losses.metrics["nll"]) == pytest.approx(0.579818, abs=1e-6)
    assert float(losses.metrics["nll_view"]) == pytest.approx(1.427116, abs=1e-6)
    assert float(losses.metrics["divergence"]) == pytest.approx(0.285997, abs=1e-6)
    once = chosen.model_copy(update={"norm": 1.0}).loss(two_views(), BATCH, Progress(0))
    assert loss_of(once) == pytest.approx(1.718460, abs=1e-6)


def test_alphas_weigh_the_views() -> None:
    chosen = CoRegularised(alpha1=2, alpha2=0.5, beta=0, warmup_steps=0, label_smoothing=0, norm=1)
    assert float(chosen.loss(two_views(), BATCH, Progress(0)).total) == pytest.approx(
        2 * 0.579818 + 0.5 * 1.427116, abs=1e-5
    )


def test_warm_up_trains_both_views_without_the_divergence() -> None:
    chosen = CoRegularised(beta=5, warmup_steps=10, label_smoothing=0)
    model = two_views()
    assert float(chosen.loss(model, BATCH, Progress(9)).total) == pytest.approx(
        0.579818 + 1.427116, abs=1e-5
    )
    assert float(chosen.loss(model, BATCH, Progress(10)).total) == pytest.approx(3.436921, abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "betas"),
    [
        ({"warmup_epochs": 10}, {0: 0, 9.99: 0, 10: 5, 99: 5}),
        ({"warmup_epochs": 10, "ramp_epochs": 20}, {9: 0, 10: 0, 15: 1.25, 20: 2.5, 30: 5, 40: 5}),
        ({"warmup_steps": 0}, {0: 5}),
    ],
)
def test_the_divergence_begins_and_rises_by_epochs(
    settings: dict[str, float], betas: dict[float, float]
) -> None:
    chosen = CoRegularised(beta=5, **settings)  # type: ignore[arg-type]
    assert {epochs: chosen.beta_at(Progress(7, epochs)) for epochs in betas} == pytest.approx(betas)


@pytest.mark.parametrize(("onset", "late"), [(0, False), (50, False), (51, True), (100, True)])
def test_a_loss_that_acts_in_less_than_half_of_the_training_is_late(
    onset: float, late: bool
) -> None:
    assert bool(regime.late_onset(onset, last=100)) == late


@pytest.mark.parametrize(
    ("settings", "onset"),
    [
        ({"warmup_steps": 70}, 70),
        ({"warmup_epochs": 10}, 500),
        ({"warmup_epochs": 10, "ramp_epochs": 5}, 750),
        ({"warmup_epochs": 10, "beta": 0}, 0),
    ],
)
def test_the_onset_is_told_in_updates(settings: dict[str, float], onset: float) -> None:
    assert CoRegularised(**settings).onset(updates_per_epoch=50) == onset  # type: ignore[arg-type]


def test_warm_up_of_the_released_code_reads_the_cipher_alone() -> None:
    chosen = regime.parse(
        {"name": "coregularised", "preset": "released_code", "label_smoothing": 0}
    )
    model = two_views()
    losses = chosen.loss(model, BATCH, Progress(499))
    assert model.computed == [[1]]
    assert loss_of(losses) == pytest.approx(1.427116 / 2, abs=1e-6)
    assert chosen.loss(model, BATCH, Progress(500)).divisor == 4


def test_plain_smooths_like_fairseq() -> None:
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0], dtype=torch.float64)

    class One:
        def rows(self, batch: object, views: list[int]) -> Rows:
            return Rows(
                logits[None, None], torch.eye(4, dtype=torch.float64), None, torch.tensor([0])
            )

    assert loss_of(Plain(label_smoothing=0.1).loss(One(), BATCH, Progress(0))) == pytest.approx(
        0.640190, abs=1e-6
    )
    uniform = CoRegularised(over="identity", smoothing="uniform", beta=0, warmup_steps=0, norm=1)

    class Two(One):
        def rows(self, batch: object, views: list[int]) -> Rows:
            return Rows(
                logits.expand(2, 1, 4), torch.eye(4, dtype=torch.float64), None, torch.tensor([0])
            )

    assert loss_of(uniform.loss(Two(), BATCH, Progress(0))) == pytest.approx(2 * 0.590190, abs=1e-6)


def test_gradients_reach_both_views_and_stop_where_they_agree() -> None:
    chosen = CoRegularised(alpha1=0, alpha2=0, beta=1, warmup_steps=0)
    model = two_views()
    chosen.loss(model, BATCH, Progress(0)).total.backward()
    gradient: Tensor = model.logits.grad  # type: ignore[assignment]
    assert gradient[0].abs().max() > 1e-3 and gradient[1].abs().max() > 1e-3
    agreeing = Fixed(PLAIN, PLAIN, labels=[0, 1])
    chosen.loss(agreeing, BATCH, Progress(0)).total.backward()
    assert float(agreeing.logits.grad.abs().max()) < 1e-12  # type: ignore[union-attr]


def test_draws_count_the_examples_of_equations_one_and_two() -> None:
    two, five = ["rot-1", "rot-2"], [f"rot-{key}" for key in range(1, 6)]
    assert [100 * len(MultiSource(equation=equation).view_groups(two)) for equation in (1, 2)] == [
        300,
        500,
    ]
    assert [100 * len(MultiSource(equation=equation).view_groups(five)) for equation in (1, 2)] == [
        600,
        1100,
    ]
    assert MultiSource(equation=2).view_groups(["rot-1"]) == [
        ViewGroup((SOURCE,), TARGET),
        ViewGroup(("rot-1",), TARGET),
        ViewGroup(("rot-1",), SOURCE),
    ]
    assert CoRegularised().view_groups(two) == [
        ViewGroup((SOURCE, "rot-1"), TARGET),
        ViewGroup((SOURCE, "rot-2"), TARGET),
    ]
    assert CoRegularised(over="identity").view_groups([]) == [ViewGroup((SOURCE, SOURCE), TARGET)]
    assert Plain().view_groups(two) == [ViewGroup((SOURCE,), TARGET)]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("r_drop", "regime: {name: coregularised, preset: r_drop}"),
        ("R-Drop", "regime: {name: coregularised, preset: r_drop}"),
        ("fgm", "regime: {name: adversarial, preset: fgm}"),
    ],
)
def test_a_preset_given_as_a_regime_is_named_with_its_regime(name: str, written: str) -> None:
    with pytest.raises(UserError) as error:
        regime.parse(name)
    assert written in str(error.value)


def test_r_drop_preset() -> None:
    chosen = regime.parse({"name": "coregularised", "preset": "r_drop"})
    assert isinstance(chosen, CoRegularised)
    assert (chosen.over, chosen.norm, chosen.beta, chosen.smoothing) == (
        "identity",
        1.0,
        5.0,
        "uniform",
    )
    assert math.isclose(chosen.tau, 1.0)


def test_errors_name_what_is_nearest_and_what_is_missing() -> None:
    with pytest.raises(
        UserError, match="unknown regime 'coregularized': did you mean 'coregularised'?"
    ):
        regime.parse("coregularized")
    with pytest.raises(UserError, match=r"unknown key 'betta': did you mean 'beta'\?"):
        regime.parse({"name": "coregularised", "betta": 1})
    with pytest.raises(UserError, match="unknown preset of regime coregularised 'papper'"):
        regime.parse({"name": "coregularised", "preset": "papper"})

    for needing in (CoRegularised(), MultiSource()):
        with pytest.raises(UserError, match=r"keys: \[1, 2\]"):
            needing.view_groups([])


def test_views_are_counted_in_their_order() -> None:
    """Not in that of a set, which differs between processes: equal runs have equal files."""
    names = [SOURCE, *(f"rot-{key}" for key in range(1, 9))]
    groups = [ViewGroup(tuple(names), TARGET)]
    assert list(reads_per_epoch(groups)) == [(name, TARGET) for name in names]


def test_a_built_in_regime_is_found_without_reading_entry_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(**_: object) -> None:
        raise AssertionError("the metadata of every installed package is read, which is slow")

    monkeypatch.setattr(importlib.metadata, "entry_points", read)
    plugins._installed.cache_clear()
    assert regime.parse("plain") == Plain()

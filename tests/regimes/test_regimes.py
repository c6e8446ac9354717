from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

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
        return Rows(
            self.logits[list(views)],
            torch.eye(self.logits.shape[-1], dtype=torch.float64),
            None,
            self.labels,
        )


PLAIN = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]
CIPHER = [[0.4, 0.4, 0.2], [0.2, 0.6, 0.2]]
BATCH = SimpleNamespace()


def loss_of(losses: regime.Losses) -> float:
    return losses.total.item() / losses.divisor


def two_views() -> Fixed:
    return Fixed(PLAIN, CIPHER, labels=[0, 1])


def test_co_regularised_goldens() -> None:
    chosen = CoRegularised(beta=5, warmup_steps=0, label_smoothing=0)
    losses = chosen.loss(two_views(), BATCH, Progress(0))
    assert losses.total.item() == pytest.approx(3.436921, abs=1e-6)
    assert loss_of(losses) == pytest.approx(0.859230, abs=1e-6)
    assert float(losses.metrics["nll"]) == pytest.approx(0.579818, abs=1e-6)
    assert float(losses.metrics["nll_view"]) == pytest.approx(1.427116, abs=1e-6)
    assert float(losses.metrics["divergence"]) == pytest.approx(0.285997, abs=1e-6)
    once = chosen.model_copy(update={"norm": 1.0}).loss(two_views(), BATCH, Progress(0))
    assert loss_of(once) == pytest.approx(1.718460, abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "betas", "onset"),
    [
        (
            {"warmup_epochs": 10, "ramp_epochs": 20},
            {9: 0, 10: 0, 15: 1.25, 20: 2.5, 30: 5, 40: 5},
            1500,
        ),
        ({"warmup_steps": 7}, {0: 5}, 7),
        ({"warmup_steps": 8}, {0: 0}, 8),
    ],
)
def test_the_divergence_begins_and_rises_and_its_onset_is_told_in_updates(
    settings: dict[str, float], betas: dict[float, float], onset: float
) -> None:
    chosen = CoRegularised(beta=5, **settings)  # type: ignore[arg-type]
    assert {epochs: chosen.beta_at(Progress(7, epochs)) for epochs in betas} == pytest.approx(betas)
    assert chosen.onset(updates_per_epoch=50) == onset


def test_warm_up_of_the_released_code_reads_the_cipher_alone() -> None:
    chosen = regime.parse(
        {"name": "coregularised", "preset": "released_code", "label_smoothing": 0}
    )
    model = two_views()
    losses = chosen.loss(model, BATCH, Progress(499))
    assert model.computed == [[1]]
    assert loss_of(losses) == pytest.approx(1.427116 / 2, abs=1e-6)
    assert chosen.loss(model, BATCH, Progress(500)).divisor == 4


def test_labels_are_smoothed_like_fairseq_and_in_r_drop_over_all_classes() -> None:
    probabilities = [[math.exp(logit) for logit in (2, 1, 0, -1)]]
    plain = Plain(label_smoothing=0.1).loss(Fixed(probabilities, labels=[0]), BATCH, Progress(0))
    assert loss_of(plain) == pytest.approx(0.640190, abs=1e-6)
    r_drop = regime.parse({"name": "coregularised", "preset": "r_drop"})
    twice = Fixed(probabilities, probabilities, labels=[0])
    assert loss_of(r_drop.loss(twice, BATCH, Progress(0))) == pytest.approx(2 * 0.590190, abs=1e-6)


PLAIN_GROUP = ViewGroup((SOURCE,), TARGET)
TWO = [ViewGroup(("rot-1",), TARGET), ViewGroup(("rot-2",), TARGET)]


@pytest.mark.parametrize(
    ("chosen", "groups"),
    [
        (Plain(), [PLAIN_GROUP]),
        (MultiSource(), [PLAIN_GROUP, *TWO]),
        (
            MultiSource(equation=2),
            [PLAIN_GROUP, *TWO, ViewGroup(("rot-1",), SOURCE), ViewGroup(("rot-2",), SOURCE)],
        ),
        (
            CoRegularised(),
            [ViewGroup((SOURCE, "rot-1"), TARGET), ViewGroup((SOURCE, "rot-2"), TARGET)],
        ),
        (CoRegularised(over="identity"), [ViewGroup((SOURCE, SOURCE), TARGET)]),
    ],
)
def test_which_views_are_read_together(chosen: regime.Regime, groups: list[ViewGroup]) -> None:
    assert chosen.view_groups(["rot-1", "rot-2"]) == groups

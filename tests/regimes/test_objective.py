from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import example as example_of
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from augury.regimes.objective import Terms, view_objective

AGREEMENTS = [{}, {"beta": 5.0}, {"beta": 5.0, "tau": 2.0}, {"beta": 5.0, "tau": 0.5}]
"""No divergence, and divergences at several temperatures."""


def example(
    views: int, rows: int = 7, classes: int = 11, width: int = 5, seed: int = 0
) -> tuple[Tensor, ...]:
    """Random hidden states, weight and bias in float64, which want gradients, and labels."""
    generator = torch.Generator().manual_seed(seed)
    tensors = [
        torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in ((views, rows, width), (classes, width), (classes,))
    ]
    return *tensors, torch.randint(0, classes, (rows,), generator=generator)


def kl(log_p: Tensor, log_q: Tensor) -> Tensor:
    return (log_p.exp() * (log_p - log_q)).sum()


def smoothed_cross_entropy(
    log_p: Tensor, labels: Tensor, smoothing: float, excludes_target: bool
) -> Tensor:
    if not excludes_target:
        return F.cross_entropy(log_p, labels, label_smoothing=smoothing, reduction="sum")
    classes = log_p.shape[-1]
    smoothed = torch.full_like(log_p, smoothing / (classes - 1))
    smoothed = smoothed.scatter(1, labels[:, None], 1 - smoothing)
    return -(smoothed * log_p).sum()


def textbook(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    *,
    weights: list[float],
    label_smoothing: float,
    smoothing_excludes_target: bool,
    beta: float = 0.0,
    tau: float = 1.0,
) -> Terms:
    """The objective as it is defined: full logits, one distribution at a time, gradients by
    autograd."""
    logits = F.linear(hidden, weight, bias)
    log_p = logits.log_softmax(-1)
    cross_entropies = [
        smoothed_cross_entropy(view, labels, label_smoothing, smoothing_excludes_target)
        for view in log_p
    ]
    cross_entropy = torch.stack(cross_entropies)
    nll = torch.stack([F.nll_loss(view, labels, reduction="sum") for view in log_p])
    divergence = torch.zeros((), dtype=hidden.dtype)
    total = cross_entropy @ torch.tensor(weights, dtype=hidden.dtype)
    if beta:
        flat = (logits / tau).log_softmax(-1)
        for view in range(1, len(hidden)):
            divergence = divergence + (kl(flat[0], log_p[view]) + kl(flat[view], log_p[0])) / 2
        total = total + beta * divergence
    return Terms(total, cross_entropy, nll, divergence, (logits.argmax(-1) == labels).sum(-1))


class Recorder(TorchDispatchMode):
    """The largest tensor that any operation returned, in elements."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = function(*arguments, **(options or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, Tensor):
                self.largest = max(self.largest, tensor.numel())
        return result


@pytest.mark.parametrize(("tau", "expected"), [(1, 0.187914), (2, 0.139418)])
def test_divergence_has_the_published_value(tau: float, expected: float) -> None:
    hidden = torch.tensor([[[0.7, 0.2, 0.1]], [[0.4, 0.4, 0.2]]], dtype=torch.float64).log()
    label, identity = torch.tensor([0]), torch.eye(3).double()
    terms = view_objective(hidden, identity, None, label, weights=[1, 1], beta=1, tau=tau)
    assert terms.divergence.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("agreement", AGREEMENTS)
@settings(max_examples=25)
@example_of(2, 1, 2, 1, True, 0.0, True, 0)
@example_of(3, 7, 11, 3, False, 0.1, False, 0)
@given(
    views=st.integers(1, 4),
    rows=st.integers(1, 9),
    classes=st.integers(2, 12),
    chunk=st.integers(1, 12),
    with_bias=st.booleans(),
    label_smoothing=st.sampled_from([0.0, 0.1, 0.5]),
    excludes_target=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_values_and_gradients_are_those_of_the_definition(
    agreement, views, rows, classes, chunk, with_bias, label_smoothing, excludes_target, seed
):
    views = max(views, 2) if agreement else views
    hidden, weight, bias, labels = example(views, rows, classes, seed=seed)
    wanted = [hidden, weight, bias] if with_bias else [hidden, weight]
    arguments = (hidden, weight, bias if with_bias else None, labels)
    options: dict[str, Any] = {
        "weights": [0.5, 1.3, 0.0, 2.0][:views],
        "label_smoothing": label_smoothing,
        "smoothing_excludes_target": excludes_target,
        **agreement,
    }
    expected = textbook(*arguments, **options)
    terms = view_objective(*arguments, **options, chunk=chunk)
    assert terms.correct.tolist() == expected.correct.tolist()
    torch.testing.assert_close(
        terms._replace(correct=0), expected._replace(correct=0), atol=1e-8, rtol=1e-9
    )
    torch.testing.assert_close(
        torch.autograd.grad(terms.total * 1.7, wanted),
        torch.autograd.grad(expected.total * 1.7, wanted),
        atol=1e-8,
        rtol=1e-9,
    )


def test_full_logits_never_exist():
    views, rows, classes, width, chunk = 2, 40, 50, 6, 8
    hidden, weight, bias, labels = example(views, rows, classes, width)
    options: dict[str, Any] = {"weights": [1.0, 1.0], "label_smoothing": 0.1}
    with Recorder() as recorder:
        view_objective(
            hidden, weight, bias, labels, **options, beta=5.0, chunk=chunk
        ).total.backward()
    assert recorder.largest == views * chunk * classes


@pytest.mark.parametrize("agreement", AGREEMENTS[:3])
def test_autocast_runs_the_products_in_bfloat16_and_the_rest_in_float32(agreement):
    *doubles, labels = example(2, rows=50, classes=40, width=16)
    hidden, weight, bias = (tensor.detach().float().requires_grad_() for tensor in doubles)
    hidden = hidden.detach().bfloat16().requires_grad_()
    options: dict[str, Any] = {
        "weights": [1.0, 0.5],
        "label_smoothing": 0.1,
        **agreement,
    }
    with torch.autocast("cpu", torch.bfloat16):
        terms = view_objective(hidden, weight, bias, labels, **options, chunk=20)
        logits = F.linear(hidden, weight, bias)
    assert logits.dtype == torch.bfloat16 and {term.dtype for term in terms[:-1]} == {torch.float32}
    # The same logits through an identity projection, all in float32.
    expected = view_objective(logits.detach().float(), torch.eye(40), None, labels, **options)
    torch.testing.assert_close(terms.total, expected.total, rtol=1e-5, atol=0)

    terms.total.backward()
    dtypes = [tensor.grad.dtype for tensor in (hidden, weight, bias)]
    assert dtypes == [torch.bfloat16, torch.float32, torch.float32]
    doubles = [tensor.detach().double().requires_grad_() for tensor in (hidden, weight, bias)]
    view_objective(*doubles, labels, **options).total.backward()
    for tensor, double in zip((hidden, weight, bias), doubles, strict=True):
        assert (tensor.grad - double.grad).norm() < 0.02 * double.grad.norm()

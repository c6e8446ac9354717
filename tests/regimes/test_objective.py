from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import example as example_of
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from augury.core.errors import UserError
from augury.regimes.objective import Agreement, Terms, view_objective

P, Q = (0.7, 0.2, 0.1), (0.4, 0.4, 0.2)

AGREEMENTS = [
    Agreement(beta, tau, divergence, detach)
    for beta, tau, divergence, detach in itertools.product(
        (0.0, 5.0), (1.0, 2.0, 0.5), ("symmetric_kl", "kl", "js"), ("none", "target")
    )
    if divergence != "js" or (tau == 1 and detach == "none")
]


def of_probabilities(*views: list[tuple[float, ...]], labels: list[int], **options: Any) -> Terms:
    """The objective where every row's distribution is given: logits are log p, through an
    identity projection."""
    hidden = torch.tensor(views, dtype=torch.float64).log()
    options = {"weights": [1.0] * len(views), **options}
    return view_objective(
        hidden, torch.eye(hidden.shape[-1]).double(), None, torch.tensor(labels), **options
    )


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


def textbook(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    *,
    weights: list[float],
    label_smoothing: float,
    smoothing_excludes_target: bool,
    agreement: Agreement | None,
) -> Terms:
    """The objective as it is defined: full logits, one distribution at a time, gradients by
    autograd."""
    logits = F.linear(hidden, weight, bias)
    log_p = logits.log_softmax(-1)
    classes = len(weight)
    smoothed = torch.full((len(labels), classes), label_smoothing / classes, dtype=hidden.dtype)
    if smoothing_excludes_target:
        smoothed.fill_(label_smoothing / (classes - 1)).scatter_(
            1, labels[:, None], 1 - label_smoothing
        )
    else:
        smoothed[range(len(labels)), labels] += 1 - label_smoothing
    cross_entropy = -(smoothed * log_p).sum((1, 2))
    nll = torch.stack([F.nll_loss(view, labels, reduction="sum") for view in log_p])
    divergence = torch.zeros((), dtype=hidden.dtype)
    if agreement is not None:
        flat = (logits / agreement.tau).log_softmax(-1)
        flat = flat.detach() if agreement.detach == "target" else flat
        for view in range(1, len(hidden)):
            if agreement.divergence == "symmetric_kl":
                divergence = divergence + (kl(flat[0], log_p[view]) + kl(flat[view], log_p[0])) / 2
            elif agreement.divergence == "kl":
                divergence = divergence + kl(flat[0], log_p[view])
            else:
                mixture = ((log_p[0].exp() + log_p[view].exp()) / 2).log()
                divergence = divergence + (kl(log_p[0], mixture) + kl(log_p[view], mixture)) / 2
    total = cross_entropy @ torch.tensor(weights, dtype=hidden.dtype) + (
        agreement.beta * divergence if agreement is not None else 0
    )
    return Terms(total, cross_entropy, nll, divergence, (logits.argmax(-1) == labels).sum(-1))


class Recorder(TorchDispatchMode):
    """The largest tensor that any operation returned, in elements, and how many matrix products
    ran."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0
        self.products = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = function(*arguments, **(options or {}))
        self.products += function.overloadpacket in (
            torch.ops.aten.mm,
            torch.ops.aten.addmm,
            torch.ops.aten.addmm_,
        )
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, Tensor):
                self.largest = max(self.largest, tensor.numel())
        return result


# Published and hand-computed values


@pytest.mark.parametrize(
    ("first", "second", "agreement", "expected"),
    [
        (P, Q, Agreement(1, divergence="kl"), 0.183787),
        (Q, P, Agreement(1, divergence="kl"), 0.192042),
        (P, Q, Agreement(1), 0.187914),
        (P, Q, Agreement(1, divergence="js"), 0.046201),
        (P, Q, Agreement(1, tau=2), 0.139418),
        ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5), Agreement(1), 0.274887),
    ],
)
def test_divergence_has_the_known_value(first, second, agreement, expected):
    assert of_probabilities(
        [first], [second], labels=[0], agreement=agreement
    ).divergence.item() == pytest.approx(expected, abs=1e-6)


def test_tau_flattens_the_first_argument_alone():
    hidden = torch.tensor([[P], [Q]], dtype=torch.float64).log().requires_grad_()
    agreement = Agreement(1, tau=2, divergence="kl")
    terms = view_objective(
        hidden, torch.eye(3).double(), None, torch.tensor([0]), weights=[0, 0], agreement=agreement
    )
    terms.total.backward()
    # The gradient for the second argument's logits is q - flat(p).
    flat = torch.tensor(Q, dtype=torch.float64) - hidden.grad[1, 0]
    torch.testing.assert_close(
        flat, torch.tensor([0.5229, 0.2795, 0.1976]).double(), atol=5e-5, rtol=0
    )


def test_two_tokens_of_cipherdaug():
    terms = of_probabilities(
        [(0.7, 0.2, 0.1), (0.1, 0.8, 0.1)],
        [(0.4, 0.4, 0.2), (0.2, 0.6, 0.2)],
        labels=[0, 1],
        agreement=Agreement(5),
    )
    assert terms.cross_entropy.tolist() == pytest.approx([0.579818, 1.427116], abs=1e-6)
    assert terms.nll.tolist() == terms.cross_entropy.tolist()
    assert terms.divergence.item() == pytest.approx(0.285997, abs=1e-6)
    assert terms.total.item() == pytest.approx(3.436921, abs=1e-6)
    assert terms.correct.tolist() == [2, 2]


@pytest.mark.parametrize(("excludes_target", "expected"), [(True, 0.640190), (False, 0.590190)])
def test_label_smoothing_has_the_known_value(excludes_target, expected):
    hidden = torch.tensor([[[2.0, 1.0, 0.0, -1.0]]])
    terms = view_objective(
        hidden,
        torch.eye(4),
        None,
        torch.tensor([0]),
        weights=[1.0],
        label_smoothing=0.1,
        smoothing_excludes_target=excludes_target,
    )
    assert terms.nll.item() == pytest.approx(0.440190, abs=1e-6)
    assert terms.cross_entropy.item() == pytest.approx(expected, abs=1e-6)


def test_uniform_smoothing_is_that_of_torch():
    hidden, weight, bias, labels = example(1)
    terms = view_objective(
        hidden,
        weight,
        bias,
        labels,
        weights=[1.0],
        label_smoothing=0.1,
        smoothing_excludes_target=False,
    )
    expected = F.cross_entropy(
        F.linear(hidden[0], weight, bias), labels, label_smoothing=0.1, reduction="sum"
    )
    torch.testing.assert_close(terms.total, expected, atol=1e-10, rtol=0)


# Against the definition


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("excludes_target", [True, False])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    ("views", "agreement"),
    [
        (views, agreement)
        for views in (1, 2, 3)
        for agreement in [None, *(AGREEMENTS if views > 1 else [])]
    ],
)
def test_values_and_gradients_are_those_of_the_definition(
    views, agreement, label_smoothing, excludes_target, with_bias
):
    hidden, weight, bias, labels = example(views)
    wanted = [hidden, weight, bias] if with_bias else [hidden, weight]
    arguments = (hidden, weight, bias if with_bias else None, labels)
    options: dict[str, Any] = {
        "weights": [0.5, 1.3, 0.0][:views],
        "label_smoothing": label_smoothing,
        "smoothing_excludes_target": excludes_target,
        "agreement": agreement,
    }
    expected = textbook(*arguments, **options)
    terms = view_objective(*arguments, **options, chunk=3)
    assert terms.correct.tolist() == expected.correct.tolist()
    torch.testing.assert_close(
        terms._replace(correct=0), expected._replace(correct=0), atol=1e-9, rtol=0
    )
    gradients = torch.autograd.grad(terms.total * 1.7, wanted)
    torch.testing.assert_close(
        gradients, torch.autograd.grad(expected.total * 1.7, wanted), atol=1e-9, rtol=0
    )


@settings(max_examples=30, deadline=None)
@example_of(views=2, rows=1, classes=2, chunk=1, beta=1e-308, seed=0, label_smoothing=0.0)
@given(
    views=st.integers(2, 4),
    rows=st.integers(1, 9),
    classes=st.integers(2, 12),
    chunk=st.integers(1, 12),
    beta=st.floats(0, 20),
    seed=st.integers(0, 1000),
    label_smoothing=st.floats(0, 0.5),
)
def test_any_shape_and_chunk(views, rows, classes, chunk, beta, seed, label_smoothing):
    hidden, weight, bias, labels = example(views, rows, classes, seed=seed)
    options: dict[str, Any] = {
        "weights": [1.0, 0.5, 2.0, 0.1][:views],
        "label_smoothing": label_smoothing,
        "smoothing_excludes_target": True,
        "agreement": Agreement(beta),
    }
    expected = textbook(hidden, weight, bias, labels, **options)
    terms = view_objective(hidden, weight, bias, labels, **options, chunk=chunk)
    torch.testing.assert_close(terms.total, expected.total, atol=1e-8, rtol=1e-9)
    torch.testing.assert_close(
        torch.autograd.grad(terms.total, [hidden, weight, bias]),
        torch.autograd.grad(expected.total, [hidden, weight, bias]),
        atol=1e-8,
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    "agreement", [Agreement(2.0), Agreement(2.0, tau=2.0), Agreement(2.0, divergence="js")]
)
def test_gradients_are_those_of_finite_differences(agreement):
    hidden, weight, bias, labels = example(3, rows=3, classes=4, width=2)

    def total(*tensors: Tensor) -> Tensor:
        return view_objective(
            *tensors, labels, weights=[1, 0.5, 2], label_smoothing=0.1, agreement=agreement, chunk=2
        ).total

    assert torch.autograd.gradcheck(total, (hidden, weight, bias))


# Properties


def test_equal_views_agree_and_feel_no_pull():
    hidden, weight, bias, labels = example(1)
    twice = hidden.detach().expand(2, -1, -1).clone().requires_grad_()
    terms = view_objective(twice, weight, bias, labels, weights=[0, 0], agreement=Agreement(5))
    assert abs(terms.divergence.item()) < 1e-12
    gradients = torch.autograd.grad(terms.total, [twice, weight, bias])
    assert max(gradient.abs().max().item() for gradient in gradients) < 1e-12


@pytest.mark.parametrize(
    "agreement", [Agreement(5), Agreement(5, divergence="js"), Agreement(5, divergence="kl")]
)
def test_without_detach_both_views_are_pulled(agreement):
    hidden, weight, bias, labels = example(2)
    view_objective(
        hidden, weight, bias, labels, weights=[0, 0], agreement=agreement
    ).total.backward()
    assert (hidden.grad.abs().amax((1, 2)) > 1e-3).all()


def test_detached_target_pulls_only_the_second_argument():
    hidden = torch.tensor([[P], [Q]], dtype=torch.float64).log().requires_grad_()
    p, q = hidden.detach().exp()[:, 0]
    for divergence, expected in (
        ("kl", torch.stack([torch.zeros_like(p), 3 * (q - p)])),
        ("symmetric_kl", torch.stack([1.5 * (p - q), 1.5 * (q - p)])),
    ):
        agreement = Agreement(3.0, divergence=divergence, detach="target")
        terms = view_objective(
            hidden,
            torch.eye(3).double(),
            None,
            torch.tensor([0]),
            weights=[0, 0],
            agreement=agreement,
        )
        (gradient,) = torch.autograd.grad(terms.total, [hidden])
        torch.testing.assert_close(gradient[:, 0], expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("agreement", [None, *AGREEMENTS])
def test_full_logits_never_exist(agreement):
    views, rows, classes, width, chunk = 2, 40, 50, 6, 8
    hidden, weight, bias, labels = example(views, rows, classes, width)
    options: dict[str, Any] = {
        "weights": [1.0, 1.0],
        "label_smoothing": 0.1,
        "agreement": agreement,
    }
    with Recorder() as recorder:
        view_objective(hidden, weight, bias, labels, **options, chunk=chunk).total.backward()
    assert recorder.largest == views * chunk * classes
    with Recorder() as recorder:
        textbook(
            hidden, weight, bias, labels, **options, smoothing_excludes_target=True
        ).total.backward()
    assert recorder.largest == views * rows * classes


@pytest.mark.parametrize("agreement", [None, Agreement(5), Agreement(5, tau=2)])
def test_no_grad_gives_the_same_terms_and_forms_no_gradient(agreement):
    hidden, weight, bias, labels = example(2)
    options: dict[str, Any] = {
        "weights": [1.0, 0.5],
        "label_smoothing": 0.1,
        "agreement": agreement,
        "chunk": 3,
    }
    with Recorder() as recorder:
        expected = view_objective(hidden, weight, bias, labels, **options)
    assert recorder.products == 9  # three chunks: logits, hidden gradient, weight gradient
    with torch.no_grad(), Recorder() as recorder:
        terms = view_objective(hidden, weight, bias, labels, **options)
    assert recorder.products == 3
    assert expected.total.requires_grad and not any(
        term.requires_grad for term in [*expected[1:], *terms]
    )
    torch.testing.assert_close(
        terms, Terms(expected.total.detach(), *expected[1:]), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("wanted", itertools.product([True, False], repeat=3))
def test_gradients_are_formed_only_where_wanted(wanted):
    *tensors, labels = example(2)
    options: dict[str, Any] = {"weights": [1.0, 0.5], "agreement": Agreement(5), "chunk": 3}
    expected = torch.autograd.grad(view_objective(*tensors, labels, **options).total, tensors)
    tensors = [
        tensor.detach().requires_grad_(want) for tensor, want in zip(tensors, wanted, strict=True)
    ]
    total = view_objective(*tensors, labels, **options).total
    assert total.requires_grad == any(wanted)
    if any(wanted):
        total.backward()
    for tensor, gradient, want in zip(tensors, expected, wanted, strict=True):
        assert (tensor.grad is not None) == want
        if want:
            torch.testing.assert_close(tensor.grad, gradient, atol=1e-12, rtol=0)


def test_no_rows():
    hidden, weight, bias, labels = example(2, rows=0)
    terms = view_objective(hidden, weight, bias, labels, weights=[1, 1], agreement=Agreement(5))
    terms.total.backward()
    assert terms.total.item() == 0 and terms.correct.tolist() == [0, 0]
    assert (
        weight.grad.abs().sum() == 0
        and bias.grad.abs().sum() == 0
        and hidden.grad.shape == hidden.shape
    )


def test_backward_can_run_twice_and_scales():
    hidden, weight, bias, labels = example(2)
    total = view_objective(
        hidden, weight, bias, labels, weights=[1, 1], agreement=Agreement(5)
    ).total
    (once,) = torch.autograd.grad(total, [weight], retain_graph=True)
    (thrice,) = torch.autograd.grad(3 * total, [weight])
    torch.testing.assert_close(thrice, 3 * once, atol=1e-12, rtol=0)


def test_far_apart_logits_stay_finite():
    hidden = torch.tensor([[[200.0, 0.0, -200.0]], [[-200.0, 0.0, 200.0]]], requires_grad=True)
    terms = view_objective(
        hidden,
        torch.eye(3),
        None,
        torch.tensor([2]),
        weights=[1, 1],
        label_smoothing=0.1,
        agreement=Agreement(1),
    )
    terms.total.backward()
    assert terms.nll.tolist() == [400, 0] and terms.divergence.item() == 400
    assert terms.correct.tolist() == [0, 1] and hidden.grad.isfinite().all()


# Precision


@pytest.mark.parametrize("agreement", [None, Agreement(5), Agreement(5, tau=2)])
def test_autocast_runs_the_products_in_bfloat16_and_the_rest_in_float32(agreement):
    hidden, weight, bias, labels = (
        tensor.detach().float().requires_grad_() if tensor.is_floating_point() else tensor
        for tensor in example(2, rows=50, classes=40, width=16)
    )
    hidden = hidden.detach().bfloat16().requires_grad_()
    options: dict[str, Any] = {
        "weights": [1.0, 0.5],
        "label_smoothing": 0.1,
        "agreement": agreement,
    }
    with torch.autocast("cpu", torch.bfloat16):
        terms = view_objective(hidden, weight, bias, labels, **options, chunk=20)
        logits = F.linear(hidden, weight, bias)
    assert logits.dtype == torch.bfloat16 and {term.dtype for term in terms[:-1]} == {torch.float32}
    # The same logits through an identity projection, all in float32.
    expected = view_objective(logits.detach().float(), torch.eye(40), None, labels, **options)
    torch.testing.assert_close(terms.total, expected.total, rtol=1e-5, atol=0)

    terms.total.backward()
    assert (hidden.grad.dtype, weight.grad.dtype, bias.grad.dtype) == (
        torch.bfloat16,
        torch.float32,
        torch.float32,
    )
    doubles = [tensor.detach().double().requires_grad_() for tensor in (hidden, weight, bias)]
    view_objective(*doubles, labels, **options).total.backward()
    for tensor, double in zip((hidden, weight, bias), doubles, strict=True):
        assert (tensor.grad - double.grad).norm() < 0.02 * double.grad.norm()


def test_autocast_leaves_float64_alone():
    hidden, weight, bias, labels = example(2)
    options: dict[str, Any] = {"weights": [1.0, 1.0], "agreement": Agreement(5)}
    expected = view_objective(hidden, weight, bias, labels, **options)
    with torch.autocast("cpu", torch.bfloat16):
        terms = view_objective(hidden, weight, bias, labels, **options)
    assert terms.total.dtype == torch.float64 and terms.total.item() == expected.total.item()


def test_bfloat16_parameters_are_summed_in_float32():
    tensors = [tensor.detach().bfloat16().requires_grad_() for tensor in example(2, rows=30)[:3]]
    labels = example(2, rows=30)[3]
    terms = view_objective(*tensors, labels, weights=[1, 1], agreement=Agreement(5), chunk=4)
    terms.total.backward()
    assert terms.total.dtype == torch.float32
    assert {tensor.grad.dtype for tensor in tensors} == {torch.bfloat16}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    "agreement", [None, Agreement(5), Agreement(5, tau=2), Agreement(5, divergence="js")]
)
def test_gpu_gives_what_the_cpu_gives(agreement):
    *tensors, labels = example(3, rows=50, classes=40, width=16)
    options: dict[str, Any] = {
        "weights": [1.0, 0.5, 2.0],
        "label_smoothing": 0.1,
        "agreement": agreement,
        "chunk": 20,
    }
    expected = view_objective(*tensors, labels, **options)
    gradients = torch.autograd.grad(expected.total, tensors)
    copies = [tensor.detach().cuda().requires_grad_() for tensor in tensors]
    terms = view_objective(*copies, labels.cuda(), **options)
    torch.testing.assert_close(
        [term.cpu() for term in terms], list(expected), atol=1e-9, rtol=1e-12
    )
    gpu_gradients = [gradient.cpu() for gradient in torch.autograd.grad(terms.total, copies)]
    torch.testing.assert_close(gpu_gradients, list(gradients), atol=1e-9, rtol=1e-9)


# What the user gives


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": -1.0}, "beta is -1.0"),
        ({"beta": float("nan")}, "beta is nan"),
        ({"beta": 1.0, "tau": 0.0}, "tau is 0.0"),
        (
            {"beta": 1.0, "divergence": "symmetric"},
            "unknown divergence 'symmetric': did you mean 'symmetric_kl'",
        ),
        ({"beta": 1.0, "detach": "targets"}, "unknown detach 'targets': did you mean 'target'"),
        ({"beta": 1.0, "divergence": "js", "tau": 2.0}, "js has no temperature"),
        ({"beta": 1.0, "divergence": "js", "detach": "target"}, "js would have no gradient"),
    ],
)
def test_impossible_agreements_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        Agreement(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1.0, 1.0]}, "2 weights for 1 views"),
        ({"agreement": Agreement(1.0)}, "agreement with one view"),
        ({"label_smoothing": 1.0}, "label_smoothing is 1.0"),
        ({"chunk": 0}, "chunk is 0"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        view_objective(*example(1), **{"weights": [1.0], **options})

"""Fused cross-entropy of all views and divergence between them, chunk by chunk.

The full logits never exist. The forward pass computes logits, softmax, losses and gradients chunk
by chunk in reused buffers, with one exponential per logit for cross-entropy and divergence. The
backward pass only scales the gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Terms(NamedTuple):
    """Sums over rows, as returned by `view_objective`."""

    total: Tensor  # scalar, differentiable
    cross_entropy: Tensor  # (views,), label-smoothed
    nll: Tensor  # (views,), not smoothed
    divergence: Tensor  # scalar, summed over rows and pairs of views, without beta; 0 if that is 0
    correct: Tensor  # (views,), number of rows where no class is more probable than the label


def view_objective(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    *,
    weights: Sequence[float],
    label_smoothing: float = 0.0,
    smoothing_excludes_target: bool = True,
    beta: float = 0.0,
    tau: float = 1.0,
    chunk: int = 256,
) -> Terms:
    """Return sum_v weights[v] * CE(v) + beta * sum_(v > 0) D(view 0, view v), summed over rows.

    With p = view 0, q another view and flat(softmax(z)) = softmax(z / tau), the divergence is
    D(p, q) = (KL(flat(p) || q) + KL(flat(q) || p)) / 2 (CipherDAug, equations 4 and 5; R-Drop).
    Only the first argument of a KL is flattened, without a factor tau^2.

    `hidden` is (views, rows, width) without padding; `weight` (classes, width) and `bias`
    (classes,) project it to logits; `labels` (rows,) are shared by the views. Smoothing moves
    `label_smoothing` of the mass to the other classes (fairseq) or, with
    `smoothing_excludes_target=False`, spreads it over all (torch, R-Drop).

    Differentiable once with respect to `hidden`, `weight` and `bias`. Under autocast, matrix
    products use its dtype; softmax, losses and accumulated gradients use float32 or better. At most
    `chunk` rows of logits per view are in memory.
    """
    views, rows, width = hidden.shape
    classes = len(weight)
    assert weight.shape == (classes, width) and labels.shape == (rows,) and classes > 1
    assert bias is None or bias.shape == (classes,)
    assert len(weights) == views and 0 <= label_smoothing < 1 and chunk > 0
    assert beta == 0 or (views > 1 and beta > 0 and tau > 0)
    uniform = label_smoothing / (classes - 1 if smoothing_excludes_target else classes)
    target = 1 - label_smoothing - (uniform if smoothing_excludes_target else 0)
    device = hidden.device.type
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    grad = torch.is_grad_enabled()
    needs_grad = tuple(grad and t is not None and t.requires_grad for t in (hidden, weight, bias))
    options = _Options(tuple(weights), target, uniform, beta, tau, chunk, autocast, needs_grad)
    return Terms(*_ViewObjective.apply(hidden, weight, bias, labels, options))


class _Options(NamedTuple):
    weights: tuple[float, ...]
    target: float  # the smoothed label distribution: `target + uniform` at the label,
    uniform: float  # `uniform` at every other class
    beta: float
    tau: float
    chunk: int
    autocast: torch.dtype | None
    needs_grad: tuple[bool, ...]  # gradients of hidden, weight, bias

    def in_place(self) -> bool:
        """Return whether the divergence is at temperature 1, where it needs no buffer."""
        # `share` is divided by beta, which may be too small.
        divisible = self.beta > 1e-6 * max(self.weights)
        return divisible and self.tau == 1 and any(self.needs_grad)


class _ViewObjective(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        options: _Options,
    ) -> tuple[Tensor, ...]:
        # The options decide on dtypes here, not autocast.
        with torch.autocast(hidden.device.type, enabled=False):
            terms, gradients = _forward(hidden, weight, bias, labels, options)
        ctx.save_for_backward(*gradients)
        ctx.types = [None if tensor is None else tensor.dtype for tensor in (hidden, weight, bias)]
        ctx.mark_non_differentiable(*terms[1:])
        return tuple(terms)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        # `total` is a scalar, and so is its gradient: one factor for all that forward has computed.
        pairs = zip(ctx.saved_tensors, ctx.types, strict=True)
        return (
            *(None if gradient is None else (gradient * grad).to(kind) for gradient, kind in pairs),
            None,
            None,
        )


def _forward(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, options: _Options
) -> tuple[Terms, tuple[Tensor | None, ...]]:
    """Return the terms, and the gradients of `total` by hidden, weight and bias where needed."""
    views, rows, width = hidden.shape
    classes = len(weight)
    # The dtypes of matrix products and of everything else.
    low = torch.promote_types(hidden.dtype, weight.dtype)
    exact = torch.promote_types(low, torch.float32)
    if options.autocast is not None and exact != torch.float64:
        low = options.autocast
    projection, offset = weight.to(low), None if bias is None else bias.to(low)
    losses = hidden.new_zeros(2, views, dtype=exact)
    divergence = losses.new_zeros(())
    correct = losses.new_zeros(views, dtype=torch.long)

    share, scale = _share_and_scale(options, losses)

    # Every chunk writes rows of its own in the gradient by `hidden`, and adds to those by weight
    # and bias: in a low precision, these sums over all rows would lose their small terms.
    needs = options.needs_grad
    by_hidden = torch.empty_like(hidden) if needs[0] else None
    by_weight = torch.zeros_like(weight, dtype=exact) if needs[1] else None
    by_bias = torch.zeros_like(bias, dtype=exact) if needs[2] and bias is not None else None

    # Allocated once: freed memory would be returned to the system, then mapped and zeroed again for
    # each chunk.
    shape = views * min(options.chunk, rows), classes
    buffers = [losses.new_empty(shape) for _ in range(2)]
    # In one dtype, the product is written to where logits are read; else it is converted first.
    products = buffers[0] if low == exact else losses.new_empty(shape, dtype=low)
    for start in range(0, rows, options.chunk):
        chunk = slice(start, start + options.chunk)
        inputs = hidden[:, chunk].to(low).reshape(-1, width)
        product = products[: len(inputs)]
        if offset is None:
            torch.mm(inputs, projection.t(), out=product)
        else:
            torch.addmm(offset, inputs, projection.t(), out=product)
        logits, probabilities = (
            buffer[: len(inputs)].view(views, -1, classes) for buffer in buffers
        )
        if low != exact:
            logits.copy_(product.view_as(logits))
        sums = _chunk(logits, probabilities, labels[chunk], share, options)
        losses += sums.losses
        divergence += sums.divergence
        correct += sums.correct
        if sums.gradient is None:
            continue
        gradient = sums.gradient.view(-1, classes)
        factor = scale.expand(views, len(inputs) // views, 1).reshape(-1, 1)
        if by_bias is not None:
            by_bias.addmv_(gradient.t(), factor.squeeze(1))
        if low != exact:
            gradient = product.copy_(gradient)
        if by_hidden is not None:
            by_hidden[:, chunk] = (torch.mm(gradient, projection) * factor).view(views, -1, width)
        if by_weight is not None:
            inputs = (inputs * factor).to(low)
            if low == exact:  # addmm_ takes one dtype only
                by_weight.addmm_(gradient.t(), inputs)
            else:
                by_weight += torch.mm(gradient.t(), inputs)

    total = losses[0] @ losses.new_tensor(options.weights)
    if options.beta:
        total = total + options.beta * divergence
    return Terms(total, losses[0], losses[1], divergence, correct), (by_hidden, by_weight, by_bias)


def _share_and_scale(options: _Options, losses: Tensor) -> tuple[Tensor, Tensor]:
    """Return two factors, (views, 1, 1) like `losses`, whose product is the weights.

    The gradient by the logits of a chunk is scale * (share * probabilities + ...), and `scale` is
    applied to the other factor of its matrix products, which is much smaller. In place, it is
    beta / 2 for the anchor and -beta / 2 for the other views.
    """
    share = losses.new_tensor(options.weights).view(-1, 1, 1)
    scale = torch.ones_like(share)
    if not options.beta:
        return scale, share
    if options.in_place():
        scale *= -options.beta / 2
        scale[0].neg_()
        share = share / scale
    return share, scale


class _Chunk(NamedTuple):
    losses: Tensor  # (2, views): label-smoothed, not smoothed
    divergence: Tensor
    correct: Tensor  # (views,)
    # (views, rows, classes), of `total` with respect to the logits, divided by `scale`.
    gradient: Tensor | None


def _chunk(
    logits: Tensor, probabilities: Tensor, labels: Tensor, share: Tensor, options: _Options
) -> _Chunk:
    """Return the losses and the gradient of a chunk of logits (views, rows, classes).

    Both buffers are overwritten.
    """
    views, rows, classes = logits.shape
    index = labels.expand(views, rows).unsqueeze(-1)
    # Not max, which finds the index too, at the time of the softmax.
    peak = logits.amax(-1, keepdim=True)
    torch.softmax(logits, -1, out=probabilities)
    # As accurate as log-sum-exp, since the largest probability is at least 1 / classes, and much
    # cheaper.
    log_normaliser = peak - probabilities.amax(-1, keepdim=True).log_()
    of_label = logits.gather(-1, index)
    nll = log_normaliser - of_label
    smoothed = options.target * nll
    if options.uniform:
        smoothed += options.uniform * (classes * log_normaliser - logits.sum(-1, keepdim=True))
    losses = torch.stack([smoothed, nll]).sum((2, 3))
    correct = (of_label == peak).sum((1, 2))

    # The gradient of cross-entropy is probabilities minus labels. Without divergence, and in place,
    # it overwrites a buffer that is not needed any more: another one would be as large as logits.
    divergence = losses.new_zeros(())
    gradient = None
    if not options.beta:
        gradient = probabilities if any(options.needs_grad) else None
    elif options.in_place():
        divergence = _symmetric_kl(logits, probabilities, share)
        gradient = logits
    else:
        gradient = probabilities * share if any(options.needs_grad) else None
        divergence = _divergence(
            logits.sub_(log_normaliser), probabilities, options.beta, options.tau, gradient
        )
    if gradient is not None:
        # Smoothed labels: `uniform` at every class, and `target` more at the label.
        gradient.scatter_add_(-1, index, (-options.target * share).expand(index.shape))
        if options.uniform:
            gradient.sub_(options.uniform * share)
    return _Chunk(losses, divergence, correct, gradient)


def _symmetric_kl(logits: Tensor, probabilities: Tensor, share: Tensor) -> Tensor:
    """Return the summed symmetric KL at tau 1.

    Overwrite `logits` by share * probabilities + its gradient / scale.

    With gap = log p - log q, p the anchor and q another view, twice the gradient of the divergence
    is
        p * (gap - KL(p || q)) + p - q    with respect to the anchor's logits, and
        q * (-gap - KL(q || p)) + q - p    with respect to the other's.
    The negative of the latter is written (`scale` in `_forward`). Constants added to gap cancel, so
    that differences of logits can replace those of log-probabilities.
    """
    anchor, others = probabilities[0], probabilities[1:]
    gaps = torch.sub(logits[0], logits[1:], out=logits[1:])

    anchor_gradient = torch.mul(anchor, gaps[0], out=logits[0])
    for gap in gaps[1:]:
        anchor_gradient.addcmul_(anchor, gap)
    under_anchor = anchor_gradient.sum(-1, keepdim=True)  # the sum of KL(p || q) over the views q
    anchor_gradient.addcmul_(anchor, share[0] + len(others) - under_anchor)
    for other in others:
        anchor_gradient.sub_(other)

    other_gradients = gaps.mul_(others)
    under_others = other_gradients.sum(-1, keepdim=True)  # - KL(q || p)
    other_gradients.addcmul_(others, share[1:] - 1 - under_others).add_(anchor)
    return (under_anchor.sum() - under_others.sum()) / 2


def _divergence(
    log_p: Tensor, p: Tensor, beta: float, tau: float, gradient: Tensor | None
) -> Tensor:
    """Return the summed divergence at any temperature.

    Add beta times its gradient by the logits to `gradient`.
    """
    total = log_p.new_zeros(())
    pairs = [pair for view in range(1, len(p)) for pair in ((0, view), (view, 0))]
    for first, second in pairs:
        flat, log_flat = p[first], log_p[first]
        if tau != 1:
            log_flat = torch.log_softmax(log_flat / tau, -1)
            flat = log_flat.exp()
        gap = log_flat - log_p[second]
        kl = torch.linalg.vecdot(flat, gap).unsqueeze(-1)
        total += kl.sum() / 2
        if gradient is not None:
            gradient[first].addcmul_(flat, gap.sub_(kl), value=beta / 2 / tau)
            gradient[second].add_(p[second], alpha=beta / 2).sub_(flat, alpha=beta / 2)
    return total

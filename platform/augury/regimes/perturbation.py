"""Perturbations of the words of a batch: the scope of a norm, a step along a gradient, the projection."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from augury.regimes.regime import Embedded, Scope

_SPANNED = {"example": (1, 2), "token": (2,), "matrix": (0, 1)}
_ROUNDING = 1e-5  # of a radius: K steps along one direction end on the sphere, not beyond it


class Space(NamedTuple):
    """The perturbations of one batch as values whose norms are bounded, and their mapping to its tokens.

    `example`: values (examples, length, size), one norm for each example (FreeLB); `token`: the same values, one norm
    for each token; `matrix`: values (distinct words, size), one norm for all of them: equal words are moved alike, as
    if the embedding matrix itself were moved. `words` is then the word of every real token, in their order.
    """

    scope: Scope
    mask: Tensor  # (examples, length), True at tokens
    size: int
    words: Tensor | None = None  # (tokens)

    @classmethod
    def of(cls, embedded: Embedded, scope: Scope) -> Space:
        size = embedded.embeddings.shape[-1]
        words = None
        if scope == "matrix":
            words = embedded.ids[embedded.mask].unique(return_inverse=True)[1]
        return cls(scope, embedded.mask, size, words)

    def start(self, magnitude: float) -> Tensor:
        """Return float32 values: zeros, or uniform noise of norms up to `magnitude` (FreeLB), from torch's generator.

        Over n numbers the noise is uniform in ± magnitude / √n.
        """
        if self.words is None:
            real = self.mask.unsqueeze(-1).expand(*self.mask.shape, self.size).float()
        else:
            real = torch.ones(int(self.words.max()) + 1, self.size, device=self.mask.device)
        if magnitude == 0:
            return torch.zeros_like(real)
        noise = torch.empty_like(real).uniform_(-1, 1) * real
        return noise * (magnitude / self.norm(real).clamp(min=1))

    def spread(self, values: Tensor) -> Tensor:
        """Return the perturbation (examples, length, size) of the values: zero at pads, differentiable."""
        if self.words is None:
            return values.masked_fill(~self.mask.unsqueeze(-1), 0)
        perturbation = values.new_zeros(*self.mask.shape, self.size)
        perturbation[self.mask] = values[self.words]
        return perturbation

    def norm(self, values: Tensor) -> Tensor:
        """Return Euclidean norms, one for each unit of the scope, with as many dimensions as the values."""
        return torch.linalg.vector_norm(values, dim=_SPANNED[self.scope], keepdim=True)

    def unit(self, embedded: Embedded) -> Tensor:
        """Return the norms of the embeddings, one for each unit of the scope, as units of relative lengths."""
        words = embedded.embeddings.float() * embedded.mask.unsqueeze(-1)
        if self.words is None:
            return self.norm(words)
        matrix = words.new_zeros(int(self.words.max()) + 1, self.size)
        matrix[self.words] = words[self.mask]
        return self.norm(matrix)

    def gradient(self, loss: Tensor, values: Tensor) -> Tensor:
        """Return the gradient of a loss with respect to the values that were spread for it."""
        (gradient,) = torch.autograd.grad(loss, values)
        return gradient

    def step(self, values: Tensor, gradient: Tensor, length: float | Tensor) -> Tensor:
        """Return values + length · gradient / ‖gradient‖; no step where that norm is zero or not finite."""
        norm = self.norm(gradient)
        usable = norm.isfinite() & (norm > 0)
        return values + length * torch.where(usable, gradient / norm, 0)

    def project(self, values: Tensor, radius: float | Tensor) -> tuple[Tensor, Tensor]:
        """Return the nearest values whose norms are at most `radius`, and a mask (examples,) of changed examples."""
        norm = self.norm(values)
        beyond = norm > radius * (1 + _ROUNDING)
        changed = beyond.flatten(1).any(1).expand(len(self.mask))
        return torch.where(beyond, values * (radius / norm), values), changed

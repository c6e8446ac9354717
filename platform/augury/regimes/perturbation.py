"""Perturbations of word embeddings: norms by scope, gradient steps and projection."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from augury.regimes.regime import Embedded, Scope

_SPANNED = {"example": (1, 2), "token": (2,), "matrix": (0, 1)}
# relative tolerance of a radius, so that K steps in one direction with K·α = ε are not projected
_ROUNDING = 1e-5


class PerturbationSpace(NamedTuple):
    """The perturbations of a batch: values with norms by scope, and their mapping to tokens.

    `example`: values (examples, length, size) with a norm per example (FreeLB); `token`: the same
    values with a norm per token; `matrix`: values (distinct words, size) with a single norm. The
    latter perturbs all occurrences of a word equally, as if the embedding matrix were perturbed;
    `words` is then the index of each token's word.
    """

    scope: Scope
    mask: Tensor  # (examples, length), True at tokens, False at padding
    size: int
    words: Tensor | None = None  # (tokens,)

    @classmethod
    def of(cls, embedded: Embedded, scope: Scope) -> PerturbationSpace:
        """Return the perturbations of a batch of embedded words."""
        size = embedded.embeddings.shape[-1]
        words = None
        if scope == "matrix":
            words = embedded.ids[embedded.mask].unique(return_inverse=True)[1]
        return cls(scope, embedded.mask, size, words)

    def start(self) -> Tensor:
        """Return float32 zeros."""
        shape = (*self.mask.shape, self.size)
        if self.words is not None:
            shape = (int(self.words.max()) + 1, self.size)
        return torch.zeros(shape, device=self.mask.device)

    def spread(self, values: Tensor) -> Tensor:
        """Return values as a perturbation (examples, length, size), zero at padding.

        Differentiable.
        """
        if self.words is None:
            return values.masked_fill(~self.mask.unsqueeze(-1), 0)
        perturbation = values.new_zeros(*self.mask.shape, self.size)
        perturbation[self.mask] = values[self.words]
        return perturbation

    def norm(self, values: Tensor) -> Tensor:
        """Return Euclidean norms by scope, broadcastable to the values."""
        return torch.linalg.vector_norm(values, dim=_SPANNED[self.scope], keepdim=True)

    def unit(self, embedded: Embedded) -> Tensor:
        """Return the norms of the embeddings by scope, the units of relative lengths."""
        words = embedded.embeddings.float() * embedded.mask.unsqueeze(-1)
        if self.words is None:
            return self.norm(words)
        matrix = self.start()
        matrix[self.words] = words[self.mask]
        return self.norm(matrix)

    def step(self, values: Tensor, gradient: Tensor, length: float | Tensor) -> Tensor:
        """Return values + length · gradient / ‖gradient‖.

        There is no step where the norm is zero or not finite.
        """
        norm = self.norm(gradient)
        usable = norm.isfinite() & (norm > 0)
        return values + length * torch.where(usable, gradient / norm, 0)

    def project(self, values: Tensor, radius: float | Tensor) -> tuple[Tensor, Tensor]:
        """Return values projected onto a ball, and which examples changed, (examples,)."""
        norm = self.norm(values)
        beyond = norm > radius * (1 + _ROUNDING)
        changed = beyond.flatten(1).any(1).expand(len(self.mask))
        return torch.where(beyond, values * (radius / norm), values), changed

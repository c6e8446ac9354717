"""Embeddings that are computed from fewer parameters than a vector per subword, tied to the output.

They have the interface of `nn.Embedding` that Marian uses: called with ids, and `weight`, the
embeddings of the whole vocabulary, which is the output layer's too. They are a function of the
subword alone, so that a trained model can be written with ordinary tables (`tabulated`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional
from transformers import MarianMTModel, PreTrainedModel
from transformers.initialization import no_init_weights

from trainables.nmt.config import CODEBOOKS, CODES, Alone, Embeddings, Table


class ComputedEmbedding(nn.Module, ABC):
    """Embeddings (vocabulary, hidden) that are computed whenever they are needed."""

    @property
    @abstractmethod
    def weight(self) -> Tensor:
        """The embeddings of the whole vocabulary, (V, D), without dropout; zero for the pad before
        training."""

    @abstractmethod
    def initialise(self, generator: Callable[[str], Generator]) -> None:
        """Draw parameters and buffers, each with the generator of its name."""


class ProjectedEmbedding(ComputedEmbedding):
    """Vectors of fewer numbers than the hidden size, and a projection to it."""

    def __init__(self, vocabulary_size: int, size: int, hidden_size: int, pad: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, size, pad)
        self.projection = nn.Linear(size, hidden_size, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        projected: Tensor = self.projection(self.table(ids))
        return projected

    @property
    def weight(self) -> Tensor:
        projected: Tensor = self.projection(self.table.weight)
        return projected

    def initialise(self, generator: Callable[[str], Generator]) -> None:
        self.table.weight.normal_(
            0, self.table.embedding_dim**-0.5, generator=generator("table.weight")
        )
        self.table.weight[self.table.padding_idx].zero_()
        nn.init.xavier_uniform_(self.projection.weight, generator=generator("projection.weight"))


class AloneEmbedding(ComputedEmbedding):
    """ALONE (Takase and Kobayashi 2020): W2 relu(W1 (filter * base)), with one base vector for all.

    The filter of a subword is fixed: the sum of a random code from each codebook. Codebooks
    (books, codes, D_O) and the codes of subwords (V, books) are buffers, saved with the model. In
    the released code, the embedding of the pad is not zero.
    """

    base: Tensor
    codebooks: Tensor
    codes: Tensor

    def __init__(self, vocabulary_size: int, settings: Alone, hidden_size: int, pad: int):
        super().__init__()
        self.settings, self.pad = settings, pad
        self.base = nn.Parameter(torch.empty(hidden_size), requires_grad=not settings.freeze_base)
        self.inner = nn.Linear(hidden_size, settings.intermediate_size, bias=False)
        self.outer = nn.Linear(settings.intermediate_size, hidden_size, bias=False)
        self.register_buffer("codebooks", torch.empty(CODEBOOKS, CODES, hidden_size))
        self.register_buffer("codes", torch.empty(vocabulary_size, CODEBOOKS, dtype=torch.long))

    def forward(self, ids: Tensor) -> Tensor:
        return self._embedded(ids, self.settings.dropout if self.training else 0.0)

    @property
    def weight(self) -> Tensor:
        return self._embedded(torch.arange(len(self.codes), device=self.codes.device), 0.0)

    def filters(self, ids: Tensor) -> Tensor:
        """Return the filters of subwords, (..., D_O)."""
        total: Tensor = sum(  # type: ignore[assignment]
            functional.embedding(codes, book)
            for codes, book in zip(self.codes[ids].unbind(-1), self.codebooks, strict=True)
        )
        return total

    def _embedded(self, ids: Tensor, dropout: float) -> Tensor:
        hidden = self.inner(self.filters(ids) * self.base).relu()
        embedded: Tensor = self.outer(functional.dropout(hidden, dropout))
        return embedded.masked_fill((ids == self.pad).unsqueeze(-1), 0)

    def initialise(self, generator: Callable[[str], Generator]) -> None:
        settings = self.settings
        sizes = self.outer.out_features + settings.intermediate_size
        self.base.normal_(0, sizes**-0.3, generator=generator("base"))
        for name in ("inner", "outer"):
            nn.init.xavier_uniform_(
                getattr(self, name).weight, generator=generator(f"{name}.weight")
            )
        self.codebooks.normal_(0, CODEBOOKS**-0.5, generator=generator("codebooks"))
        self.codes.random_(CODES, generator=generator("codes"))


class TiedHead(nn.Module):
    """An output layer whose weight is that of an embedding."""

    def __init__(self, embedding: ComputedEmbedding):
        super().__init__()
        self.embedding = embedding

    @property
    def weight(self) -> Tensor:
        """The weight, (V, D)."""
        return self.embedding.weight

    def forward(self, hidden: Tensor) -> Tensor:
        return functional.linear(hidden, self.weight)


def install(model: MarianMTModel, settings: Embeddings) -> None:
    """Replace the tables of a model by the embeddings of the settings, not yet initialised."""
    size, pad = model.config.d_model, model.config.pad_token_id

    def embedding() -> ComputedEmbedding:
        if isinstance(settings, Alone):
            return AloneEmbedding(model.config.vocab_size, settings, size, pad)
        assert isinstance(settings, Table) and settings.size is not None
        return ProjectedEmbedding(model.config.vocab_size, settings.size, size, pad)

    model.model.set_input_embeddings(embedding())
    if not model.config.share_encoder_decoder_embeddings:
        model.model.set_decoder_input_embeddings(embedding())
    model.lm_head = TiedHead(model.model.decoder.embed_tokens)


def computed(model: PreTrainedModel) -> dict[str, ComputedEmbedding]:
    """Return the embeddings of a model that are no tables, by their names."""
    modules = model.named_modules()
    return {name: module for name, module in modules if isinstance(module, ComputedEmbedding)}


@torch.no_grad()
def tabulated(model: PreTrainedModel) -> PreTrainedModel:
    """Return an equal model with ordinary tables as embeddings, for other programs; may be `model`.

    Its outputs are those of `model` without dropout. Its weights are a copy.
    """
    if not (embeddings := computed(model)):
        return model
    with torch.device(model.device), no_init_weights():
        copied = type(model)(model.config)
    copied.tie_weights()
    tables = {f"{name}.weight": embedding.weight for name, embedding in embeddings.items()}
    state = {
        name: tensor for name, tensor in model.state_dict().items() if name in copied.state_dict()
    }
    copied.load_state_dict(state | tables, strict=False)
    return copied.train(model.training)

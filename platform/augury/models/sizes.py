"""Sizes of models, by their settings or files."""

from __future__ import annotations

import json
from typing import NamedTuple

from augury.core.paths import expanded

SIZES = (
    ("hidden_size", "d_model", "dim"),
    ("num_hidden_layers", "num_layers", "n_layers", "encoder_layers"),
    ("intermediate_size", "d_ff", "encoder_ffn_dim", "hidden_dim"),
    ("vocab_size",),
)
"""The names under which configurations have hidden size, layers, feed-forward size and
vocabulary size."""


class Size(NamedTuple):
    """The parameters of a model, and those that a subword of the source and of the target passes
    through."""

    parameters: int
    source: int
    target: int = 0
    """The output layer included."""


def transformer(
    entries: int,
    hidden: int,
    feedforward: int,
    encoder_layers: int,
    decoder_layers: int = 0,
    *,
    matrices: int = 1,
) -> Size:
    """Return the size of a transformer, biases and normalisation left out.

    `entries` are those of its vocabulary, `matrices` the matrices that embed them; without a
    decoder it is an encoder.
    """
    embeddings, encoder = entries * hidden, _layers(encoder_layers, hidden, feedforward)
    if not decoder_layers:
        return Size(embeddings + encoder, encoder)
    decoder = _layers(decoder_layers, hidden, feedforward, attentions=2)
    return Size(matrices * embeddings + encoder + decoder, encoder, decoder + embeddings)


def pretrained_size(name: str) -> Size | None:
    """Return the size of a model in a directory; None where it is a name on a hub, or its sizes
    have other names."""
    try:
        sizes = dict(json.loads((expanded(name) / "config.json").read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return None
    hidden, count, feedforward, vocabulary = (
        next((sizes[key] for key in keys if isinstance(sizes.get(key), int)), None)
        for keys in SIZES
    )
    if hidden is None or count is None or feedforward is None:
        return None
    decoder = 0
    if sizes.get("is_encoder_decoder"):
        decoder = sizes.get("decoder_layers") or sizes.get("num_decoder_layers") or count
    return transformer(vocabulary or 0, hidden, feedforward, count, decoder)


def _layers(count: int, hidden: int, feedforward: int, *, attentions: int = 1) -> int:
    return count * (4 * attentions * hidden**2 + 2 * hidden * feedforward)

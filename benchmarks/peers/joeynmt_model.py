"""JoeyNMT's transformer and loss of the size of a model of ours, for `benchmarks/training.py`.

`pip install joeynmt` asks for other versions of what is here: `pip install --no-deps joeynmt
tensorboard absl-py grpcio werkzeug portalocker subword-nmt` is enough to train with it.

Its dropout acts inside attention and feed-forward layers too, and it counts correct tokens at each
step, as it always does.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary
from torch import Tensor, nn

PAD, EOS = 1, 3
SYMBOLS = {"unk": 0, "pad": PAD, "bos": 2, "eos": EOS}


def vocabulary(size: int) -> Vocabulary:
    """Return a vocabulary of numbers as words."""
    names = {f"{name}_token": f"<{name}>" for name in SYMBOLS}
    numbers = {f"{name}_id": number for name, number in SYMBOLS.items()}
    symbols = SimpleNamespace(**names, **numbers, sep_token=None, sep_id=None, lang_tags=[])
    return Vocabulary([str(number) for number in range(size - len(SYMBOLS))], symbols)


def model_of(
    size: int, layers: int, hidden: int, feedforward: int, heads: int, dropout: float
) -> nn.Module:
    """Return a post-norm transformer whose embeddings and output layer are one matrix."""
    side: dict[str, Any] = {
        "type": "transformer",
        "num_layers": layers,
        "num_heads": heads,
        "hidden_size": hidden,
        "ff_size": feedforward,
        "dropout": dropout,
        "layer_norm": "post",
        "embeddings": {"embedding_dim": hidden, "scale": True, "dropout": dropout},
    }
    config = {
        "encoder": side,
        "decoder": side,
        "tied_embeddings": True,
        "tied_softmax": True,
        "initializer": "xavier_uniform",
        "bias_initializer": "zeros",
        "embed_initializer": "xavier_uniform",
    }
    words = vocabulary(size)
    model: nn.Module = build_model(config, words, words)
    model.loss_function = ("crossentropy", 0.1)
    return model


def loss(model: nn.Module, source: Tensor, labels: Tensor, pad: int) -> Tensor:
    """Return the loss of a batch of our ids, in which `pad` is the number of the pad."""
    source, labels = (_renumbered(ids, pad) for ids in (source, labels))
    start = labels.new_full((len(labels), 1), SYMBOLS["bos"])
    real = labels != PAD
    total: Tensor = model(
        return_type="loss",
        src=source,
        src_length=(source != PAD).sum(1),
        src_mask=(source != PAD).unsqueeze(1),
        trg_input=torch.cat([start, labels[:, :-1]], 1),
        trg=labels,
        trg_mask=real.unsqueeze(1),
    )[0]
    return total / real.sum()


def _renumbered(ids: Tensor, pad: int) -> Tensor:
    """Return ids in which the pad has JoeyNMT's number, and what had it the pad's."""
    renumbered = ids.clone()
    renumbered[ids == PAD] = pad
    renumbered[ids == pad] = PAD
    return renumbered

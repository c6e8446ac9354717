"""What can be told of a generator's experiment before it is prepared."""

from __future__ import annotations

from augury.core.store import Store
from augury.experiments.cost import Size, layers, pretrained_size
from augury.text.architecture import model_directory
from trainables.seq2seq.architecture import TinyT5
from trainables.seq2seq.config import Config


def check(experiment: Config, store: Store) -> None:
    """Refuse a pretrained model whose directory is not there."""
    if not isinstance(experiment.model, TinyT5):
        model_directory(experiment.model.name)


def size(experiment: Config, store: Store) -> Size | None:
    """Return the size of the encoder-decoder; None where the hub has to be asked."""
    model = experiment.model
    if not isinstance(model, TinyT5):
        return pretrained_size(model.name)
    embeddings = model.vocabulary_size * model.hidden_size
    encoder = layers(model.layers, model.hidden_size, model.feedforward_size)
    decoder = layers(model.layers, model.hidden_size, model.feedforward_size, attentions=2)
    return Size(embeddings + encoder + decoder, encoder, decoder + embeddings)

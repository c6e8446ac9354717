"""What can be told of an NLI experiment before it is prepared."""

from __future__ import annotations

from augury.core.store import Store
from augury.experiments.cost import Size, layers, pretrained_size
from augury.text.architecture import model_directory
from trainables.nli.architecture import Scratch
from trainables.nli.config import Config


def check(experiment: Config, store: Store) -> None:
    """Refuse a pretrained model whose directory is not there."""
    if not isinstance(experiment.model, Scratch):
        model_directory(experiment.model.name)


def size(experiment: Config, store: Store) -> Size | None:
    """Return the size of the classifier; None where the hub has to be asked."""
    model = experiment.model
    if not isinstance(model, Scratch):
        return pretrained_size(model.name)
    encoder = layers(model.sizes.layers, model.sizes.hidden_size, model.sizes.feedforward_size)
    return Size(model.vocabulary_size * model.sizes.hidden_size + encoder, encoder)

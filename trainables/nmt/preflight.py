"""What can be told of a translation experiment before it is prepared."""

from __future__ import annotations

from collections.abc import Iterator

from augury.core.store import Store
from augury.corpora.ingest import ingested
from augury.experiments.cost import Size, layers
from augury.regimes.regime import SOURCE, TARGET
from augury.text.vocabulary_size import fitting_size, many_words
from trainables.nmt.architecture import resolve
from trainables.nmt.config import Config

TOKENISED_APART = ("ja", "ko")  # by packages that are installed or not


def check(experiment: Config, store: Store) -> None:
    """Refuse a vocabulary that the training text does not allow, and metrics that cannot tokenise the target."""
    if experiment.corpus.target_language.replace("_", "-").split("-")[0] in TOKENISED_APART:
        from augury.scoring.metrics import metric

        for name in experiment.scoring.metrics:
            metric(name, experiment.corpus.target_language)
    if _sizes_given(experiment) and not many_words(_texts(experiment, store), entries(experiment, store)):
        from trainables.nmt.preparation import learned

        learned(experiment, store)  # of so little text it is learned at once


def size(experiment: Config, store: Store) -> Size:
    """Return the size of the transformer."""
    sizes, count = resolve(experiment.model), entries(experiment, store)
    embeddings = count * sizes.hidden_size
    encoder = layers(sizes.encoder_layers, sizes.hidden_size, sizes.feedforward_size)
    decoder = layers(sizes.decoder_layers, sizes.hidden_size, sizes.feedforward_size, attentions=2)
    matrices = 1 if experiment.model.share_all_embeddings else 2
    return Size(matrices * embeddings + encoder + decoder, encoder, decoder + embeddings)


def entries(experiment: Config, store: Store) -> int:
    """Return about how many entries the vocabulary will have."""
    settings, views = experiment.vocabulary, len(experiment.keys)
    plain = fitting_size(_texts(experiment, store), settings.entries) if settings.size == "auto" else settings.size
    if settings.mode == "separate":
        return plain + views * settings.separate_size_per_key
    return plain + views * (plain // 2 if settings.size_per_key == "auto" else settings.size_per_key)


def _sizes_given(experiment: Config) -> bool:
    """Whether the vocabulary has a size that does not follow from the text."""
    settings = experiment.vocabulary
    of_views = settings.mode == "separate" or settings.size_per_key != "auto"
    return settings.size != "auto" or (of_views and bool(experiment.keys))


def _texts(experiment: Config, store: Store) -> Iterator[str]:
    """The texts of both sides of the training corpus."""
    for block in ingested(experiment.corpus, "train", store.root).blocks([SOURCE, TARGET]):
        for side in (SOURCE, TARGET):
            yield from block.column(side).to_pylist()

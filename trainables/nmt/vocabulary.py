"""The vocabulary of a translation model: learned from its text, or that of a pretrained model."""

from __future__ import annotations

from collections.abc import Mapping

from augury.core import config
from augury.core.store import Folder, Store
from augury.decoding import search
from augury.models import pretrained
from augury.regimes.regime import SOURCE, TARGET
from augury.text.tokens import Text
from augury.text.vocabulary.vocabulary import Vocabulary, VocabularyTokenizer
from trainables.nmt import subwords
from trainables.nmt.architecture import PretrainedTranslator
from trainables.nmt.config import Config
from trainables.nmt.subwords import PretrainedVocabulary

AnyVocabulary = Vocabulary | PretrainedVocabulary
"""How texts become what a model reads, and its outputs texts."""


def load(experiment: Config, folder: Folder) -> AnyVocabulary:
    """Load the vocabulary of an experiment's runs; UserError where it is incomplete."""
    if isinstance(experiment.model, PretrainedTranslator):
        return PretrainedVocabulary.load(folder)
    return Vocabulary.load(folder)


def positions(experiment: Config, vocabulary: AnyVocabulary) -> int:
    """Return the number of subwords that the model reads or writes, the end included; a large one
    where its positions are relative."""
    if not isinstance(vocabulary, PretrainedVocabulary):
        return experiment.transformer.max_positions
    return search.positions(vocabulary.config)


def convertible(vocabulary: AnyVocabulary) -> bool:
    """Return whether CTranslate2 reads the models of a vocabulary."""
    if not isinstance(vocabulary, PretrainedVocabulary):
        return True
    from augury.decoding.conversion import reads  # loads torch

    return reads(vocabulary.config)


class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    def _vocabulary(self) -> PretrainedVocabulary:
        return PretrainedVocabulary.load(self.folder)


def tokenizer(
    experiment: Config, model: PretrainedTranslator, texts: Mapping[str, Text], store: Store
) -> PretrainedTokenizer:
    """Return the tokenizer of a pretrained model, made or not; `texts` are those of training."""
    determined = {
        "version": subwords.VERSION,
        "pretrained": pretrained.identity(model.name, model.revision),
        "languages": experiment.corpus.languages_of("train"),
        "direction": [model.source_language, model.target_language, model.prompt],
    }
    if model.new_pieces and (views := _views(texts)):
        determined["new_pieces"] = model.new_pieces
        determined["texts"] = [
            [name, text.folder.name] for name, text in {SOURCE: texts[SOURCE], **views}.items()
        ]
    return PretrainedTokenizer(store.folder("vocabularies", config.address(determined)))


def make_tokenizer(
    experiment: Config, model: PretrainedTranslator, texts: Mapping[str, Text], folder: Folder
) -> None:
    """Write the tokenizer of a pretrained model, with new pieces for views that need some."""
    loaded = pretrained.put_files(model.name, model.revision, folder, generation=True)
    corpus = experiment.corpus
    direction = subwords.direction(
        loaded,
        (corpus.source_language, corpus.target_language),
        (model.source_language, model.target_language),
        model.prompt,
    )
    views = {view: text.lines for view, text in _views(texts).items()}
    plain = texts[SOURCE].lines if views else list[str]
    subwords.make(folder, direction, views, plain, model.new_pieces)


def _views(texts: Mapping[str, Text]) -> dict[str, Text]:
    return {name: text for name, text in texts.items() if name not in (SOURCE, TARGET)}

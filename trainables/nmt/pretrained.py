"""A pretrained translation model: what the task asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.decoding import search
from augury.models import pretrained
from augury.models.lora import require_peft
from augury.models.settings import model_directory
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces import sentencepieces, subwords
from augury.text.pieces.vocabulary import VocabularyTokenizer
from augury.text.tokens import Text
from trainables.nmt.config import PretrainedTranslator
from trainables.nmt.pretrained_vocabulary import Direction, PretrainedVocabulary
from trainables.nmt.translator import Translator

if TYPE_CHECKING:
    from transformers import PreTrainedModel

VERSION = 1
"""Raised when the same model, texts and settings give other pieces; part of addresses."""
FOREIGN = 1.5
"""How many times the pieces of the source a view must have to get pieces of its own."""
VIEWS = "views-{}.model"


class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    def _vocabulary(self) -> PretrainedVocabulary:
        return PretrainedVocabulary.load(self.folder)


class Tuned(Translator):
    """A pretrained encoder-decoder with its own tokenizer, and new embeddings for new pieces."""

    @property
    def model(self) -> PretrainedTranslator:
        """Its settings."""
        assert isinstance(self.experiment.model, PretrainedTranslator)
        return self.experiment.model

    @cached_property
    def vocabulary(self) -> PretrainedVocabulary:
        assert self.folder is not None
        return PretrainedVocabulary.load(self.folder)

    @property
    def positions(self) -> int:
        return search.positions(self.vocabulary.config)

    @property
    def convertible(self) -> bool:
        from augury.decoding.conversion import reads  # loads torch

        return reads(self.vocabulary.config)

    def check(self, store: Store) -> None:
        if self.model.lora:
            require_peft()
        if model_directory(self.model.name):  # one of the hub is loaded when it is needed
            self.check_model(store)

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot translate this text, as its configuration and
        tokenizer say without its weights."""
        folder, name = self.tokenizer({}, store).folder, self.model.name
        make_once(folder, lambda: self.make_tokenizer({}, folder))
        made = Tuned(self.experiment, folder)
        vocabulary = made.vocabulary
        if not vocabulary.config.is_encoder_decoder:
            raise UserError(
                f"'{name}' ({vocabulary.config.model_type}) is no encoder-decoder: take a model "
                "of the families of Marian, M2M-100, mBART-50 or T5"
            )
        most = made.positions - max(len(vocabulary.before), len(vocabulary.first)) - 1
        if self.experiment.max_pieces > most:
            raise UserError(
                f"max_pieces={self.experiment.max_pieces} and the symbols around a text exceed the "
                f"positions of '{name}': set max_pieces to {most:,} at most"
            )

    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> PretrainedTokenizer:
        model = self.model
        determined = {
            "version": VERSION,
            "pretrained": pretrained.identity(model.name, model.revision),
            "languages": self.experiment.corpus.languages_of("train"),
            "direction": [model.source_language, model.target_language, model.prompt],
        }
        if model.new_pieces and (views := _views(texts)):
            determined["new_pieces"] = model.new_pieces
            determined["texts"] = [
                [name, text.folder.name] for name, text in {SOURCE: texts[SOURCE], **views}.items()
            ]
        return PretrainedTokenizer(store.folder("vocabularies", address(determined)))

    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer of the model, and the pieces of views that need some."""
        model, views, models = self.model, _views(texts), dict[str, str]()
        loaded = pretrained.put_files(model.name, model.revision, folder, generation=True)
        direction, directory = Direction.of(loaded, self.experiment), subwords.directory_of(folder)
        vocabulary = PretrainedVocabulary(directory, direction)
        for index, (view, text) in enumerate(views.items()):
            plain = vocabulary.pieces_per_text(texts[SOURCE].lines())
            if model.new_pieces and vocabulary.pieces_per_text(text.lines()) / plain > FOREIGN:
                models[view] = VIEWS.format(index)
                folder.write(
                    models[view], sentencepieces.learn_at_most(text.lines(), model.new_pieces)
                )
        read = {view: folder.read(file) for view, file in models.items()}
        vocabulary = PretrainedVocabulary(directory, direction, read)
        if models:
            say_once(
                f"vocabulary: {len(vocabulary.added):,} new pieces for {', '.join(models)}, beside "
                f"the {vocabulary.embedded:,} of the pretrained model"
            )
        folder.finish(
            {
                "direction": direction._asdict(),
                "models": models,
                "views": list(views),
                "size": len(vocabulary),
                "added": len(vocabulary.added),
                "version": VERSION,
            }
        )

    def untrained(self, seed: int) -> PreTrainedModel:
        """Return the model before training; UserError where `sequence.check` raises it, as for a
        model of another family. `seed` determines what is not pretrained."""
        from trainables import sequence
        from trainables.nmt.tuning import extended

        directory, tokenizer = self.vocabulary.directory, self.vocabulary.tokenizer
        perturbable = self.experiment.regime.needs_embeddings
        model = sequence.load(self.model, directory, tokenizer, perturbable=perturbable)
        return extended(model, self.model, self.vocabulary, seed).train()

    def empty(self) -> PreTrainedModel:
        from trainables import sequence
        from trainables.nmt.tuning import extended

        model = sequence.empty(self.vocabulary.config)
        return extended(model, self.model, self.vocabulary, seed=0)

    def convert(self, model: PreTrainedModel, directory: Path) -> None:
        from augury.decoding.conversion import to_ctranslate2
        from trainables.nmt.model import plain

        to_ctranslate2(plain(model), directory)


def _views(texts: Mapping[str, Text]) -> dict[str, Text]:
    return {name: text for name, text in texts.items() if name not in (SOURCE, TARGET)}

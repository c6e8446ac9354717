"""Models of `transformers` with their own tokenizers: what the tasks ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.rng import seed_of
from augury.core.store import Folder, Store
from augury.decoding import search
from augury.models import pretrained
from augury.models.settings import model_directory
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces import sentencepieces, subwords
from augury.text.pieces.vocabulary import VocabularyTokenizer
from augury.text.tokens import Text
from trainables.nmt.config import PretrainedTranslator, SequenceExperiment, TinyT5
from trainables.nmt.pretrained_vocabulary import Direction, PretrainedVocabulary
from trainables.nmt.translator import Translator

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

    from augury.experiments.cost import Size

VERSION = 1
"""Raised when the same model, texts and settings give other pieces; part of addresses."""
FOREIGN = 1.5
"""How many times the pieces of the source a view must have to get pieces of its own."""
VIEWS = "views-{}.model"


class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    def _vocabulary(self) -> PretrainedVocabulary:
        return PretrainedVocabulary.load(self.folder)


class EncoderDecoder(Translator):
    """An encoder-decoder of `transformers` with its own tokenizer: a pretrained one, with new
    embeddings for new pieces, or a small T5 whose weights and subwords are learned."""

    experiment: SequenceExperiment

    @property
    def pretrained(self) -> PretrainedTranslator | None:
        """Its settings, where it is pretrained."""
        model = self.experiment.model
        return model if isinstance(model, PretrainedTranslator) else None

    @cached_property
    def vocabulary(self) -> PretrainedVocabulary:
        assert self.folder is not None
        return PretrainedVocabulary.load(self.folder)

    @cached_property
    def config(self) -> PreTrainedConfig:
        """The configuration of `transformers`."""
        from transformers import T5Config

        model, vocabulary = self.experiment.model, self.vocabulary
        if not isinstance(model, TinyT5):
            assert vocabulary.config is not None
            return vocabulary.config
        return T5Config(
            vocab_size=len(vocabulary),
            d_model=model.hidden_size,
            d_kv=model.hidden_size // model.attention_heads,
            d_ff=model.feedforward_size,
            num_layers=model.layers,
            num_heads=model.attention_heads,
            dropout_rate=model.dropout,
            pad_token_id=vocabulary.pad,
            eos_token_id=vocabulary.eos,
            decoder_start_token_id=vocabulary.pad,
        )

    @property
    def positions(self) -> int:
        return search.positions(self.config)

    @property
    def convertible(self) -> bool:
        from augury.decoding.conversion import reads  # loads torch

        return reads(self.config)

    def check(self, store: Store) -> None:
        if self.pretrained and model_directory(self.pretrained.name):
            self.check_model(store)  # that of a hub is loaded when it is needed

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot translate this text, as its configuration and
        tokenizer say without its weights."""
        if not self.pretrained:
            return
        folder, name = self.tokenizer({}, store).folder, self.pretrained.name
        make_once(folder, lambda: self.make_tokenizer({}, folder))
        made = EncoderDecoder(self.experiment, folder)
        vocabulary = made.vocabulary
        if not made.config.is_encoder_decoder:
            raise UserError(
                f"'{name}' ({made.config.model_type}) is no encoder-decoder: take a model "
                "of the families of Marian, M2M-100, mBART-50 or T5"
            )
        most = made.positions - max(len(vocabulary.before), len(vocabulary.first)) - 1
        if self.experiment.max_pieces > most:
            raise UserError(
                f"max_pieces={self.experiment.max_pieces} and the symbols around a text exceed the "
                f"positions of '{name}': set max_pieces to {most:,} at most"
            )

    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> PretrainedTokenizer:
        model, determined = self.experiment.model, dict[str, Any]()
        if isinstance(model, PretrainedTranslator):
            determined = {
                "version": VERSION,
                "pretrained": pretrained.identity(model.name, model.revision),
                "languages": self.experiment.languages,
                "direction": [model.source_language, model.target_language, model.prompt],
            }
            if model.new_pieces and (views := _views(texts)):
                determined["new_pieces"] = model.new_pieces
                read = {SOURCE: texts[SOURCE], **views}
                determined["texts"] = [[name, text.folder.name] for name, text in read.items()]
        elif isinstance(model, TinyT5):
            determined = {
                "version": subwords.LEARNED,
                "size": model.vocabulary_size,
                "texts": [[text.folder.name, list(text.columns)] for text in texts.values()],
            }
        return PretrainedTokenizer(store.folder("vocabularies", address(determined)))

    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer of the model, and the pieces of views that need some."""
        model, views, models = self.experiment.model, _views(texts), dict[str, str]()
        if isinstance(model, TinyT5):
            lines = chain.from_iterable(text.lines() for text in texts.values())
            subwords.learn(lines, model.vocabulary_size, folder)
            return
        assert isinstance(model, PretrainedTranslator)
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
        vocabulary = PretrainedVocabulary(
            directory, direction, {view: folder.read(file) for view, file in models.items()}
        )
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

    def size(self, store: Store) -> Size:
        from augury.experiments.cost import transformer

        model = self.experiment.model
        assert isinstance(model, TinyT5)
        sizes = model.hidden_size, model.feedforward_size, model.layers, model.layers
        return transformer(model.vocabulary_size, *sizes)

    def untrained(self, seed: int) -> PreTrainedModel:
        """Return the model before training; UserError where `sequence.check` raises it, as for a
        model of another family."""
        import torch

        from trainables import sequence
        from trainables.nmt.tuning import extended

        vocabulary, perturbable = self.vocabulary, self.experiment.regime.needs_embeddings
        if self.pretrained:
            model = sequence.load(self.pretrained, vocabulary.directory)
            name = self.pretrained.name
        else:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed_of("seq2seq", "model", seed))
                model, name = sequence.empty(self.config), "T5"
        sequence.check(model, vocabulary.tokenizer, name, perturbable=perturbable)
        return extended(model, vocabulary).train()

    def empty(self) -> PreTrainedModel:
        from trainables import sequence
        from trainables.nmt.tuning import extended

        return extended(sequence.empty(self.config), self.vocabulary)


def _views(texts: Mapping[str, Text]) -> dict[str, Text]:
    return {name: text for name, text in texts.items() if name not in (SOURCE, TARGET)}

"""The model of an experiment: from nothing, or an encoder-decoder of `transformers` with its own
tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.rng import seed_of
from augury.core.store import Folder, Store
from augury.decoding.pretrained_vocabulary import PretrainedVocabulary
from augury.experiments.run import Run
from augury.models import pretrained
from augury.models.settings import model_directory
from augury.models.sizes import Size, transformer
from augury.text.pieces import subwords
from augury.text.pieces.vocabulary import VocabularyTokenizer
from augury.text.tokens import Text
from trainables.nmt.config import ModelSettings, PretrainedTranslator, SequenceExperiment, TinyT5
from trainables.nmt.translators import Architecture, FromNothing
from trainables.tokenizers import make_subwords, subword_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class PretrainedTokenizer(VocabularyTokenizer):
    """Encodes one column by a pretrained model's vocabulary, without symbols around it."""

    experiment: SequenceExperiment = field(compare=False)

    def _vocabulary(self) -> PretrainedVocabulary:
        return EncoderDecoder(self.experiment, self.folder).vocabulary


class EncoderDecoder(Architecture):
    """An encoder-decoder of `transformers` with its own tokenizer: a pretrained one, or a small T5
    whose weights and subwords are learned."""

    @cached_property
    def vocabulary(self) -> PretrainedVocabulary:
        from transformers import GenerationConfig, T5Config

        assert self.folder is not None
        self.folder.manifest()  # a UserError where it is incomplete
        model, directory = self.experiment.model, subwords.directory_of(self.folder)
        if isinstance(model, PretrainedTranslator):
            return PretrainedVocabulary(
                *pretrained.load_settings(directory, None),
                model.name,
                codes=(model.source_language, model.target_language),
                languages=self.experiment.languages,
                prompt=model.prompt,
            )
        assert isinstance(model, TinyT5)
        tokenizer = subwords.load(directory)
        config = T5Config(
            vocab_size=len(tokenizer),
            d_model=64,
            d_kv=16,
            d_ff=model.feedforward_size,
            num_layers=2,
            num_heads=4,
            dropout_rate=model.dropout,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
        )
        return PretrainedVocabulary(tokenizer, config, GenerationConfig(), "T5")

    @property
    def positions(self) -> int:
        return self.vocabulary.positions

    def check(self, store: Store) -> None:
        if self.experiment.pretrained and model_directory(self.experiment.pretrained.name):
            self.check_model(store)  # that of a hub is loaded when it is needed

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot translate this text, as its configuration and
        tokenizer say without its weights."""
        if not self.experiment.pretrained:
            return
        folder, name = self.tokenizer({}, store).folder, self.experiment.pretrained.name
        make_once(folder, lambda: self.make_tokenizer({}, folder))
        vocabulary = EncoderDecoder(self.experiment, folder).vocabulary
        most = vocabulary.positions - max(len(vocabulary.before), len(vocabulary.first)) - 1
        if self.experiment.max_pieces > most:
            raise UserError(
                f"max_pieces={self.experiment.max_pieces} and the symbols around a text exceed the "
                f"positions of '{name}': set max_pieces to {most:,} at most"
            )

    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> PretrainedTokenizer:
        folder = subword_folder(self.experiment.model, texts, store)
        return PretrainedTokenizer(folder, self.experiment)

    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        make_subwords(self.experiment.model, texts, folder)

    def size(self, store: Store) -> Size:
        model = self.experiment.model
        assert isinstance(model, TinyT5)
        return transformer(model.vocabulary_size, 64, model.feedforward_size, 2, 2)

    def untrained(self, seed: int) -> PreTrainedModel:
        import torch

        from trainables import sequence

        if self.experiment.pretrained:
            assert self.folder is not None
            model = sequence.load(self.experiment.pretrained, subwords.directory_of(self.folder))
            return self._begun(model).train()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("seq2seq", "model", seed))
            return self.empty().train()

    def empty(self) -> PreTrainedModel:
        from trainables import sequence

        return self._begun(sequence.empty(self.vocabulary.config))

    def _begun(self, model: PreTrainedModel) -> PreTrainedModel:
        """Return a model that keeps, of its own search, where outputs begin and end."""
        from transformers import GenerationConfig

        start = self.vocabulary.generation.decoder_start_token_id
        model.generation_config = GenerationConfig(
            decoder_start_token_id=model.config.decoder_start_token_id if start is None else start,
            eos_token_id=self.vocabulary.eos,
            pad_token_id=self.vocabulary.pad,
        )
        return model


def architecture(
    experiment: SequenceExperiment, folder: Folder | None = None
) -> FromNothing | EncoderDecoder:
    """Return the model of an experiment, and the vocabulary in a folder."""
    if isinstance(experiment.model, ModelSettings):
        return FromNothing(experiment, folder)
    return EncoderDecoder(experiment, folder)


def architecture_of(run: Run) -> FromNothing | EncoderDecoder:
    """Return the model of a run, whose vocabulary is made."""
    assert isinstance(run.experiment, SequenceExperiment)
    return architecture(run.experiment, run.stored_folder(run.tokenizer))

"""What the tasks ask of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from augury.core.store import Folder, Store
from augury.regimes.regime import TARGET
from augury.text.tokens import Text, Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from augury.experiments.cost import Size


class Translator(ABC):
    """The model of an experiment, with its vocabulary once that is made.

    Vocabularies of all kinds have the members of `text.pieces.vocabulary.Vocabulary` that
    translation reads; to read an incomplete one is a UserError. Torch is imported where models are
    made.
    """

    vocabulary: Any

    def __init__(self, experiment: Any, folder: Folder | None = None):
        """`folder` is that of the vocabulary, where it is made."""
        self.experiment, self.folder = experiment, folder

    @property
    @abstractmethod
    def positions(self) -> int:
        """The number of subwords that the model reads or writes, the end included; a large one
        where its positions are relative."""

    def prefix(self, domain: str | None = None, target: str = TARGET) -> list[int]:
        """Return the ids before a source: a model's own, and the tags of the language of the
        `target` and of the text's domain."""
        tags = [self.vocabulary.tags[tag] for tag in self.experiment.prefix(domain, target)]
        return [*self.vocabulary.before, *tags]

    @abstractmethod
    def check(self, store: Store) -> None:
        """Raise UserError for settings and training text that cannot be prepared."""

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot be trained, before anything is made."""
        return None

    @abstractmethod
    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        """Return the tokenizer of training texts, made or not."""

    @abstractmethod
    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer into its folder and finish that."""

    @abstractmethod
    def size(self, store: Store) -> Size:
        """Estimate the size of a model from nothing."""

    @abstractmethod
    def untrained(self, seed: int) -> PreTrainedModel:
        """Return the model before training, on the CPU and in training mode; `seed` determines what
        is not pretrained."""

    @abstractmethod
    def empty(self) -> PreTrainedModel:
        """Return a model whose weights will be replaced by those of a run."""

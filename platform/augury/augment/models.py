"""The models that operators use: what they can do, and the settings of trained ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from pydantic import model_validator

from augury.core.config import ModelName, Section
from augury.core.errors import UserError
from augury.core.store import Store
from augury.decoding.settings import Sampler, Translator


class TextModel(Protocol):
    """A model from text to text that an operator uses, loaded where it is used; `name`
    identifies it in addresses."""

    @property
    def name(self) -> str: ...

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU where there is one."""

    def sampler(self, store: Store) -> Sampler:
        """Return the model as a function that draws text, loaded once."""

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the model as a function that translates text, loaded once; `threads` are those
        on a CPU."""


class Classifier(Protocol):
    """A classifier of pairs of sentences that an operator uses; `name` identifies it in
    addresses."""

    @property
    def name(self) -> str: ...

    def probabilities(self, store: Store, *columns: Sequence[str]) -> np.ndarray:
        """Return the probabilities of `LABELS`, (rows, labels), given the columns of sentences.

        UserError for a model that does not know one of them.
        """


class ModelInputs(NamedTuple):
    """What a model reads: views of texts, and languages, the one that it translates from first;
    None where a checkpoint does not say."""

    views: Sequence[str]
    languages: Sequence[str] | None


class ReadyModel(Section):
    """A model that has been trained: a run of Augury, or a checkpoint of `transformers`."""

    run: ModelName | None = None
    """The folder of a run's seed, as `augury train` prints it."""
    checkpoint: ModelName | None = None
    """Directory that `save_pretrained` wrote, or name on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    source_language: str | None = None
    """Source language of a checkpoint for many languages, as its tokenizer calls it
    (`fra_Latn`)."""
    target_language: str | None = None
    """Target language of such a checkpoint."""

    @property
    def languages(self) -> tuple[str, str] | None:
        """The languages, where they are given."""
        if self.source_language is None or self.target_language is None:
            return None
        return self.source_language, self.target_language

    @model_validator(mode="after")
    def _either(self) -> ReadyModel:
        if (self.run is None) == (self.checkpoint is None):
            raise UserError("a trained model is a run or a checkpoint: give one of the two")
        missing = [self.source_language, self.target_language].count(None)
        if missing == 1 or (self.run and not missing):
            raise UserError(
                "give both source_language and target_language of a checkpoint of many languages, "
                "and neither of other models"
            )
        return self

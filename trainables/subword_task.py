"""The base of tasks with a tokenizer of `transformers`, pretrained or learned from text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from augury.augment.draw import Symbols
from augury.core import config
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.store import Folder, Store
from augury.experiments.task import Task
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.text.pieces import subwords
from augury.text.pieces.subwords import Subwords
from augury.text.tokens import Text

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class SubwordTask(Task):
    """A task whose `model` is Pretrained, or has a `vocabulary_size` and learns from scratch."""

    @abstractmethod
    def subwords(self, experiment: Any, folder: Folder) -> Subwords:
        """Return the tokenizer in a folder, with the settings of the experiment."""

    def check_model(self, experiment: Any, store: Store) -> None:
        if isinstance(experiment.model, Pretrained):
            directory = self.keep_tokenizer(experiment, store)
            if experiment.token_draws:
                symbols_of(subwords.load(directory))

    def tokenizer(self, experiment: Any, texts: Mapping[str, Text], store: Store) -> Subwords:
        model, determined = experiment.model, dict[str, Any]()
        if isinstance(model, Pretrained):  # does not depend on the texts
            determined["pretrained"] = pretrained.identity(model.name, model.revision)
        else:
            determined = {
                "version": subwords.LEARNED,
                "size": model.vocabulary_size,
                "texts": [[text.folder.name, list(text.columns)] for text in texts.values()],
            }
        folder = store.folder("vocabularies", config.address(determined))
        return self.subwords(experiment, folder)

    def make_tokenizer(self, experiment: Any, texts: Mapping[str, Text], folder: Folder) -> None:
        model = experiment.model
        if isinstance(model, Pretrained):
            pretrained.save(model.name, model.revision, folder)
        else:
            lines = (line for text in texts.values() for line in text.lines())
            subwords.learn(lines, model.vocabulary_size, folder)

    def keep_tokenizer(self, experiment: Any, store: Store) -> str:
        """Return the directory of a pretrained model's tokenizer and configuration, kept in the
        store."""
        folder = self.tokenizer(experiment, {}, store).folder
        make_once(folder, lambda: self.make_tokenizer(experiment, {}, folder))
        return subwords.directory_of(folder)

    def address_settings(self, experiment: Any) -> dict[str, Any]:
        return {"model": pretrained.address_settings(experiment.model)}


def save_pretrained(
    form: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, directory: Path
) -> None:
    """Write model and tokenizer for plain `transformers`; UserError unless `form` is `hf`."""
    if form != "hf":
        raise UserError(f"this task has no form '{form}': export --to takes hf")
    with pretrained.quiet():
        model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)


def symbols_of(tokenizer: PreTrainedTokenizerBase) -> Symbols:
    """Return the symbols that draws need; UserError for a tokenizer without unknown symbol."""
    if tokenizer.unk_token_id is None:
        raise UserError(
            "draws replace tokens by the unknown symbol, and the model's tokenizer has none"
        )
    return Symbols(
        tokenizer.unk_token_id, np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
    )

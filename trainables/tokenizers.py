"""Tokenizers of `transformers` for the tasks: a pretrained model's own, or learned from text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from augury.core import config
from augury.core.store import Folder, Store
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.text.pieces import subwords
from augury.text.tokens import Text


def subword_folder(model: Any, texts: Mapping[str, Text], store: Store) -> Folder:
    """Return the folder of the tokenizer of a model, by what determines it."""
    if isinstance(model, Pretrained):  # does not depend on the texts
        determined: dict[str, Any] = {"pretrained": pretrained.identity(model.name, model.revision)}
    else:
        read = [[text.folder.name, list(text.columns)] for text in texts.values()]
        size = model.vocabulary_size
        determined = {"version": subwords.LEARNED, "size": size, "texts": read}
    return store.folder("vocabularies", config.address(determined))


def make_subwords(model: Any, texts: Mapping[str, Text], folder: Folder) -> None:
    """Write the tokenizer of a model into its folder and finish that."""
    if isinstance(model, Pretrained):
        pretrained.save(model.name, model.revision, folder)
    else:
        lines = chain.from_iterable(text.lines() for text in texts.values())
        subwords.learn(lines, model.vocabulary_size, folder)

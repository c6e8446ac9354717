"""Tokenizers of `transformers` for the tasks: a pretrained model's own, or learned from text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from augury.core.store import Folder
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.text.pieces import subwords
from augury.text.tokens import Text


def subword_settings(model: Any, texts: Mapping[str, Text]) -> dict[str, Any]:
    """Return what determines the tokenizer of a model, for its address."""
    if isinstance(model, Pretrained):  # does not depend on the texts
        return {"pretrained": pretrained.identity(model.name, model.revision)}
    return {
        "version": subwords.LEARNED,
        "size": model.vocabulary_size,
        "texts": [[text.folder.name, list(text.columns)] for text in texts.values()],
    }


def make_subwords(model: Any, texts: Mapping[str, Text], folder: Folder) -> None:
    """Write the tokenizer of a model into its folder and finish that."""
    if isinstance(model, Pretrained):
        pretrained.save(model.name, model.revision, folder)
    else:
        lines = chain.from_iterable(text.lines() for text in texts.values())
        subwords.learn(lines, model.vocabulary_size, folder)

"""Beam search with a translation model: by CTranslate2, or by `transformers` for models that it
does not read."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import PreTrainedModel

from augury.decoding import generate
from augury.decoding.conversion import checkpoint_to_ctranslate2, to_ctranslate2
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding
from trainables.nmt.model import plain
from trainables.nmt.subwords import PretrainedVocabulary
from trainables.nmt.vocabulary import AnyVocabulary, convertible


def convert(model: PreTrainedModel, vocabulary: AnyVocabulary, directory: Path) -> None:
    """Write a model in CTranslate2's format."""
    if isinstance(vocabulary, PretrainedVocabulary):
        checkpoint_to_ctranslate2(plain(model), directory)
    else:
        to_ctranslate2(plain(model), directory, vocabulary.pieces, unk=vocabulary.unk)


def translate(
    model: PreTrainedModel,
    vocabulary: AnyVocabulary,
    sources: Sequence[Sequence[int]],
    decoding: Decoding,
) -> list[Hypothesis]:
    """Return the best hypotheses of sources, ids without the end of sentence, with the present
    weights; they begin with `vocabulary.first`."""
    never, first = vocabulary.never, vocabulary.first
    if not convertible(vocabulary):
        return generate.generate(model, sources, decoding, never, first)
    with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
        convert(model, vocabulary, Path(directory))
        decoder = CTranslateDecoder(directory, threads=torch.get_num_threads())
    return decoder.translate(sources, decoding, never, first)

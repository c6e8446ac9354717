"""Beam search with a translation model: by CTranslate2, or by `transformers` for models that it
does not read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedModel

from augury.decoding import generate
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding
from trainables.nmt.model import plain
from trainables.nmt.subwords import PretrainedVocabulary
from trainables.nmt.vocabulary import AnyVocabulary, convertible

Search = Callable[[Sequence[Sequence[int]], Decoding], list[Hypothesis]]


def convert(model: PreTrainedModel, vocabulary: AnyVocabulary, directory: Path) -> None:
    """Write a model in CTranslate2's format."""
    # Training without validation by translations runs where CTranslate2 is not installed.
    from augury.decoding.conversion import to_ctranslate2

    if isinstance(vocabulary, PretrainedVocabulary):
        to_ctranslate2(plain(model), directory)
    else:
        to_ctranslate2(plain(model), directory, vocabulary.pieces, unk=vocabulary.unk)


def translate_greedily(
    model: PreTrainedModel,
    vocabulary: AnyVocabulary,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
) -> list[tuple[int, ...]]:
    """Return greedy translations with the present weights, each cut after its limit of tokens.

    Sources and translations are ids without the end of sentence; translations begin with
    `vocabulary.first`.
    """
    translations: list[tuple[int, ...]] = [()] * len(sources)
    search = _search(model, vocabulary)
    for rows in _of_similar_limit(limits):
        decoding = Decoding(beam=1, max_length=limits[rows[-1]])
        hypotheses = search([sources[row] for row in rows], decoding)
        for row, best in zip(rows, hypotheses, strict=True):
            translations[row] = best.ids[: limits[row]]
    return translations


def _search(model: PreTrainedModel, vocabulary: AnyVocabulary) -> Search:
    never, first = vocabulary.never, vocabulary.first
    if not convertible(vocabulary):
        return lambda sources, decoding: generate.generate(model, sources, decoding, never, first)
    from augury.decoding.ctranslate import CTranslateDecoder

    with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
        convert(model, vocabulary, Path(directory))
        decoder = CTranslateDecoder(directory, threads=torch.get_num_threads())
    return lambda sources, decoding: decoder.translate(sources, decoding, never, first)


def _of_similar_limit(limits: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows by rising limits that differ by at most a half.

    One search has one limit: a model that has not learnt to end would write all sentences until
    that of the longest, several times as much as is kept.
    """
    group: list[int] = []
    for row in sorted(range(len(limits)), key=limits.__getitem__):
        if group and limits[row] > 1.5 * limits[group[0]]:
            yield group
            group = []
        group.append(row)
    if group:
        yield group

"""Greedy translations with the weights of a model in training."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from transformers import MarianMTModel

from augury.decoding.settings import Decoding
from tests.hypotheses import decoder_of
from tests.trainables.nmt.conftest import Untrained
from trainables.nmt.engines import translate_greedily
from trainables.nmt.translation import Translation


def test_translations_are_those_of_one_search_cut_at_their_limits(untrained: Untrained) -> None:
    task = Translation(untrained())
    vocabulary = cast(Any, task.vocabulary)
    random = np.random.default_rng(1)
    lengths = random.integers(1, 30, 40).tolist()
    sources = [random.choice(vocabulary.ordinary, length).tolist() for length in lengths]
    limits = [2 * length + 1 for length in lengths]

    assert isinstance(task.module, MarianMTModel)
    decoder = decoder_of(task.module, vocabulary.pieces, unk=vocabulary.unk)
    settings = Decoding(beam=1, max_length=max(limits))
    whole = decoder.translate(sources, settings, vocabulary.never)

    translations = translate_greedily(task.module, task.vocabulary, sources, limits)
    assert translations == [best.ids[:limit] for best, limit in zip(whole, limits, strict=True)]
    assert any(len(best.ids) > limit for best, limit in zip(whole, limits, strict=True))

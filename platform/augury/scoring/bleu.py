"""BLEU (Papineni et al., 2002) from per-sentence statistics, and the text preparations of its variants."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from augury.scoring.ngrams import matches

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

ORDER = 4
Smoothing = Literal["exp", "none"]

_HYPHEN = re.compile(r"(\S)-(\S)")


def statistics(hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
    """The nine counts of a sentence: clipped matches of n = 1 .. 4, hypothesis n-grams, reference length."""
    in_hypothesis, in_reference, matched = matches(hypothesis, reference, ORDER)
    return [*matched, *in_hypothesis, in_reference[0]]


def value(sums: Sequence[float], smoothing: Smoothing) -> float:
    """BLEU, 0 to 100, of a corpus whose `statistics` sum to `sums`.

    Without smoothing any order without a match gives 0, as in multi-bleu.perl; `exp` counts the k-th such
    order as 1 / 2^k matches, as in mteval-v13a (Chen and Cherry, 2014, method 3). A corpus without any match,
    or without any 4-gram, has BLEU 0 either way.
    """
    matched, total, reference_length = sums[:ORDER], sums[ORDER : 2 * ORDER], sums[2 * ORDER]
    if not any(matched) or not all(total) or (smoothing == "none" and not all(matched)):
        return 0.0
    logarithms, smoothed = [], 1.0
    for count, possible in zip(matched, total, strict=True):
        if not count:
            smoothed /= 2
        logarithms.append(math.log(100 * (count or smoothed) / possible))
    brevity_penalty = min(1.0, math.exp(1 - reference_length / total[0]))
    return brevity_penalty * math.exp(sum(logarithms) / ORDER)


@lru_cache(maxsize=2**16)
def moses(line: str, language: str) -> tuple[str, ...]:
    """The tokens of a line by the Moses rules of `language`; `& | < > ' " [ ]` become `&amp;` and so on."""
    return tuple(_tokenizer(language).tokenize(line, escape=True))


def compound_split(line: str) -> str:
    """A tokenised line with hyphens inside words split off: `rich-text` becomes `rich ##AT##-##AT## text`.

    Matches do not overlap: `a-b-c` is split once, as in the scripts behind published WMT14 En-De figures.
    """
    return _HYPHEN.sub(r"\1 ##AT##-##AT## \2", line)


@lru_cache
def _tokenizer(language: str) -> MosesTokenizer:
    from sacremoses import MosesTokenizer

    return MosesTokenizer(lang=language)

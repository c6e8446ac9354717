"""Reordering of source words to the word order of the target language, based on word alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from augury.core.errors import unknown
from augury.core.words import is_punctuation
from augury.text.alignment.symmetrise import Link

Anchor = Literal["min", "mean", "max"]

_ANCHORS: dict[str, Callable[[list[int]], float]] = {
    "min": min,
    "mean": lambda positions: sum(positions) / len(positions),
    "max": max,
}


def permutation(words: Sequence[str], links: Iterable[Link], anchor: Anchor = "min") -> list[int]:
    """Return the indices of the source words in target order.

    Words are sorted by the position of their first aligned target word (`anchor`: or the mean, or
    the last). Unaligned words move with the nearest aligned word to their right, punctuation marks
    with that to their left, or else with the one on the other side. Ties keep the source order, as
    do all words if none is aligned.

    Raises UserError for an unknown anchor.
    """
    if anchor not in _ANCHORS:
        raise unknown("anchor", anchor, _ANCHORS)
    positions = {
        source: _ANCHORS[anchor](targets) for source, targets in _targets(words, links).items()
    }
    if not positions:
        return list(range(len(words)))
    left = _nearest(range(len(words)), positions)
    right = _nearest(reversed(range(len(words))), positions)

    def position(source: int) -> float:
        first, second = (left, right) if is_punctuation(words[source]) else (right, left)
        return positions[first.get(source, second.get(source, source))]

    return sorted(range(len(words)), key=position)


def coverage(words: Sequence[str], links: Iterable[Link]) -> float:
    """Return the fraction of words, without punctuation, that are aligned; 0 if there are no
    words."""
    linked = _targets(words, links)
    counted = [source in linked for source, word in enumerate(words) if not is_punctuation(word)]
    return sum(counted) / len(counted) if counted else 0.0


def _targets(words: Sequence[str], links: Iterable[Link]) -> dict[int, list[int]]:
    """Return the target positions of each aligned source word."""
    targets: dict[int, list[int]] = {}
    for source, target in links:
        assert 0 <= source < len(words), (source, target, words)
        targets.setdefault(source, []).append(target)
    return targets


def _nearest(sources: Iterable[int], linked: Iterable[int]) -> dict[int, int]:
    """Return for each word the last linked one up to it, in the order of `sources`."""
    nearest: dict[int, int] = {}
    last = None
    for source in sources:
        last = source if source in linked else last
        if last is not None:
            nearest[source] = last
    return nearest

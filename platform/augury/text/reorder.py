"""The order of another language: source words sorted by the places of the words that they are linked to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from augury.core.errors import unknown
from augury.text.symmetrise import Link
from augury.text.words import is_punctuation

Anchor = Literal["min", "mean", "max"]

_ANCHORS: dict[str, Callable[[list[int]], float]] = {
    "min": min,
    "mean": lambda places: sum(places) / len(places),
    "max": max,
}


def permutation(words: Sequence[str], links: Iterable[Link], anchor: Anchor = "min") -> list[int]:
    """The source words in the order of the target: its word i is `words[permutation[i]]`.

    A word stands where its first target word stands (`anchor`: or their mean, or the last). A word without links goes
    with the nearest linked word to its right, a punctuation mark with that to its left; with the other where there is
    none. Words of one place keep their order, as all do where nothing is linked.

    Raises UserError for an unknown anchor.
    """
    if anchor not in _ANCHORS:
        raise unknown("anchor", anchor, _ANCHORS)
    places = {source: _ANCHORS[anchor](targets) for source, targets in _targets(words, links).items()}
    if not places:
        return list(range(len(words)))
    left = _nearest(range(len(words)), places)
    right = _nearest(reversed(range(len(words))), places)

    def place(source: int) -> float:
        first, second = (left, right) if is_punctuation(words[source]) else (right, left)
        return places[first.get(source, second.get(source, source))]

    return sorted(range(len(words)), key=place)


def coverage(words: Sequence[str], links: Iterable[Link]) -> float:
    """The share of the words, punctuation left out, that have a link; 0 where there are no words."""
    linked = _targets(words, links)
    counted = [source in linked for source, word in enumerate(words) if not is_punctuation(word)]
    return sum(counted) / len(counted) if counted else 0.0


def _targets(words: Sequence[str], links: Iterable[Link]) -> dict[int, list[int]]:
    """The target places of every source word that has any."""
    targets: dict[int, list[int]] = {}
    for source, target in links:
        assert 0 <= source < len(words), (source, target, words)
        targets.setdefault(source, []).append(target)
    return targets


def _nearest(sources: Iterable[int], linked: Iterable[int]) -> dict[int, int]:
    """For each word the last linked one that was met on the way to it, itself included."""
    nearest: dict[int, int] = {}
    last = None
    for source in sources:
        last = source if source in linked else last
        if last is not None:
            nearest[source] = last
    return nearest

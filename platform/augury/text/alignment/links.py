"""Links of word alignments: both directions combined, files of others, and the word order that
they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from augury.core.errors import UserError, unknown
from augury.core.naming import is_whole
from augury.core.words import is_punctuation

Link = tuple[int, int]
"""Positions, from 0, of an aligned source and target word."""
Symmetrisation = Literal["grow-diag-final-and", "intersection", "union"]
Anchor = Literal["min", "mean", "max"]

_NEIGHBOURS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
_ANCHORS: dict[str, Callable[[list[int]], float]] = {
    "min": min,
    "mean": lambda positions: sum(positions) / len(positions),
    "max": max,
}


def read_pharaoh(line: str, place: str) -> list[Link]:
    """Return the links in a line of Pharaoh's format, `0-0 1-2`; UserError, with the place, for
    another one."""
    links = []
    for word in line.split():
        source, dash, target = word.partition("-")
        if not (dash and is_whole(source) and is_whole(target)):
            raise UserError(
                f"{place}: '{word}' is no link: give positions from 0, source-target, as in 0-0 1-2"
            )
        links.append((int(source), int(target)))
    return sorted(links)


def symmetrise(
    forward: Iterable[Link],
    reverse: Iterable[Link],
    symmetrisation: Symmetrisation = "grow-diag-final-and",
) -> list[Link]:
    """Combine the links of a sentence pair in both directions, sorted: `grow-diag-final-and` (Koehn
    et al. 2005), or what both or either have (Koehn, Och and Marcu 2003)."""
    if symmetrisation == "grow-diag-final-and":
        return sorted(_grow_diag_final_and(set(forward), set(reverse)))
    if symmetrisation == "intersection":
        return sorted(set(forward) & set(reverse))
    if symmetrisation == "union":
        return sorted(set(forward) | set(reverse))
    raise unknown("symmetrisation", symmetrisation, get_args(Symmetrisation))


def _grow_diag_final_and(forward: set[Link], reverse: set[Link]) -> set[Link]:
    """Start from the intersection, add neighbouring links of unaligned words, then links of two
    unaligned words."""
    links = forward & reverse
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    candidates, before = sorted((forward | reverse) - links), -1
    while len(links) != before:
        before = len(links)
        for i, j in candidates:
            unaligned = i not in sources or j not in targets
            if unaligned and any((i + across, j + down) in links for across, down in _NEIGHBOURS):
                add((i, j))
    for direction in (forward, reverse):
        for i, j in sorted(direction):
            if i not in sources and j not in targets:
                add((i, j))
    return links


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

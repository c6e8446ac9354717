"""Links of both directions made one set (Koehn, Och and Marcu 2003; Koehn et al. 2005, "grow-diag-final-and")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from augury.core.errors import unknown

Link = tuple[int, int]
"""The places, counted from 0, of a source word and a target word that translate each other."""
Symmetrisation = Literal["grow-diag-final-and", "intersection", "union"]

_NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]


def symmetrise(
    forward: Iterable[Link], reverse: Iterable[Link], symmetrisation: Symmetrisation = "grow-diag-final-and"
) -> list[Link]:
    """The links of a sentence pair from those of both directions, sorted; UserError for an unknown symmetrisation."""
    if symmetrisation == "grow-diag-final-and":
        return sorted(_grow_diag_final_and(set(forward), set(reverse)))
    if symmetrisation == "intersection":
        return sorted(set(forward) & set(reverse))
    if symmetrisation == "union":
        return sorted(set(forward) | set(reverse))
    raise unknown("symmetrisation", symmetrisation, get_args(Symmetrisation))


def _grow_diag_final_and(forward: set[Link], reverse: set[Link]) -> set[Link]:
    """Start with what both have, grow along neighbours that link a new word, then link what is free on both sides."""
    links = forward & reverse
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    waiting, before = sorted((forward | reverse) - links), -1
    while len(links) != before:
        before = len(links)
        for i, j in waiting:
            new = i not in sources or j not in targets
            if new and any((i + across, j + down) in links for across, down in _NEIGHBOURS):
                add((i, j))
    for direction in (forward, reverse):
        for i, j in sorted(direction):
            if i not in sources and j not in targets:
                add((i, j))
    return links

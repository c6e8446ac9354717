"""The merges of a BPE vocabulary, and words segmented anew by them with some left out (BPE-dropout)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from augury.core.rng import fractions, nested
from augury.text.vocabulary_settings import SPACE

Word = tuple[int, ...]
"""The ids of a word's pieces."""

MERGED, SKIPPED = 0, 1
UNSEEN, DONE = -1, -2
MOST_STATES = 250_000  # about 100 MB; then all are forgotten and met again


class _State(NamedTuple):
    """A word half merged: its pieces, and a bit for each that was not to be merged with the piece behind it."""

    pieces: Word
    skipped: int


class Merges:
    """The merges of one BPE model, over the ids of a vocabulary.

    Two neighbours merge where their concatenation is a piece, those first whose piece was learned first, and of
    equal ones the leftmost, as sentencepiece does. In dropout every merge that comes up is skipped with a probability,
    and comes up again only when a neighbour has changed: the algorithm of sentencepiece (`enable_sampling`, `alpha`),
    which leaves words in more pieces than that of Provilkov et al., where skipped merges come up again after every
    other one.

    Words come again in every pass. What a decision leads to is kept, so that segmenting many words is a walk through a
    table, all words at once.
    """

    def __init__(self, pieces: Sequence[str], learned: Sequence[int]):
        """Take the pieces of a vocabulary by id, and the ids of those that the model has, in the order learned."""
        ids = {pieces[index]: index for index in learned}
        self.known = np.zeros(len(pieces), bool)
        """Whether the model has a piece, (ids,)."""
        self.known[list(learned)] = True
        self.begins = np.array([piece.startswith(SPACE) for piece in pieces])
        """Whether a piece begins a word, (ids,)."""
        # Every character of a piece is a piece, and what merges come to on their way is too.
        self._characters = {index: tuple(ids[character] for character in piece) for piece, index in ids.items()}
        self._pairs = {
            (ids[piece[:cut]], ids[piece[cut:]]): (rank, index)
            for rank, (piece, index) in enumerate(ids.items())
            for cut in range(1, len(piece))
            if piece[:cut] in ids and piece[cut:] in ids
        }
        self._forget()

    def segmented(self, words: Sequence[Word], dropout: float, keys: np.ndarray) -> list[Word]:
        """Return words, of known pieces in any segmentation, as the pieces that merges with dropout leave.

        With dropout 0 they are those of plain BPE, with 1 single characters. What becomes of a word depends on its
        characters and its key, of `keys` (words,), alone.
        """
        if len(self._states) > MOST_STATES:
            self._forget()
        states = np.array([self._beginning(word) for word in words], np.int64)
        turn, places = 0, np.arange(len(words))
        while len(places := places[self._following[states[places], MERGED] != DONE]):
            decisions = np.where(fractions(nested(keys[places], turn)) < dropout, SKIPPED, MERGED)
            following = self._following[states[places], decisions]
            for unseen in np.flatnonzero(following == UNSEEN):
                following[unseen] = self._step(int(states[places[unseen]]), int(decisions[unseen]))
            states[places] = following
            turn += 1
        return [self._states[state].pieces for state in states.tolist()]

    def _forget(self) -> None:
        self._beginnings: dict[Word, int] = {}
        self._numbers: dict[_State, int] = {}
        self._states: list[_State] = []
        self._candidates: list[int] = []  # the piece of a state that would merge next with the one behind it
        self._following = np.empty((1024, 2), np.int64)  # the states after MERGED and after SKIPPED

    def _beginning(self, word: Word) -> int:
        """The number of the state in which a word is single characters."""
        number = self._beginnings.get(word)
        if number is None:
            characters = tuple(character for piece in word for character in self._characters[piece])
            number = self._beginnings[word] = self._number(_State(characters, 0))
        return number

    def _step(self, number: int, decision: int) -> int:
        """The number of the state that a decision leads to; from now on it is in the table."""
        if self._following[number, decision] == UNSEEN:  # it may have been met at another word of the same turn
            (pieces, skipped), place = self._states[number], self._candidates[number]
            if decision == SKIPPED:
                state = _State(pieces, skipped | 1 << place)
            else:
                _, merged = self._pairs[pieces[place], pieces[place + 1]]
                # What stands beside a changed piece comes up again.
                before, behind = skipped & ((1 << max(place - 1, 0)) - 1), skipped >> (place + 2)
                state = _State((*pieces[:place], merged, *pieces[place + 2 :]), before | behind << (place + 1))
            self._following[number, decision] = self._number(state)
        return int(self._following[number, decision])

    def _number(self, state: _State) -> int:
        """The number of a state, which may be a new one."""
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            candidate = self._candidate(state)
            self._states.append(state)
            self._candidates.append(candidate)
            if number == len(self._following):
                self._following = np.concatenate([self._following, np.empty_like(self._following)])
            self._following[number] = DONE if candidate < 0 else UNSEEN
        return number

    def _candidate(self, state: _State) -> int:
        """The place of the piece that merges next with the one behind it, -1 where none does."""
        pieces, skipped = state
        pairs = zip(pieces, pieces[1:], strict=False)
        ranks = [
            (self._pairs[pair][0], place)
            for place, pair in enumerate(pairs)
            if pair in self._pairs and not skipped >> place & 1
        ]
        return min(ranks)[1] if ranks else -1

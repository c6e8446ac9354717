"""Rows of ids segmented anew with BPE-dropout: other pieces of the same text (Provilkov et al. 2020)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import sentencepiece
from sentencepiece import SentencePieceProcessor

from augury.core.errors import UserError
from augury.text.sentencepieces import UNCOVERED

_SEEDED = threading.Lock()
"""The seed of sentencepiece is one for all threads."""
_SEEDS = np.uint64(2**31)


class Resegmenter:
    """Segments rows of a vocabulary's ids anew, by the merges of one model.

    Sentencepiece skips each merge that comes up with a probability, and a skipped one comes up again only when one of
    its pieces has changed; in the code of Provilkov et al. it does after any other merge, and words are left whole more
    often. UserError where sentencepiece cannot be seeded for every row.
    """

    def __init__(self, model: SentencePieceProcessor, pieces: Sequence[str], ids: np.ndarray):
        """Take the pieces of a vocabulary by id, and the id of every piece of the model, of which 0 is the unknown."""
        self._model, self._pieces, self._ids = model, pieces, ids
        self._known = np.zeros(len(pieces), bool)
        self._known[ids[1:]] = True
        text = "".join(model.id_to_piece(list(range(1, min(200, model.get_piece_size())))))
        if self._sampled(text, 0.5, 1) != self._sampled(text, 0.5, 1):
            raise UserError(
                f"sentencepiece {sentencepiece.__version__} can be seeded only once, so that BPE-dropout could not be "
                "repeated: pip install 'sentencepiece>=0.2.3'"
            )

    def rows(self, rows: Sequence[np.ndarray], dropout: float, keys: np.ndarray) -> list[np.ndarray]:
        """Return rows of ids as other pieces of the same text, each merge skipped with probability `dropout`.

        With dropout 0 they are the pieces of the text as it is encoded, with 1 single characters. What a row becomes
        depends on its ids and its key, of `keys` (rows,) uint64, alone. Ids that the model does not have stay, and
        words end there.
        """
        seeds = (keys % _SEEDS).tolist()
        return [self._row(row, dropout, seed) for row, seed in zip(rows, seeds, strict=True)]

    def _row(self, row: np.ndarray, dropout: float, seed: int) -> np.ndarray:
        known = self._known[row]
        if known.all():
            return self._run(row, dropout, seed)
        runs = np.split(row, np.flatnonzero(np.diff(known)) + 1)
        return np.concatenate([self._run(run, dropout, seed) if self._known[run[0]] else run for run in runs])

    def _run(self, run: np.ndarray, dropout: float, seed: int) -> np.ndarray:
        """The ids of a run of known ones as other pieces."""
        text = "".join([self._pieces[index] for index in run.tolist()])
        return self._ids[self._sampled(text, dropout, seed)]

    def _sampled(self, text: str, dropout: float, seed: int) -> list[int]:
        """The model's pieces of a text that may begin within a word."""
        # Before any text sentencepiece puts a space, before this one a character that no piece has.
        with _SEEDED:
            sentencepiece.set_random_generator_seed(seed)
            sampled = self._model.encode(UNCOVERED + text, enable_sampling=True, alpha=dropout, nbest_size=-1)
        return sampled[sampled.index(0) + 1 :]

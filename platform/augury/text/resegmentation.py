"""BPE-dropout (Provilkov et al. 2020): random resegmentation of rows of ids."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import sentencepiece
from sentencepiece import SentencePieceProcessor

from augury.core.errors import UserError
from augury.text.sentencepieces import UNCOVERED

_SEEDED = threading.Lock()
"""The random seed of sentencepiece is global."""
_SEEDS = np.uint64(2**31)


class Resegmenter:
    """Resegments rows of vocabulary ids with the merges of a sentencepiece model.

    Sentencepiece drops each candidate merge with a probability, and considers it again only when one of its pieces has
    changed. The code of Provilkov et al. considers it again after any other merge, and thus keeps more words whole.
    Raises UserError if sentencepiece cannot be seeded for each row.
    """

    def __init__(self, model: SentencePieceProcessor, pieces: Sequence[str], ids: np.ndarray):
        """`pieces` are those of the vocabulary by id; `ids` maps ids of the model, where 0 is unknown, to its ids."""
        self._model, self._pieces, self._ids = model, pieces, ids
        self._known = np.zeros(len(pieces), bool)
        self._known[ids[1:]] = True
        text = "".join(model.id_to_piece(list(range(1, min(200, model.get_piece_size())))))
        if self._sampled(text, 0.5, 1) != self._sampled(text, 0.5, 1):
            raise UserError(
                f"sentencepiece {sentencepiece.__version__} can be seeded only once, so that BPE-dropout would not be "
                "reproducible: pip install 'sentencepiece>=0.2.3'"
            )

    def rows(self, rows: Sequence[np.ndarray], dropout: float, keys: np.ndarray) -> list[np.ndarray]:
        """Resegment rows of ids, dropping each merge with probability `dropout`: 0 for none, 1 for single characters.

        The result for a row depends on its ids and its key only, with `keys` (rows,) uint64. Ids that are not in the
        model are kept, as word boundaries.
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
        """Resegment a run of ids that are in the model."""
        text = "".join([self._pieces[index] for index in run.tolist()])
        return self._ids[self._sampled(text, dropout, seed)]

    def _sampled(self, text: str, dropout: float, seed: int) -> list[int]:
        """Return the model's ids of a sampled segmentation of a text that can start within a word."""
        # The uncovered character separates the text from the space that sentencepiece prepends.
        with _SEEDED:
            sentencepiece.set_random_generator_seed(seed)
            sampled = self._model.encode(UNCOVERED + text, enable_sampling=True, alpha=dropout, nbest_size=-1)
        return sampled[sampled.index(0) + 1 :]

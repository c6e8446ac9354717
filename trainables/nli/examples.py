"""What a classifier learns from: the corpus and the records made of it, under the draws of a regime."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import LABELS, Corpus
from augury.experiment import parse
from augury.regimes.regime import SOURCE, Draw
from augury.store import Folder, Store
from augury.text.tokens import Tokens
from augury.training.batching import Lengths


class Examples:
    """The examples of an epoch, numbered: all rows of the first draw, then all of the second, and so on.

    The rows of the source are those of the corpus and then those of all records; a view has those of the corpus alone.
    """

    def __init__(self, prepared: dict[str, Any], store: Store):
        def folder(name: str) -> Folder:
            return Folder(store.root, name)

        self.draws: list[Draw] = parse(prepared["experiment"]).draws()
        records: dict[str, str] = prepared["records"]
        self.texts = [store.folder(CORPORA, prepared["corpora"]["train"]), *map(folder, records.values())]
        names = {SOURCE: [SOURCE, *records], **{view: [view] for view in prepared["views"]}}
        self.tokens = {
            view: Tokens(*(folder(prepared["tokens"][name]) for name in parts)) for view, parts in names.items()
        }
        rows = [min(len(self.tokens[view]) for view in draw.views) for draw in self.draws]
        self._starts = np.cumsum([0, *rows])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def read(self) -> int:
        """Pairs that an epoch reads, every view of an example counted."""
        return int(sum(len(draw.views) * rows for draw, rows in zip(self.draws, np.diff(self._starts), strict=True)))

    @cached_property
    def lengths(self) -> Lengths:
        """Subwords of the longest view of every example."""
        parts = [
            np.max([self.tokens[view].lengths[:rows] for view in draw.views], axis=0)
            for draw, rows in zip(self.draws, np.diff(self._starts), strict=True)
        ]
        longest = np.concatenate(parts)
        return Lengths(longest, np.ones_like(longest))

    @cached_property
    def labels(self) -> np.ndarray:
        """The label of every row, as its position in LABELS."""
        return numbered([label for text in self.texts for label in Corpus(text).column("label")])

    def locate(self, example: int) -> tuple[Draw, int]:
        """The draw and the row of an example."""
        draw = int(np.searchsorted(self._starts, example, side="right")) - 1
        return self.draws[draw], int(example - self._starts[draw])

    def ids(self, examples: np.ndarray) -> list[str]:
        """The ids of the records, for messages."""
        ids = [name for text in self.texts for name in Corpus(text).column("id")]
        return [f"{ids[row]} ({'+'.join(draw.views)})" for draw, row in map(self.locate, examples)]


def numbered(labels: list[str]) -> np.ndarray:
    """Labels as their positions in LABELS."""
    return np.array([LABELS.index(label) for label in labels], np.int64)

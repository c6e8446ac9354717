"""What a classifier learns from: the corpus and the records made of it, under the draws of a regime."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import LABELS, Corpus
from augury.experiments.experiment import parse
from augury.regimes.regime import SOURCE, Draw
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, locate


class Examples:
    """The rows of a training set under every draw of the regime.

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
        self.draw_rows = [min(len(self.tokens[view]) for view in draw.views) for draw in self.draws]

    @property
    def texts_read(self) -> int:
        """The number of texts that training reads: every view of a row that any draw reads, once."""
        rows = {view: count for draw, count in zip(self.draws, self.draw_rows, strict=True) for view in draw.views}
        return sum(rows.values())

    @cached_property
    def lengths(self) -> Lengths:
        """Subwords of every row as it is."""
        lengths = self.tokens[SOURCE].lengths
        return Lengths(lengths, np.ones_like(lengths))

    @cached_property
    def labels(self) -> np.ndarray:
        """The label of every row, as its position in LABELS."""
        return numbered([label for text in self.texts for label in Corpus(text).column("label")])

    def located(self, examples: np.ndarray) -> list[tuple[Draw, int]]:
        """Return the draw and the row of every example."""
        draws, rows = locate(examples, len(self.lengths.cost))
        return [(self.draws[draw], int(row)) for draw, row in zip(draws, rows, strict=True)]

    def ids(self, examples: np.ndarray) -> list[str]:
        """Return the ids of the records, for messages."""
        ids = [name for text in self.texts for name in Corpus(text).column("id")]
        return [f"{ids[row]} ({'+'.join(draw.views)})" for draw, row in self.located(examples)]


def numbered(labels: list[str]) -> np.ndarray:
    """Labels as their positions in LABELS."""
    return np.array([LABELS.index(label) for label in labels], np.int64)

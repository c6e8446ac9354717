"""Model sizes of the paper's rows: what is printed, and what the configurations have.

`python -m search_spaces.papers.cipherdaug.sizes` prints them. A printed size agrees if it is the
computed one, rounded or cut at its last digit. Those that do not are notes of kind `contradiction`
in `published.tsv`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from augury.core.config import merge
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.sweeping import published
from augury.sweeping.published import Published
from trainables.nmt import TASK
from trainables.nmt.architecture import resolve
from trainables.nmt.config import Config
from trainables.nmt.model import parameters

CONTRADICTION = "contradiction"
TRAINED, EMBEDDINGS, RATIO = "Train Θ", "Emb Θ", "Θ"
COLUMNS = {"table4": (RATIO,), "table6": (EMBEDDINGS, TRAINED), "table9": (EMBEDDINGS, TRAINED)}
"""The printed columns with sizes. `Emb Θ` is that of one side.

In Table 4, sizes are multiples of the baseline's.
"""
IN_TEXT = ("wmt14-en-de", "CipherDAug - 1 key", "68M")
"""Of Section 3.3 and Appendix A.1, said of Transformer Base: the size with one key, which
Section 3.1 gives WMT14."""
MILLION = 1e6


class Size(NamedTuple):
    """A printed size and the computed one, in parameters or as a multiple of the baseline's."""

    where: str
    row: str
    column: str
    printed: str
    computed: float
    contradiction: str
    """Why they differ, where that is declared."""

    @property
    def agrees(self) -> bool:
        """Whether the printed size is the computed one, rounded or cut at its last digit."""
        digits = self.printed.rstrip("Mx")
        unit = (MILLION if self.printed.endswith("M") else 1.0) / 10 ** len(
            digits.partition(".")[2]
        )
        last = round(float(digits) / 10 ** -len(digits.partition(".")[2]))
        return last in (math.floor(self.computed / unit), round(self.computed / unit))


def sizes() -> Iterator[Size]:
    """Yield every size that the paper prints of a row that is run."""
    for name, columns in COLUMNS.items():
        table = published.find(f"cipherdaug/{name}", "paper")
        for row in table.space.rows:
            for column in columns:
                yield _size(table, row, column)
    corpus, row, text = IN_TEXT
    table = published.find("cipherdaug/table3", "paper", corpus)
    yield Size("Section 3.3", row, "parameters, WMT14", text, trained(table, row), "")


def trained(table: Published, row: str) -> int:
    """Return the trained parameters of a row's model."""
    config, entries = _model(table, row)
    return parameters(config.transformer, entries)


def _size(table: Published, row: str, column: str) -> Size:
    text = table.printed.rows[row].cells[column]
    if column == EMBEDDINGS:
        computed: float = _embeddings(table, row)
    elif text.endswith("x"):
        computed = trained(table, row) / trained(table, str(table.space.reference))
    else:
        computed = trained(table, row)
    notes = (
        note
        for note in table.printed.notes
        if (note.row, note.column, note.kind) == (row, column, CONTRADICTION)
    )
    return Size(table.where, row, column, text, computed, next((note.text for note in notes), ""))


def _embeddings(table: Published, row: str) -> int:
    """Return the parameters of the embeddings of one side, without a projection of tables, as
    the paper counts them."""
    config, entries = _model(table, row)
    model = config.transformer
    of_piece, shared = model.embeddings.counts(resolve(model).hidden_size)
    return of_piece * entries or shared


def _model(table: Published, row: str) -> tuple[Config, int]:
    """Return the configuration of a row, and the entries of its vocabulary, which the paper's
    scale states."""
    config = parse(merge(table.space.base, table.space.rows[row]))
    assert isinstance(config, Config)
    return config, TASK.entries(config, Store(config.storage))


def main() -> None:
    """Print all sizes."""
    for size in sizes():
        computed = (
            f"{size.computed:.2f}x"
            if size.printed.endswith("x")
            else f"{size.computed / MILLION:.2f}M"
        )
        verdict = "agrees" if size.agrees else f"contradiction: {size.contradiction}"
        print(
            f"{size.where:12} {size.row:30} {size.column:18} {size.printed:>6} {computed:>8}  "
            f"{verdict}"
        )


if __name__ == "__main__":
    main()

"""A training text as a translation memory: look up the translations of similar sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import compress
from typing import Literal

import numpy as np

from augury.core.store import Folder
from augury.core.words import words
from augury.corpora.corpus import Corpus
from augury.text.fuzzy import FuzzyIndex, Limit, Pairs

TokensOf = Literal["whitespace", "words", "moses"]
BEST = 10
"""The candidates that a source is compared with under the rule of Li and Specia's code."""


class TranslationMemory:
    """Pairs in their order: `ids` and `targets` of all rows, and `rows` by their sources."""

    def __init__(
        self,
        ids: list[str],
        sources: list[str],
        targets: list[str],
        tokens: Callable[[str], list[str]],
    ):
        self.ids, self.targets, self.tokens = ids, targets, tokens
        self.row_by_id = {name: row for row, name in enumerate(ids)}
        self.rows: dict[str, list[int]] = {}
        for row, source in enumerate(sources):
            self.rows.setdefault(source, []).append(row)
        self._by_number = list(self.rows.values())
        self._numbers = {source: number for number, source in enumerate(self.rows)}
        self._first = np.array([rows[0] for rows in self._by_number], np.int64)
        self._index = FuzzyIndex([tokens(source) for source in self.rows])

    def matches(
        self,
        sources: Sequence[str],
        limit: Limit,
        *,
        contained: bool = False,
        earlier: bool = False,
    ) -> Iterator[list[int]]:
        """Yield, for every source, the rows in order whose source is similar but not equal.

        With `contained`, candidates are only the `BEST` sources by the share of common tokens,
        which must reach the threshold too; with `earlier`, only rows before the last one that has
        the source itself.
        """
        tokens = [self.tokens(source) for source in sources]
        last = np.array(
            [self.rows.get(source, [len(self.ids)])[-1] for source in sources], np.int64
        )
        if contained:
            pairs, shares = self._index.overlapping(tokens, limit.threshold)
            own_numbers = np.array([self._numbers.get(source, -1) for source in sources], np.int64)
            allowed = pairs.sentences != own_numbers[pairs.queries]
            if earlier:
                allowed &= self._first[pairs.sentences] < last[pairs.queries]
            pairs = self._index.filter_similar(
                tokens, limit, _best_pairs(pairs.where(allowed), shares[allowed])
            )
        else:
            pairs = self._index.similar(tokens, limit)
        cuts = np.searchsorted(pairs.queries, np.arange(len(sources) + 1))
        for query, (start, end) in enumerate(zip(cuts[:-1], cuts[1:], strict=True)):
            rows = [row for number in pairs.sentences[start:end] for row in self._by_number[number]]
            yield sorted(row for row in rows if not earlier or row < last[query])


@lru_cache(maxsize=1)
def load_memory(corpus: Folder, tokens: TokensOf, of: tuple[str, ...] = ()) -> TranslationMemory:
    """Return the translation memory of a parallel corpus, indexed once per process."""
    text = Corpus(corpus)
    columns = [text.column(name) for name in ("id", "source", "target")]
    if of:
        chosen = [origin in of for origin in text.column("origin")]
        columns = [list(compress(column, chosen)) for column in columns]
    ids, sources, targets = columns
    return TranslationMemory(
        ids, sources, targets, tokenizer(tokens, str(text.manifest.get("source_language", "")))
    )


def tokenizer(tokens: TokensOf, language: str) -> Callable[[str], list[str]]:
    """Return the function that splits a text of a language into tokens."""
    if tokens == "moses":
        from sacremoses import MosesTokenizer

        return partial(MosesTokenizer(lang=language).tokenize, escape=False)
    return words if tokens == "words" else str.split


def _best_pairs(pairs: Pairs, shares: np.ndarray) -> Pairs:
    """Return the `BEST` pairs of every query by share, in order; on a tie the earlier sentence."""
    order = np.lexsort((pairs.sentences, -shares, pairs.queries))
    queries = pairs.queries[order]
    place = np.arange(len(order)) - np.searchsorted(queries, queries)
    return pairs.where(np.sort(order[place < BEST]))

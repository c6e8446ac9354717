"""Fuzzy matches: a source with the translation of a similar one.

Bulte and Tezcan (2019); Li and Specia (2019), section 2.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.operator import (
    REJECTED,
    BlockFunction,
    Form,
    OperatorOutput,
    TextSubset,
    new_records,
)
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.languages import require_words
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.text.fuzzy import FuzzyIndex, Limit, Norm, Pairs

BEST = 10
"""The candidates that a source is compared with under the rule of Li and Specia's code."""
FEWEST_WORDS = 6
"""Of a sentence of the monolingual text that is looked up."""


class TranslationMemory:
    """Pairs in their order: `ids` and `targets` of all rows, and `rows` by their sources."""

    def __init__(self, ids: list[str], sources: list[str], targets: list[str]):
        self.ids, self.targets = ids, targets
        self.row_by_id = {name: row for row, name in enumerate(ids)}
        self.rows: dict[str, list[int]] = {}
        for row, source in enumerate(sources):
            self.rows.setdefault(source, []).append(row)
        self._by_number = list(self.rows.values())
        self._numbers = {source: number for number, source in enumerate(self.rows)}
        self._first = np.array([rows[0] for rows in self._by_number], np.int64)
        self._index = FuzzyIndex([source.split() for source in self.rows])

    def matches(
        self,
        sources: Sequence[str],
        limit: Limit,
        *,
        contained: bool = False,
        earlier: bool = False,
    ) -> Iterator[list[int]]:
        """Yield, for every source, the rows in order whose source is similar but not equal.

        With `contained`, candidates are only the `BEST` sources by the share of common words,
        which must reach the threshold too; with `earlier`, only rows before the last one that has
        the source itself.
        """
        words = [source.split() for source in sources]
        last = np.array(
            [self.rows.get(source, [len(self.ids)])[-1] for source in sources], np.int64
        )
        if contained:
            pairs, shares = self._index.overlapping(words, limit.threshold)
            own_numbers = np.array([self._numbers.get(source, -1) for source in sources], np.int64)
            allowed = pairs.sentences != own_numbers[pairs.queries]
            if earlier:
                allowed &= self._first[pairs.sentences] < last[pairs.queries]
            pairs = _best_pairs(pairs.where(allowed), shares[allowed])
            pairs = self._index.filter_similar(words, limit, pairs)
        else:
            pairs = self._index.similar(words, limit)
        cuts = np.searchsorted(pairs.queries, np.arange(len(sources) + 1))
        for query, (start, end) in enumerate(zip(cuts[:-1], cuts[1:], strict=True)):
            rows = [row for number in pairs.sentences[start:end] for row in self._by_number[number]]
            yield sorted(row for row in rows if not earlier or row < last[query])


def _best_pairs(pairs: Pairs, shares: np.ndarray) -> Pairs:
    """Return the `BEST` pairs of every query by share, in order; on a tie the earlier sentence."""
    order = np.lexsort((pairs.sentences, -shares, pairs.queries))
    queries = pairs.queries[order]
    place = np.arange(len(order)) - np.searchsorted(queries, queries)
    return pairs.where(np.sort(order[place < BEST]))


@lru_cache(maxsize=1)
def load_memory(corpus: Folder, of: tuple[str, ...] = ()) -> TranslationMemory:
    """Return the translation memory of a parallel corpus, or of its texts `of`, indexed once per
    process."""
    rows = zip(*map(Corpus(corpus).column, ("id", "source", "target", "origin")), strict=True)
    chosen = [row[:3] for row in rows if not of or row[3] in of]
    return TranslationMemory(*([row[place] for row in chosen] for place in range(3)))


class Lookup(NamedTuple):
    """A source that gets the translations of similar ones, and the record of a block that it
    belongs to."""

    place: int
    id: str
    source: str


Lookups: TypeAlias = Callable[[pa.Table, Counter[str]], list[Lookup]]


class FuzzyMatch(TextSubset):
    """Pair every source with the translations of similar sources (Bulte and Tezcan 2019).

    `of` restricts both to some of the training texts. Equal sources are looked up once. Pairs that
    are in the training text or were made before are left out and counted by reason.
    """

    operator: Literal["fuzzy_match"] = "fuzzy_match"
    threshold: float = Field(0.5, gt=0, lt=1)
    """The minimum similarity: 1 minus the edit distance of two sources divided by a length, in
    tokens."""
    norm: Norm = "min"
    """min: over the length of the shorter source, and the threshold itself does not suffice (Li and
    Specia's code); max: over that of the longer one, and it does (Bulte and Tezcan)."""
    candidates: Literal["all", "containment"] = "all"
    """all: all sources that are similar; containment: those among ten, the ones that share the
    largest part of their tokens with the source, as in Li and Specia's code."""
    both_directions: bool = True
    """Each of two similar sources gets the translation of the other; otherwise only the later one
    does."""
    monolingual: MonolingualSpec | None = None
    """Further sources, of at least six words, that get the translations of similar ones too:
    records of another origin, fuzzy_match-mono."""
    SEARCHES: ClassVar[bool] = True
    PER_SECOND: ClassVar[float] = 8_000
    BLOCK_ROWS: ClassVar[int | None] = 5_000
    NORMAL: ClassVar[frozenset[str]] = frozenset({YIELD})
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target", "source_language")
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual"})

    def makes(self) -> Form:
        return "records"

    def parts(self) -> Sequence[FuzzyMatch]:
        mono = [FuzzyMatchMono.model_validate(self.to_dict())] if self.monolingual else []
        return [self.model_copy(update={"monolingual": None}), *mono]

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"monolingual": self.monolingual} if self.monolingual else {}

    def check_text(self, records: pa.Table) -> None:
        language = records.column("source_language")[0].as_py()
        if self.monolingual and (given := self.monolingual.languages[0]) != language:
            raise UserError(
                f"operator {self.operator}: monolingual.language is '{given}', and sources are in "
                f"'{language}'"
            )
        sources = records.column("source").to_pylist()
        require_words(sources, language, f"operator {self.operator}")

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        memory = load_memory(fitted["corpus"].folder, self.of)
        looked_up = self.lookups(memory, store)

        def apply(block: pa.Table) -> OperatorOutput:
            counts = Counter[str]()
            lookups = looked_up(block, counts)
            made: list[tuple[Lookup, int, int]] = []
            rows = self._new_pairs([lookup.source for lookup in lookups], memory, counts)
            for lookup, matches in zip(lookups, rows, strict=True):
                made += [(lookup, row, copy) for copy, row in enumerate(matches, start=1)]
            return new_records(
                block,
                self,
                [copy for _, _, copy in made],
                {
                    "source": [lookup.source for lookup, _, _ in made],
                    "target": [memory.targets[row] for _, row, _ in made],
                },
                others=[memory.ids[row] for _, row, _ in made],
                # The languages of further sources are those of a record of the block.
                rows=[lookup.place for lookup, _, _ in made],
                ids=[lookup.id for lookup, _, _ in made],
                counts=counts,
            )

        return apply

    def lookups(self, memory: TranslationMemory, store: Store) -> Lookups:
        """Return the function from a block to the sources that are looked up for it, which counts
        those that are not."""

        def lookups(block: pa.Table, counts: Counter[str]) -> list[Lookup]:
            columns = [block.column(name).to_pylist() for name in ("id", "source")]
            firsts = [  # all pairs of a source are made at the first record that has it
                Lookup(place, name, source)
                for place, (name, source) in enumerate(zip(*columns, strict=True))
                if source not in memory.rows or memory.row_by_id.get(name) == memory.rows[source][0]
            ]
            counts[f"{REJECTED}equal sources"] += len(block) - len(firsts)
            return firsts

        return lookups

    def _new_pairs(
        self, sources: Sequence[str], memory: TranslationMemory, counts: Counter[str]
    ) -> Iterator[list[int]]:
        """Yield, for every source, the rows whose targets it gets, and count the matches that are
        rejected."""
        limit = Limit(self.threshold, self.norm)
        contained, earlier = self.candidates == "containment", not self.both_directions
        matches = memory.matches(sources, limit, contained=contained, earlier=earlier)
        for source, rows in zip(sources, matches, strict=True):
            own_targets = [memory.targets[row] for row in memory.rows.get(source, ())]
            new: dict[str, int] = {}
            for row in rows:
                target = memory.targets[row]
                if target in own_targets or new.setdefault(target, row) != row:
                    counts[f"{REJECTED}there already"] += 1
            yield list(new.values())


class FuzzyMatchMono(FuzzyMatch):
    """Pair further sources with the translations of similar ones.

    They are distributed over the records of the training text in turn, so that each belongs to
    exactly one block.
    """

    def name(self) -> str:
        return f"{self.operator}-mono"

    def parts(self) -> Sequence[FuzzyMatch]:
        return [self]

    def lookups(self, memory: TranslationMemory, store: Store) -> Lookups:
        assert self.monolingual is not None
        text = cached_corpus(self.monolingual, "train", store.root)
        names, sentences = text.column("id"), text.column("text")
        first: dict[str, int] = {}
        for number, sentence in enumerate(sentences):
            first.setdefault(sentence, number)

        def lookups(block: pa.Table, counts: Counter[str]) -> list[Lookup]:
            found = []
            for place, name in enumerate(block.column("id").to_pylist()):
                for number in range(memory.row_by_id[name], len(sentences), len(memory.ids)):
                    sentence = sentences[number]
                    if first[sentence] != number or sentence in memory.rows:
                        counts[f"{REJECTED}equal sources"] += 1
                    elif len(sentence.split()) < FEWEST_WORDS:
                        counts[f"{REJECTED}too short"] += 1
                    else:
                        found.append(Lookup(place, names[number], sentence))
            return found

        return lookups


OPERATOR = FuzzyMatch

"""Fuzzy matches: a source with the translation of a similar one.

Bulte and Tezcan (2019); Li and Specia (2019), section 2.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import compress
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.operator import (
    REJECTED,
    BlockFunction,
    ExtraInputs,
    MakesRecords,
    OperatorOutput,
    TextSubset,
    derive_records,
)
from augury.core.citations import FUZZY_MATCHES, NOISY_NMT, Paper
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.core.words import words
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.text.fuzzy import FuzzyIndex, Limit, Norm, Pairs
from augury.text.segmentation import require_words

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


class Lookup(NamedTuple):
    """A source that gets the translations of similar ones, and the record of a block that it
    belongs to."""

    place: int
    id: str
    source: str


Lookups: TypeAlias = Callable[[pa.Table, Counter[str]], list[Lookup]]


class FuzzyMatch(ExtraInputs, TextSubset, MakesRecords):
    """Pair every source with the translations of similar sources.

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
    tokens: TokensOf = "whitespace"
    """The tokeniser of sources: at white space, into words and punctuation marks, or Moses."""
    monolingual: MonolingualSpec | None = None
    """Further sources that get the translations of similar ones too: records of another origin,
    fuzzy_match-mono."""
    mono_min_len: int = Field(5, ge=0)
    """Sentences of the monolingual text with at most this many tokens are left out."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (FUZZY_MATCHES, NOISY_NMT)
    SEARCHES: ClassVar[bool] = True
    PER_SECOND: ClassVar[float] = 8_000
    BLOCK_ROWS: ClassVar[int | None] = 5_000
    NORMAL: ClassVar[frozenset[str]] = frozenset({YIELD})
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target", "source_language")
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual"})

    def inactive(self) -> dict[str, str]:
        return {} if self.monolingual else {"mono_min_len": "there is no monolingual text"}

    def parts(self) -> Sequence[FuzzyMatch]:
        default = FuzzyMatch.model_fields["mono_min_len"].default
        parallel = self.model_copy(update={"monolingual": None, "mono_min_len": default})
        if self.monolingual is None:
            return [parallel]
        return [parallel, FuzzyMatchMono.model_validate(self.to_dict())]

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"monolingual": self.monolingual} if self.monolingual else {}

    def check_text(self, records: pa.Table) -> None:
        language = records.column("source_language")[0].as_py()
        if self.monolingual and self.monolingual.language != language:
            raise UserError(
                f"operator {self.operator}: monolingual.language is "
                f"'{self.monolingual.language}', and sources are in '{language}'"
            )
        if self.tokens == "whitespace":
            require_words(
                records.column("source").to_pylist(), language, f"operator {self.operator}"
            )

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        memory = load_memory(fitted["corpus"].folder, self.tokens, self.of)
        looked_up = self.lookups(memory, store)

        def apply(block: pa.Table) -> OperatorOutput:
            counts = Counter[str]()
            lookups = looked_up(block, counts)
            rows = self._new_pairs([lookup.source for lookup in lookups], memory, counts)
            made: list[Lookup] = []
            matched: list[int] = []
            copies: list[int] = []
            for lookup, matches in zip(lookups, rows, strict=True):
                made += [lookup] * len(matches)
                matched += matches
                copies += range(1, len(matches) + 1)
            # The languages of further sources are those of a record of the block.
            parents = block.take(pa.array([lookup.place for lookup in made], pa.int64()))
            ids = pa.array([lookup.id for lookup in made], pa.string())
            parents = parents.set_column(
                parents.schema.get_field_index("id"), parents.schema.field("id"), ids
            )
            texts = {
                "source": pa.array([lookup.source for lookup in made], pa.string()),
                "target": pa.array([memory.targets[row] for row in matched], pa.string()),
            }
            others = [memory.ids[row] for row in matched]
            return OperatorOutput(derive_records(parents, self, copies, others, **texts), counts)

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
                if target in own_targets:
                    equal = target == own_targets[0]
                    reason = "equal targets" if equal else "in the text already"
                    counts[REJECTED + reason] += 1
                elif new.setdefault(target, row) != row:
                    counts[f"{REJECTED}made already"] += 1
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
                    elif len(memory.tokens(sentence)) <= self.mono_min_len:
                        counts[f"{REJECTED}too short"] += 1
                    else:
                        found.append(Lookup(place, names[number], sentence))
            return found

        return lookups


OPERATOR = FuzzyMatch

"""Fuzzy matches: a source with the translation of a similar one.

Bulte and Tezcan (2019); Li and Specia (2019), section 2.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.mixins import REJECTED, ExtraInputs, MakesRecords, Searches, TextSubset
from augury.augment.operator import BlockFunction, OperatorOutput
from augury.augment.records import derive_records
from augury.augment.translation_memory import TokensOf, TranslationMemory, load_memory
from augury.core.citations import FUZZY_MATCHES, NOISY_NMT, Paper
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.ingest import cached_corpus
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.text.fuzzy.index import Limit, Norm
from augury.text.segmentation import require_words


class FuzzyMatch(Searches, ExtraInputs, TextSubset, MakesRecords):
    """Pair every source with the translations of similar sources.

    `of` restricts both to some of the training texts. Equal sources are looked up once. Pairs in
    the training text, or made before, are left out and counted by reason.

    Equal sources are looked up once. Pairs that are in the training text or were made before are
    left out and counted by reason.
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

        def apply(block: pa.Table) -> OperatorOutput:
            ids, sources = block.column("id").to_pylist(), block.column("source").to_pylist()
            firsts = [  # all pairs of a source are made at the first record that has it
                place
                for place, (name, source) in enumerate(zip(ids, sources, strict=True))
                if source not in memory.rows or memory.row_by_id.get(name) == memory.rows[source][0]
            ]
            counts = Counter({f"{REJECTED}equal sources": len(block) - len(firsts)})
            rows = self._new_pairs([sources[place] for place in firsts], memory, counts)
            places: list[int] = []
            matched: list[int] = []
            copies: list[int] = []
            for place, matches in zip(firsts, rows, strict=True):
                places += [place] * len(matches)
                matched += matches
                copies += range(1, len(matches) + 1)
            parents = block.take(pa.array(places, pa.int64()))
            targets = pa.array([memory.targets[row] for row in matched], pa.string())
            others = [memory.ids[row] for row in matched]
            return OperatorOutput(
                derive_records(parents, self, copies, others, target=targets), counts
            )

        return apply

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

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        memory = load_memory(fitted["corpus"].folder, self.tokens, self.of)
        assert self.monolingual is not None
        text = cached_corpus(self.monolingual, "train", store.root)
        names, sentences = text.column("id"), text.column("text")
        first: dict[str, int] = {}
        for number, sentence in enumerate(sentences):
            first.setdefault(sentence, number)

        def apply(block: pa.Table) -> OperatorOutput:
            counts, looked_up = Counter[str](), list[tuple[int, int]]()
            for place, name in enumerate(block.column("id").to_pylist()):
                for number in range(memory.row_by_id[name], len(sentences), len(memory.ids)):
                    sentence = sentences[number]
                    if first[sentence] != number or sentence in memory.rows:
                        counts[f"{REJECTED}equal sources"] += 1
                    elif len(memory.tokens(sentence)) <= self.mono_min_len:
                        counts[f"{REJECTED}too short"] += 1
                    else:
                        looked_up.append((place, number))
            rows = self._new_pairs([sentences[number] for _, number in looked_up], memory, counts)
            places: list[int] = []
            read: list[int] = []
            matched: list[int] = []
            copies: list[int] = []
            for (place, number), matches in zip(looked_up, rows, strict=True):
                places += [place] * len(matches)
                read += [number] * len(matches)
                matched += matches
                copies += range(1, len(matches) + 1)
            # The languages are those of a record of the block.
            parents = block.take(pa.array(places, pa.int64()))
            ids = pa.array([names[number] for number in read], pa.string())
            parents = parents.set_column(
                parents.schema.get_field_index("id"), parents.schema.field("id"), ids
            )
            texts = {
                "source": pa.array([sentences[number] for number in read], pa.string()),
                "target": pa.array([memory.targets[row] for row in matched], pa.string()),
            }
            others = [memory.ids[row] for row in matched]
            return OperatorOutput(derive_records(parents, self, copies, others, **texts), counts)

        return apply


OPERATOR = FuzzyMatch

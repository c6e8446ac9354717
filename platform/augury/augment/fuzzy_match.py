"""Fuzzy matches: a source with the translation of a similar one (Bulte and Tezcan 2019; Li and Specia 2019, 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment.operator import REJECTED, Apply, Made, Operator, children
from augury.augment.translation_memory import TokensOf, TranslationMemory, memory_of
from augury.core.citations import FUZZY_MATCHES, NOISY_NMT, Paper
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.files import examine, find, lines
from augury.corpora.filters import clean_lines
from augury.corpora.spec import Filter
from augury.text.fuzzy import Limit, Norm
from augury.text.segmentation import require_words


class FuzzyMatch(Operator):
    """Pair every source with the translations of similar sources.

    Equal sources are looked up once, and no pair is made that is in the training text or was made before; what is left
    out is counted by its reason.
    """

    operator: Literal["fuzzy_match"] = "fuzzy_match"
    threshold: float = Field(0.5, gt=0, lt=1)
    """The similarity that is needed: one less the edit distance of two sources over a length, in tokens."""
    norm: Norm = "min"
    """min: over the length of the shorter source, and the threshold itself does not suffice (Li and Specia's code);
    max: over that of the longer one, and it does (Bulte and Tezcan)."""
    candidates: Literal["all", "containment"] = "all"
    """all: all sources that are similar; containment: those among ten, the ones that share the largest part of their
    tokens with the source, as in Li and Specia's code."""
    both_directions: bool = True
    """Of two similar sources each gets the translation of the other; otherwise the later one gets the earlier one's."""
    tokens: TokensOf = "whitespace"
    """Tokens are what white space separates, or words and punctuation marks, or what Moses makes tokens."""
    monolingual: str | None = None
    """A file of further sources, one a line, that get the translations of similar ones too: records of another origin,
    fuzzy_match-mono. Every machine of a cluster reads it."""
    mono_min_len: int = Field(5, ge=0)
    """Sentences of the file are left out that have no more tokens than this."""

    PER_SECOND: ClassVar[float] = 8_000
    BLOCK_ROWS: ClassVar[int | None] = 5_000
    SEARCHES: ClassVar[bool] = True
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target", "source_language")
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual"})

    def papers(self) -> tuple[Paper, ...]:
        return FUZZY_MATCHES, NOISY_NMT

    def inactive(self) -> dict[str, str]:
        return {} if self.monolingual else {"mono_min_len": "there is no monolingual text"}

    def parts(self) -> Sequence[FuzzyMatch]:
        default = FuzzyMatch.model_fields["mono_min_len"].default
        parallel = self.model_copy(update={"monolingual": None, "mono_min_len": default})
        if self.monolingual is None:
            return [parallel]
        content = examine(str(find(self.monolingual))).sha256
        return [parallel, FuzzyMatchMono.model_validate({**self.to_dict(), "content": content})]

    def makes(self) -> Literal["records"]:
        return "records"

    def check_text(self, beginning: pa.Table) -> None:
        if self.tokens == "whitespace":
            language = beginning.column("source_language")[0].as_py()
            require_words(beginning.column("source").to_pylist(), language, f"operator {self.operator}")

    def bind(self, fitted: Mapping[str, Any], store: Store) -> Apply:
        memory = memory_of(fitted["corpus"].folder, self.tokens)

        def apply(block: pa.Table) -> Made:
            ids, sources = block.column("id").to_pylist(), block.column("source").to_pylist()
            firsts = [  # the first record with a source makes all that is made of it
                place
                for place, (name, source) in enumerate(zip(ids, sources, strict=True))
                if source not in memory.rows or memory.number.get(name) == memory.rows[source][0]
            ]
            counts = Counter({f"{REJECTED}equal sources": len(block) - len(firsts)})
            rows = self._new_pairs([sources[place] for place in firsts], memory, counts)
            made = [
                (place, row, copy)
                for place, of_source in zip(firsts, rows, strict=True)
                for copy, row in enumerate(of_source, start=1)
            ]
            parents = block.take(pa.array([place for place, _, _ in made], pa.int64()))
            matched = [row for _, row, _ in made]
            targets = pa.array([memory.targets[row] for row in matched], pa.string())
            others, copies = [memory.ids[row] for row in matched], [copy for _, _, copy in made]
            return Made(children(parents, self, copies, others, target=targets), counts)

        return apply

    def _new_pairs(
        self, sources: Sequence[str], memory: TranslationMemory, counts: Counter[str]
    ) -> Iterator[list[int]]:
        """Yield the rows whose targets every source gets; count the matches that give none."""
        limit = Limit(self.threshold, self.norm)
        contained, earlier = self.candidates == "containment", not self.both_directions
        matches = memory.matches(sources, limit, contained=contained, earlier=earlier)
        for source, rows in zip(sources, matches, strict=True):
            own = [memory.targets[row] for row in memory.rows.get(source, ())]
            new: dict[str, int] = {}
            for row in rows:
                target = memory.targets[row]
                if target in own:
                    counts[f"{REJECTED}{'equal targets' if target == own[0] else 'in the text already'}"] += 1
                elif new.setdefault(target, row) != row:
                    counts[f"{REJECTED}made already"] += 1
            yield list(new.values())


class FuzzyMatchMono(FuzzyMatch):
    """Pair further sources with the translations of similar ones.

    They are dealt to the records of the training text in turn, so that every one is looked up with one block.
    """

    content: str
    """The hash of the file."""

    def name(self) -> str:
        return f"{self.operator}-mono"

    def parts(self) -> Sequence[FuzzyMatch]:
        return [self]

    def bind(self, fitted: Mapping[str, Any], store: Store) -> Apply:
        memory = memory_of(fitted["corpus"].folder, self.tokens)
        dealt = self._dealt(fitted["corpus"])

        def apply(block: pa.Table) -> Made:
            counts, looked_up = Counter[str](), list[tuple[int, int, str]]()
            for place, name in enumerate(block.column("id").to_pylist()):
                for number in range(memory.number[name], len(dealt), len(memory.ids)):
                    sentence, repeated = dealt[number]
                    if repeated or sentence in memory.rows:
                        counts[f"{REJECTED}equal sources"] += 1
                    elif len(memory.tokens(sentence)) <= self.mono_min_len:
                        counts[f"{REJECTED}too short"] += 1
                    else:
                        looked_up.append((place, number, sentence))
            rows = self._new_pairs([sentence for _, _, sentence in looked_up], memory, counts)
            made = [(*sentence, row) for sentence, of in zip(looked_up, rows, strict=True) for row in of]
            # A record of the block lends its languages; the parent is the record that is matched.
            parents = block.take(pa.array([place for place, _, _, _ in made], pa.int64()))
            matched = [row for _, _, _, row in made]
            ids = pa.array([memory.ids[row] for row in matched], pa.string())
            parents = parents.set_column(parents.schema.get_field_index("id"), parents.schema.field("id"), ids)
            texts = {
                "source": pa.array([sentence for _, _, sentence, _ in made], pa.string()),
                "target": pa.array([memory.targets[row] for row in matched], pa.string()),
            }
            return Made(children(parents, self, [number for _, number, _, _ in made], **texts), counts)

        return apply

    def _dealt(self, corpus: Corpus) -> list[tuple[str, bool]]:
        """Return the sentences of the file, prepared as the corpus is, and whether they occurred before."""
        assert self.monolingual is not None
        cleaning = Filter.model_validate(corpus.manifest.get("spec", {}).get("filter", {}))
        sentences = clean_lines([line.decode() for line in lines(find(self.monolingual))], cleaning)
        first: dict[str, int] = {}
        return [(sentence, first.setdefault(sentence, number) != number) for number, sentence in enumerate(sentences)]


OPERATOR = FuzzyMatch

"""Synthetic noise in the input: noisy copies of records, or noisy views; label and target stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.health import COPIED, Rate
from augury.augment.mixins import Fitted, MakesRecords, Measured, TextSubset
from augury.augment.operator import RECORDS, BlockFunction, OperatorOutput
from augury.augment.records import derive_records, language_column, plural, view_table
from augury.core.errors import UserError
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import input_columns
from augury.corpora.noise import KINDS, NoiseRates
from augury.text.noise.edits import (
    NoiseContext,
    add_noise,
    confusions,
    core_words,
    coverage,
    require_language,
)

PLACES, EDITED = " places", " edits"
"""The counts of words or marks that could have noise of a kind, and of those that have."""


class WordCounts(NamedTuple):
    """The counts of lower-cased words without punctuation, and the number of all words."""

    words: Counter[str]
    total: int


class Noise(NoiseRates, Fitted, Measured, TextSubset, MakesRecords):
    """Misspell words, drop punctuation, add fillers and emoji, swap homophones."""

    operator: Literal["noise"] = "noise"
    copies: int = Field(1, ge=1, le=1000)
    """Copies of every record, each with noise of its own."""
    use: Literal["records", "view"] = "records"
    """records: new examples in addition to the originals; view: every copy is a view of the
    example, noise-N."""
    seed: int = 1
    """Seed of the random choices."""

    PER_SECOND: ClassVar[float] = 10_000
    NORMAL: ClassVar[frozenset[str]] = frozenset({COPIED})
    EXAMPLE: ClassVar[str] = "spelling: 0.1, casing: 0.05"

    @model_validator(mode="after")
    def _some(self) -> Noise:
        if not self.rates and type(self) is Noise:
            raise UserError(
                f"operator noise changes nothing without a rate: set one of {', '.join(KINDS)}, "
                "as 0.1"
            )
        return self

    def parts(self) -> Sequence[Noise]:
        if self.use == RECORDS:
            return [self]
        single_copy = {**self.to_dict(), "copies": 1}
        return [
            NoiseView.model_validate({**single_copy, "copy_number": number})
            for number in self.copy_numbers()
        ]

    def makes(self) -> Literal["view", "records"]:
        return self.use

    def copy_numbers(self) -> Sequence[int]:
        """Return the numbers of the copies."""
        return range(1, self.copies + 1)

    def inactive(self) -> dict[str, str]:
        return {} if self.keyboard else {"layout": "no letter is mistyped"}

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            "id",
            *(input_columns(columns) or ("premise", "hypothesis")),
            language_column(columns),
        )

    def check_text(self, records: pa.Table) -> None:
        for language in set(records.column(language_column(records.column_names)).to_pylist()):
            require_language(list(self.rates), language)

    def fit_parameters(self) -> dict[str, Any]:
        return {"words": True, "coverage": True} if self.asr else {}

    def fit_block(self, block: pa.Table) -> dict[str, Any]:
        """Return word counts by language."""
        counts: dict[str, WordCounts] = {}
        if not self.asr:
            return counts
        languages = block.column(language_column(block.column_names)).to_pylist()
        for side in input_columns(block.column_names):
            for language, text in zip(languages, block.column(side).to_pylist(), strict=True):
                words = [word.lower() for word in core_words(text)]
                known = counts.get(language, WordCounts(Counter(), 0))
                known.words.update(words)
                counts[language] = WordCounts(known.words, known.total + len(text.split()))
        return counts

    def fit(self, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        words, totals = dict[str, Counter[str]](), Counter[str]()
        for block in results:
            for language, (of_block, total) in block.items():
                words.setdefault(language, Counter()).update(of_block)
                totals[language] += total
        groups = {
            language: confusions(sorted(known), language) for language, known in words.items()
        }
        shares = {
            language: coverage(known, groups[language], language, totals[language])
            for language, known in words.items()
        }
        return {"confusions": groups, **({"coverage": shares} if shares else {})}

    def realised(self, counts: Mapping[str, int], fitted: Mapping[str, Any]) -> dict[str, Rate]:
        return {
            kind: Rate(rate, counts[f"{kind}{EDITED}"] / places, places)
            for kind, rate in self.rates.items()
            if (places := counts.get(f"{kind}{PLACES}", 0))
        }

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        def apply(block: pa.Table) -> OperatorOutput:
            numbers, sides = self.copy_numbers(), input_columns(block.column_names)
            parents = block.take(np.repeat(np.arange(len(block)), len(numbers)))
            columns, counts = {}, Counter[str]()
            names, languages = (
                block.column(name).to_pylist()
                for name in ("id", language_column(block.column_names))
            )
            settings = {
                language: NoiseContext(
                    language,
                    self.layout,
                    fitted["confusions"].get(language, {}),
                    fitted.get("coverage", {}).get(language, 0.0),
                )
                for language in set(languages)
            }
            for side in sides:
                records = zip(names, block.column(side).to_pylist(), languages, strict=True)
                noisy = []
                for name, text, language in records:
                    for copy in numbers:
                        changed = self._add_noise(
                            text, settings[language], counts, name, side, copy
                        )
                        noisy.append(changed)
                        counts[f"unchanged {plural(side)}"] += text == changed
                columns[side] = pa.array(noisy, pa.string())
            if self.use == RECORDS:
                return OperatorOutput(
                    derive_records(parents, self, [*numbers] * len(block), **columns), counts
                )
            return OperatorOutput(view_table(block, columns), counts)

        return apply

    def key(self, name: str, text: str) -> str:
        """Return what identifies a text in the random key, next to seed, side and copy."""
        return name

    def _add_noise(
        self,
        text: str,
        setting: NoiseContext,
        counts: Counter[str],
        name: str,
        side: str,
        copy: int,
    ) -> str:
        """Return a text with noise, and count its places and edits."""
        changed = text
        for kind, rate in self.rates.items():
            random = generator(self.seed, self.operator, self.key(name, text), side, copy, kind)
            changed, places, edits = add_noise(changed, kind, rate, random, setting)
            counts.update({f"{kind}{PLACES}": places, f"{kind}{EDITED}": edits})
        return changed if changed.strip() else text


class NoiseView(Noise):
    """One copy of every record, as a view."""

    copy_number: int

    def name(self) -> str:
        return f"{self.operator}-{self.copy_number}"

    def copy_numbers(self) -> Sequence[int]:
        return (self.copy_number,)


class NoiseForTestSet(NoiseView):
    """Noise for a test set, keyed by texts, so that versions differ in rates alone."""

    copy_number: int = 1
    use: Literal["view"] = "view"
    by: Literal["text"] = "text"

    def parts(self) -> Sequence[Noise]:
        return [self]

    def key(self, name: str, text: str) -> str:
        return text


OPERATOR = Noise

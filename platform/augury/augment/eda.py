"""EDA: copies of records, each sentence changed by one edit operation (Wei and Zou 2019).

In the two sentences of a pair the operations are independent (Dong et al. 2021).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from augury.augment.mixins import ExtraInputs, Fitted, MakesRecords
from augury.augment.operator import RECORDS, BlockFunction, OperatorOutput
from augury.augment.records import derive_records, language_column, plural, view_table
from augury.core.citations import CROSS_LINGUAL_NLI, EDA, Paper
from augury.core.config import FilePath
from augury.core.progress import say_once
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import input_columns
from augury.corpora.files import examine
from augury.corpora.languages import base_language
from augury.text.eda.operations import OPERATIONS, Operation, augment, clean, operation_of
from augury.text.eda.synonyms import (
    Synonyms,
    load_stop_words,
    load_synonyms,
    stop_words_file,
    synonyms_file,
)
from augury.text.segmentation import require_words


class Eda(Fitted, ExtraInputs, MakesRecords):
    """Copy records with words replaced by synonyms, inserted, swapped or deleted; label and target
    stay."""

    operator: Literal["eda"] = "eda"
    copies: int = Field(4, ge=1, le=1000)
    """Copies of every record; in four successive ones, every sentence undergoes all four
    operations."""
    use: Literal["records", "view"] = "records"
    """records: new examples in addition to the originals; view: every copy is a view of the
    example, eda-N."""
    alpha: float = Field(0.2, gt=0, le=1)
    """The share of a sentence's words that change, at least one; in deletion, the probability of
    each."""
    synonyms: FilePath | None = None
    """A directory with Open English WordNet's synsets.tsv.gz, or a file of lines
    word<TAB>synonym[,synonym...]. By default a small English table, and no synonyms for other
    languages. Every machine of a cluster reads the file."""
    stop_words: FilePath | None = None
    """A file of words that have no synonyms, one a line; by default, for English, its function
    words."""
    clean: bool = False
    """Lower-case, delete apostrophes and make a space of all that is not a to z, as the released
    code of EDA does."""
    seed: int = 1
    """Seed of the random choices."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (EDA, CROSS_LINGUAL_NLI)
    PER_SECOND: ClassVar[float] = 1_500
    LEARNED: ClassVar[frozenset[str]] = frozenset({"synonyms", "stop_words"})
    REMEDY: ClassVar[str] = (
        "give more synonyms (synonyms: FILE), fewer stop words, or a larger alpha"
    )
    EXAMPLE: ClassVar[str] = "copies: 2"

    def parts(self) -> Sequence[Eda]:
        if self.use == RECORDS:
            return [self]
        single_copy = {**self.to_dict(), "copies": 1}
        return [
            EdaView.model_validate({**single_copy, "copy_number": number})
            for number in self.copy_numbers()
        ]

    def makes(self) -> Literal["view", "records"]:
        return self.use

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            "id",
            *(input_columns(columns) or ("premise", "hypothesis")),
            language_column(columns),
        )

    def copy_numbers(self) -> Sequence[int]:
        """Return the numbers of the copies that a part makes, from 1; a copy depends on its own
        number alone."""
        return range(1, self.copies + 1)

    def check_text(self, records: pa.Table) -> None:
        languages = records.column(language_column(records.column_names))
        sides = input_columns(records.column_names)
        for scalar in languages.unique():
            language, rows = scalar.as_py(), records.filter(pc.equal(languages, scalar))
            texts = chain.from_iterable(rows.column(side).to_pylist() for side in sides)
            require_words(texts, language, f"operator {self.operator}")
            if self.synonyms is None and not _is_english(language):
                say_once(
                    f"operator {self.operator}: no synonyms of language '{language}' are known, "
                    "so that copies by replacement and insertion, half of all, stay as they are: "
                    "give synonyms, a file of lines word<TAB>synonym[,synonym...], or, where the "
                    f"text is English, {language_column(rows.column_names)} en"
                )

    def files(self) -> Sequence[str]:
        return [file for file in (self.synonyms, self.stop_words) if file is not None]

    def fit_parameters(self) -> dict[str, Any]:
        files = {
            "synonyms": synonyms_file(self.synonyms),
            "stop_words": stop_words_file(self.stop_words),
        }
        return {name: examine(str(file)).sha256 for name, file in files.items()}

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        synonyms, stop_words = load_synonyms(self.synonyms), load_stop_words(self.stop_words)
        english = (synonyms, stop_words)
        others = (
            synonyms if self.synonyms else {},
            stop_words if self.stop_words else frozenset[str](),
        )

        def apply(block: pa.Table) -> OperatorOutput:
            numbers, sides = self.copy_numbers(), input_columns(block.column_names)
            parents = block.take(np.repeat(np.arange(len(block)), len(numbers)))
            records = zip(
                *(block.column(name).to_pylist() for name in self.reads(block.column_names)),
                strict=True,
            )
            texts: dict[str, list[str]] = {side: [] for side in sides}
            for name, *sentences, language in records:
                words = english if _is_english(language) else others
                for copy in self._copies(name, sentences, *words):
                    for side, text in zip(sides, copy, strict=True):
                        texts[side].append(text)
            counts = {
                f"unchanged {plural(side)}": _unchanged(parents.column(side), texts[side])
                for side in sides
            }
            columns = {side: pa.array(changed, pa.string()) for side, changed in texts.items()}
            if self.use == RECORDS:
                return OperatorOutput(
                    derive_records(parents, self, [*numbers] * len(block), **columns), counts
                )
            return OperatorOutput(view_table(block, columns), counts)

        return apply

    def _copies(
        self, name: str, sentences: Sequence[str], synonyms: Synonyms, stop_words: Collection[str]
    ) -> Iterator[list[str]]:
        """Yield the copies of record `name`, whose sentences take turns of operations
        independently."""
        offsets = (
            generator(self.seed, self.operator, name)
            .integers(len(OPERATIONS), size=len(sentences))
            .tolist()
        )
        for copy in self.copy_numbers():
            random = generator(self.seed, self.operator, name, copy)
            yield [
                self._augmented(text, operation_of(copy, offset), random, synonyms, stop_words)
                for text, offset in zip(sentences, offsets, strict=True)
            ]

    def _augmented(
        self,
        text: str,
        operation: Operation,
        random: np.random.Generator,
        synonyms: Synonyms,
        stop_words: Collection[str],
    ) -> str:
        words = (clean(text) if self.clean else text).split()
        changed = " ".join(augment(words, operation, self.alpha, random, synonyms, stop_words))
        return (
            clean(changed) if self.clean else changed
        ) or text  # a text without words, or without a-z, is kept


class EdaView(Eda):
    """One copy of every record, as a view."""

    copy_number: int

    def name(self) -> str:
        return f"{self.operator}-{self.copy_number}"

    def copy_numbers(self) -> Sequence[int]:
        return (self.copy_number,)


def _is_english(language: str) -> bool:
    return base_language(language) == "en"


def _unchanged(before: pa.ChunkedArray, after: Sequence[str]) -> int:
    return sum(
        old.split() == new.split() for old, new in zip(before.to_pylist(), after, strict=True)
    )


OPERATOR = Eda

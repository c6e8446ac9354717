"""EDA: copies of records, each sentence changed by one edit operation (Wei and Zou 2019).

In the two sentences of a pair the operations are independent (Dong et al. 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from augury.augment.operator import Copies, CopyRequest, Rewrite, language_column
from augury.core.config import FilePath
from augury.core.messages import say_once
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import input_columns
from augury.corpora.files import examine
from augury.corpora.languages import base_language, require_words
from augury.text import eda


class Eda(Copies):
    """Copy records with words replaced by synonyms, inserted, swapped or deleted; label and target
    stay (Wei and Zou 2019)."""

    operator: Literal["eda"] = "eda"
    copies: int = Field(4, ge=1, le=1000)
    """Copies of every record; in four successive ones, every sentence undergoes all four
    operations."""
    alpha: float = Field(0.2, gt=0, le=1)
    """The share of a sentence's words that change, at least one; in deletion, the probability of
    each."""
    synonyms: FilePath | None = None
    """A directory with Open English WordNet's synsets.tsv.gz, or a file of lines
    word<TAB>synonym[,synonym...]. By default a small English table, and no synonyms for other
    languages. Every machine of a cluster reads the file."""

    PER_SECOND: ClassVar[float] = 1_500
    LEARNED: ClassVar[frozenset[str]] = frozenset({"synonyms"})

    def check_text(self, records: pa.Table) -> None:
        languages = records.column(language_column(records.column_names))
        sides = input_columns(records.column_names)
        for scalar in languages.unique():
            language, rows = scalar.as_py(), records.filter(pc.equal(languages, scalar))
            texts = chain.from_iterable(rows.column(side).to_pylist() for side in sides)
            require_words(texts, language, f"operator {self.operator}")
            if self.synonyms is None and base_language(language) != "en":
                say_once(
                    f"operator {self.operator}: no synonyms of language '{language}' are known, "
                    "so that copies by replacement and insertion, half of all, stay as they are: "
                    "give synonyms, a file of lines word<TAB>synonym[,synonym...], or, where the "
                    f"text is English, {language_column(rows.column_names)} en"
                )

    def fit_parameters(self) -> dict[str, Any]:
        files = {"synonyms": eda.synonyms_file(self.synonyms), "stop_words": eda.STOP_WORDS}
        return {name: examine(str(file)).sha256 for name, file in files.items()}

    def rewriter(self, fitted: Mapping[str, Any], store: Store) -> Rewrite:
        given = eda.load_synonyms(self.synonyms)
        of_english = eda.without_stop_words(given)

        def rewrite(request: CopyRequest) -> list[str]:
            synonyms: eda.Synonyms = given if self.synonyms else {}
            if base_language(request.language) == "en":
                synonyms = of_english
            # Sentences begin their turns of operations independently of each other.
            offsets = generator(self.seed, self.operator, request.id).integers(
                len(eda.OPERATIONS), size=len(request.texts)
            )
            random = generator(self.seed, self.operator, request.id, request.copy)
            changed = []
            for text, offset in zip(request.texts.values(), offsets.tolist(), strict=True):
                operation = eda.OPERATIONS[(request.copy + offset) % len(eda.OPERATIONS)]
                words = eda.augment(text.split(), operation, self.alpha, random, synonyms)
                changed.append(" ".join(words) or text)  # a text without words is kept
            return changed

        return lambda requests: [rewrite(request) for request in requests]


OPERATOR = Eda

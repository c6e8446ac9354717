"""Sentences in the word order of another language, by a generator (Dong et al. 2021, 2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment import prompts
from augury.augment.models import ReadyModel
from augury.augment.operator import (
    RECORDS,
    VIEW,
    BlockFunction,
    Form,
    Operator,
    OperatorOutput,
    derive_records,
    view_table,
)
from augury.core.config import FilePath, Overrides
from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.core.store import Store
from augury.core.words import words
from augury.corpora.corpus import input_columns
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import Sampling
from augury.text.segmentation import require_words

REORDERER = "reorderer"


class Reorder(Operator):
    """Rewrite premise and hypothesis, or the source, in the word order of another language.

    An encoder-decoder learns the order from a parallel text that is aligned word by word.
    """

    operator: Literal["reorder"] = "reorder"
    parallel: CorpusSpec
    """Parallel text from the language of the examples to the one with the word order."""
    min_coverage: float = Field(0.5, ge=0, le=1)
    """Pairs with a smaller share of linked source words are left out of training."""
    links: dict[str, FilePath] = {}
    """Split -> file with the links of others for the parallel text, a line a row in Pharaoh's
    format (`0-0 1-2`), for tokenised text; by default an aligner is fitted on it."""
    model: Overrides = {"name": "t5-base"}
    """The section `model` of the reorderer's experiment."""
    training: Overrides = {}
    """Its section `training`; by default the paper's."""
    max_pieces: int | None = Field(None, ge=2, le=1_000_000)
    """Longest source and target in subwords, to which longer ones are cut; None: the generator's
    default."""
    copies: int = Field(1, ge=1, le=1000)
    """Outputs sampled for every example; each makes a new example."""
    use: Literal["records", "view"] = "records"
    """records: new examples in addition to the old ones; view: another view of the example."""
    sampling: Sampling = Sampling()
    """Sampling of the reorderer's outputs."""
    seed: int = 1
    """Seed of the random choices."""

    PER_SECOND: ClassVar[float] = 2
    BLOCK_ROWS: ClassVar[int | None] = 1_000
    LEARNED: ClassVar[frozenset[str]] = frozenset(
        {"parallel", "min_coverage", "links", "model", "training", "max_pieces"}
    )

    @model_validator(mode="after")
    def _one_view(self) -> Reorder:
        if self.use == VIEW and self.copies > 1:
            raise UserError(
                f"use view makes one view of an example, not copies={self.copies}: set use=records"
            )
        return self

    def name(self) -> str:
        return f"{self.operator}-{self.parallel.target_language}"

    def makes(self) -> Form:
        return self.use

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        corpus = experiment["corpus"]
        language = corpus.get("language") or corpus["source_language"]
        if language != self.parallel.source_language:
            raise UserError(
                f"operator reorder: the examples are in '{language}' and parallel.source_language "
                f"is '{self.parallel.source_language}': the parallel text leads from the language "
                "of the examples to the one whose word order is wanted"
            )
        form = {"form": "reorder", **self._sections("min_coverage", "links")}
        reorderer = {
            "name": REORDERER,
            "task": "seq2seq",
            "corpus": self.parallel.model_dump(mode="json", exclude_unset=True) | form,
            **self._sections("model", "training", "max_pieces"),
        }
        return {REORDERER: reorderer}

    def _sections(self, *names: str) -> dict[str, Any]:
        return self.model_dump(mode="json", include={*names}, exclude_none=True)

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return ("id", *(input_columns(columns) or ("premise", "hypothesis")))

    def check_text(self, records: pa.Table) -> None:
        sides = input_columns(records.column_names)
        texts = chain.from_iterable(records.column(side).to_pylist() for side in sides)
        require_words(texts, self.parallel.source_language, f"operator {self.operator}")

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        draw = fitted["models"][REORDERER].sampler(store)

        def apply(block: pa.Table) -> OperatorOutput:
            rows = np.repeat(np.arange(len(block)), self.copies)
            copies = [*range(1, self.copies + 1)] * len(block)
            records = [*zip(block.column("id").take(rows).to_pylist(), copies, strict=True)]
            texts = dict[str, list[str]]()
            for side in input_columns(block.column_names):
                before = block.column(side).take(rows).to_pylist()
                asked = [prompts.reordering(text) for text in before]
                keys = [
                    seed_of(self.seed, self.operator, name, side, copy) for name, copy in records
                ]
                drawn = draw(asked, keys, self.sampling)
                texts[side] = [
                    new if new and words(new) else old
                    for old, new in zip(before, drawn, strict=True)
                ]
            if self.use == RECORDS:
                return OperatorOutput(derive_records(block, self, copies, rows=rows, **texts))
            return OperatorOutput(view_table(block, texts))

        return apply


OPERATOR = Reorder

"""Sentences in the word order of another language, by a generator (Dong et al. 2021, 2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment import prompts
from augury.augment.models import ReadyModel
from augury.augment.operator import Copies, CopyRequest, Rewrite
from augury.core.config import FilePath, Overrides
from augury.core.errors import UserError
from augury.core.rng import seed_of
from augury.core.store import Store
from augury.core.words import words
from augury.corpora.corpus import input_columns
from augury.corpora.languages import require_words
from augury.corpora.spec import CorpusSpec
from augury.decoding.settings import Sampling

REORDERER = "reorderer"


class Reorder(Copies):
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
    sampling: Sampling = Sampling()
    """Sampling of the reorderer's outputs."""

    PER_SECOND: ClassVar[float] = 2
    LEARNED: ClassVar[frozenset[str]] = frozenset(
        {"parallel", "min_coverage", "links", "model", "training"}
    )

    def name(self) -> str:
        return f"{self.operator}-{self.parallel.languages[1]}"

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        corpus = experiment["corpus"]
        language = corpus.get("language") or corpus["source_language"]
        if language != self.parallel.languages[0]:
            raise UserError(
                f"operator reorder: the examples are in '{language}' and parallel.source_language "
                f"is '{self.parallel.languages[0]}': the parallel text leads from the language "
                "of the examples to the one whose word order is wanted"
            )
        form = {"form": "reorder", **self._sections("min_coverage", "links")}
        reorderer = {
            "name": REORDERER,
            "task": "seq2seq",
            "corpus": self.parallel.model_dump(mode="json", exclude_unset=True) | form,
            **self._sections("model", "training"),
        }
        return {REORDERER: reorderer}

    def _sections(self, *names: str) -> dict[str, Any]:
        return self.model_dump(mode="json", include={*names}, exclude_none=True)

    def check_text(self, records: pa.Table) -> None:
        sides = input_columns(records.column_names)
        texts = chain.from_iterable(records.column(side).to_pylist() for side in sides)
        require_words(texts, self.parallel.languages[0], f"operator {self.operator}")

    def rewriter(self, fitted: Mapping[str, Any], store: Store) -> Rewrite:
        draw = fitted["models"][REORDERER].sampler(store)

        def rewrite(requests: Sequence[CopyRequest]) -> list[list[str]]:
            old, keys = list[str](), list[int]()
            for request in requests:
                for side, text in request.texts.items():
                    old.append(text)
                    keys.append(seed_of(self.seed, self.operator, request.id, side, request.copy))
            drawn = draw([*map(prompts.reordering, old)], keys, self.sampling)
            pairs = zip(old, drawn, strict=True)
            new = iter([made if made and words(made) else text for text, made in pairs])
            return [[*islice(new, len(request.texts))] for request in requests]

        return rewrite


OPERATOR = Reorder

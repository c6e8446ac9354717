"""Pairs of monolingual text and its translation: the base of forward and back-translation.

As in Li and Specia (2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa
from pydantic import model_validator

from augury.augment.mixins import CorpusOperator, ExtraInputs, UsesModels
from augury.augment.models import ReadyModel
from augury.augment.operator import MadeOf, OperatorOutput
from augury.augment.records import derive_records
from augury.augment.translation import (
    PLAIN,
    UNTRANSLATED,
    Direction,
    Translation,
    TranslationSampling,
    cleaned_like,
    count_outcomes,
    direction_experiment,
    require_view,
)
from augury.core.citations import NOISY_NMT, Paper
from augury.core.config import Overrides
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.spec import BaseSpec, MonolingualSpec
from augury.decoding.settings import Decoding

TRANSLATOR = "translator"


class TranslatedText(UsesModels, ExtraInputs, CorpusOperator):
    """Parameters of an operator that adds a monolingual text, translated, to the training text."""

    monolingual: MonolingualSpec
    """The text."""
    ready: ReadyModel | None = None
    """A trained model, in place of one to train."""
    seed: int = 1
    """The seed of the model that is trained."""
    system: Overrides = {}
    """Dotted keys in which the experiment that trains the model differs from the plain baseline
    of this one."""
    view: str = PLAIN
    """The view that the model reads the text as."""
    decoding: Decoding = Decoding()
    """How the model searches for the best translation."""
    sampling: TranslationSampling | None = None
    """Draw translations instead, as `sampling: {}` with the model's own probabilities."""

    PAPERS: ClassVar[tuple[Paper, ...]] = (NOISY_NMT,)
    LOST: ClassVar[tuple[str, ...]] = UNTRANSLATED

    DIRECTION: ClassVar[Direction]
    VERSION: ClassVar[int] = 3
    EXAMPLE_FILE: ClassVar[str] = "demo_nmt.yaml"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual", "ready", "seed", "system"})

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"monolingual": self.monolingual}

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        return texts["monolingual"]

    def inactive(self) -> dict[str, str]:
        unused = dict.fromkeys(("seed", "system"), "the model is ready") if self.ready else {}
        return unused | ({"decoding": "translations are drawn"} if self.sampling else {})

    @model_validator(mode="after")
    def _drawn_from_plain_text(self) -> TranslatedText:
        if self.sampling and self.view != PLAIN:
            raise UserError(
                f"translations are drawn from plain text: leave out view {self.view}, or sampling"
            )
        return self

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        language = self.monolingual.language
        expected = experiment["corpus"][f"{self.DIRECTION.read}_language"]
        if language != expected:
            raise UserError(
                f"operator {self.operator}: monolingual.language is '{language}', and what is "
                f"translated is in '{expected}', the {self.DIRECTION.read} language"
            )
        trained = direction_experiment(self.DIRECTION, experiment, self.system)
        return {TRANSLATOR: self.ready or {**trained, "name": self.operator, "seeds": [self.seed]}}

    def check_model(self, role: str, views: Sequence[str]) -> None:
        require_view(self.operator, role, self.view, views)

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        text = cached_corpus(self.monolingual, "train", store.root)
        translation = Translation(
            text, "text", fitted["models"][TRANSLATOR], self.view, self.decoding, self.sampling
        )
        outputs = translation.hypotheses(store, execution, f"{self.operator}: translate")
        languages = {key: corpus.manifest[key] for key in ("source_language", "target_language")}
        for block, hypotheses in zip(text.blocks(), outputs, strict=True):
            counts = count_outcomes(hypotheses)
            usable = pa.array([bool(output and output.strip()) for output in hypotheses])
            texts = {
                self.DIRECTION.read: block.column("text"),
                self.DIRECTION.written: pa.array(hypotheses, pa.string()),
            }
            sides = {
                side: pa.array(cleaned_like(corpus, text.filter(usable).to_pylist()), pa.string())
                for side, text in texts.items()
            }
            parents = _parents(block.filter(usable), {**sides, **languages})
            read, written = self.DIRECTION.read, self.DIRECTION.written
            yield OperatorOutput(
                derive_records(parents, self, [1] * len(parents)),
                counts,
                [translation.folder(store).name],
                {written: MadeOf(sides[read], read)},
            )


def _parents(block: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return sentences as parallel records; `columns` are texts, or a value for all."""
    values = {
        name: pa.repeat(value, len(block)) if isinstance(value, str) else value
        for name, value in columns.items()
    }
    values |= {name: block.column(name) for name in ("id", "origin", "lineage")}
    schema = KINDS["parallel"].schema
    values["views"] = pa.array([[]] * len(block), schema.field("views").type)
    return pa.table({name: values[name] for name in schema.names}, schema=schema)

"""The settings of a generator's experiment: its pairs of texts, model and optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import FilePath, discriminated_union
from augury.core.errors import UserError
from augury.corpora.spec import CorpusSpec, NliSpec
from augury.decoding.settings import Decoding
from augury.experiments.spec import AnyRegime
from augury.models.settings import scratch_or_pretrained
from augury.regimes.plain import Plain
from augury.training.settings import FineTuning, Training
from trainables.nmt.config import (
    PretrainedTranslator,
    SequenceExperiment,
    TinyT5,
    ValidationSettings,
)

GeneratorModel = Annotated[
    PretrainedTranslator | TinyT5,
    scratch_or_pretrained(TinyT5, PretrainedTranslator, default=PretrainedTranslator),
]


class TextCorpus(CorpusSpec):
    """Parallel text as it is: the source is read, the target written."""

    form: Literal["text"] = "text"


class HypothesisCorpus(NliSpec):
    """An NLI corpus: `<label>: <premise>` is read, the hypothesis written (Dong et al. 2021,
    2.1.2)."""

    form: Literal["hypothesis"] = "hypothesis"


class ReorderCorpus(CorpusSpec):
    """Parallel text: `reorder: <source>` is read, the source in the word order of the target
    written (2.1.1).

    The order is that of an alignment in both directions, fitted on the training text and
    symmetrised.
    """

    form: Literal["reorder"] = "reorder"
    min_coverage: float = Field(0.5, ge=0, le=1)
    """Pairs with a smaller share of linked source words are left out, and counted."""
    links: dict[str, FilePath] = {}
    """Split -> file with the links of others in its words, a line a row in Pharaoh's format
    (`0-0 1-2`), for tokenised text; by default an aligner is fitted on the training text."""

    @model_validator(mode="after")
    def _links_of_all(self) -> ReorderCorpus:
        if self.links and (lacking := {"train", "valid"} - self.links.keys()):
            raise UserError(f"links: give those of {' and '.join(sorted(lacking))} too")
        return self


FORMS = {"text": TextCorpus, "hypothesis": HypothesisCorpus, "reorder": ReorderCorpus}
PairsCorpus = TextCorpus | HypothesisCorpus | ReorderCorpus


class GeneratorTraining(FineTuning):
    """The optimisation of T5-base in Dong et al. (2021): batch 8, rate 3e-4, gradients clipped at
    1. A model from nothing has the defaults of ScratchGeneratorTraining.

    What the paper leaves open is chosen: Adam without decay, a rate that falls linearly over ten
    epochs, an end after three epochs without gain, and the checkpoint of the best validation loss.
    """

    max_examples: int | None = Field(8, ge=1, le=10_000_000)
    learning_rate: float = Field(3e-4, gt=0)
    warmup_updates: int = Field(0, ge=0)
    clip_norm: float = Field(1.0, ge=0)


class ScratchGeneratorTraining(GeneratorTraining):
    """The optimisation of a generator that starts from nothing, `model: {architecture: ...}`: a
    higher rate after a warm-up, larger batches, and time for the first epochs, which may not gain.

    Settings that are not listed are those of a pretrained model.
    """

    max_examples: int | None = Field(32, ge=1, le=10_000_000)
    learning_rate: float = Field(2e-3, gt=0)
    warmup_share: float | None = Field(0.06, ge=0, lt=1)
    max_epochs: int | None = Field(60, ge=1)
    patience: int = Field(10, ge=1)


class Seq2SeqExperiment(SequenceExperiment):
    """A generator's experiment."""

    task: Literal["seq2seq"] = "seq2seq"
    corpus: Annotated[PairsCorpus, discriminated_union(FORMS, "corpus", key="form")]
    model: GeneratorModel = PretrainedTranslator(name="t5-base")
    max_pieces: int = Field(150, ge=1, le=1_000_000)
    """Training examples with a longer source or target are left out, and counted."""
    regime: AnyRegime = Plain(label_smoothing=0.0)
    training: GeneratorTraining = GeneratorTraining()
    validation: ValidationSettings = ValidationSettings(metric="loss")
    decoding: Decoding = Decoding(beam=1, max_length=150)

    TRAININGS: ClassVar[Mapping[bool, type[Training]]] = {False: ScratchGeneratorTraining}

    @model_validator(mode="after")
    def _prompts_unchanged(self) -> Seq2SeqExperiment:
        if self.augment and not isinstance(self.corpus, TextCorpus):
            raise UserError(
                f"operator {self.augment[0].operator} would change the prompt that a generator of "
                f"form: {self.corpus.form} reads before its text: leave out augment, or take "
                "form: text"
            )
        return self

    @property
    def languages(self) -> tuple[str, str]:
        read, written = super().languages
        return read, read if isinstance(self.corpus, ReorderCorpus) else written

    @property
    def test_sets(self) -> list[str]:
        """The test sets; none for hypotheses, of which a premise has many, so that one reference
        says little."""
        return [] if isinstance(self.corpus, HypothesisCorpus) else super().test_sets

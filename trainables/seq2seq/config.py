"""The sections of an experiment file that a generator adds, and its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from augury.core.config import FilePath, ModelName, Section, discriminated_union
from augury.core.errors import UserError
from augury.corpora.spec import CorpusSpec, NliSpec
from augury.experiments.spec import AnyRegime, Experiment
from augury.models.settings import Pretrained, check_heads, scratch_or_pretrained
from augury.regimes.plain import Plain
from augury.scoring.settings import TextScoring
from augury.training.settings import FineTuning, Training


class PretrainedGenerator(Pretrained):
    """A pretrained encoder-decoder with its tokenizer."""

    name: ModelName = "t5-base"
    """Directory written by `save_pretrained`, or name on the hub, of an encoder-decoder."""


class TinyT5(Section):
    """A T5 with random weights and subwords learned from its training text."""

    CHANGING: ClassVar[tuple[str, ...]] = ("dropout",)

    architecture: Literal["tiny"]
    vocabulary_size: int = Field(1000, ge=10, le=10_000_000)
    """Maximum number of subwords."""
    layers: int = Field(2, ge=1, le=1000)
    """Layers of the encoder, and of the decoder."""
    hidden_size: int = Field(64, ge=2, le=100_000)
    feedforward_size: int = Field(256, ge=1, le=1_000_000)
    attention_heads: int = Field(4, ge=1, le=10_000)
    dropout: float = Field(0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _heads_fit(self) -> TinyT5:
        check_heads(self.hidden_size, self.attention_heads)
        return self


GeneratorModel = Annotated[
    PretrainedGenerator | TinyT5,
    scratch_or_pretrained(TinyT5, PretrainedGenerator, default=PretrainedGenerator),
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

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "max_examples": 8,
            "learning_rate": 3e-4,
            "warmup_share": None,
            "max_epochs": 10,
            "patience": 3,
        }
    }

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


class Config(Experiment):
    """A generator's experiment."""

    task: Literal["seq2seq"] = "seq2seq"
    corpus: Annotated[PairsCorpus, discriminated_union(FORMS, "corpus", key="form")]
    model: GeneratorModel = PretrainedGenerator()
    max_pieces: int = Field(150, ge=2, le=1_000_000)
    """Longest source or target in subwords, the end included; longer ones are cut, and counted."""
    regime: AnyRegime = Plain(label_smoothing=0.0)
    training: GeneratorTraining = GeneratorTraining()
    scoring: TextScoring = TextScoring()

    FROM_NOTHING: ClassVar[type[Training] | None] = ScratchGeneratorTraining

    @model_validator(mode="after")
    def _prompts_unchanged(self) -> Config:
        if self.augment and not isinstance(self.corpus, TextCorpus):
            raise UserError(
                f"operator {self.augment[0].operator} would change the prompt that a generator of "
                f"form: {self.corpus.form} reads before its text: leave out augment, or take "
                "form: text"
            )
        return self

    @property
    def test_sets(self) -> list[str]:
        """The test sets; none for hypotheses, of which a premise has many, so that one reference
        says little."""
        return [] if isinstance(self.corpus, HypothesisCorpus) else super().test_sets

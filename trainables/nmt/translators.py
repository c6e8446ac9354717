"""What the tasks ask of a model, and the one that is trained from nothing, with a vocabulary of its
text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, partial
from importlib.metadata import version
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from augury.augment.health import UnusableOutput
from augury.core.config import address
from augury.core.errors import UserError
from augury.core.progress import ProgressLine
from augury.core.store import Folder, Store
from augury.corpora.ingest import cached_corpus
from augury.models.sizes import Size, transformer
from augury.regimes.regime import SOURCE, TARGET
from augury.text.pieces import training
from augury.text.pieces.vocabulary import Vocabulary, VocabularyTokenizer
from augury.text.tokens import Text, Tokenizer
from trainables.nmt.config import TranslationExperiment

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SIDES = {SOURCE: ("source",), TARGET: ("target",)}
ESTIMATE = 20_000
"""Rows whose words estimate the entries of an automatic vocabulary."""


class Architecture:
    """What the models of experiments have in common: a vocabulary, once that is made.

    Vocabularies of all kinds have the members of `text.pieces.vocabulary.Vocabulary` that
    translation reads; to read an incomplete one is a UserError. Torch is imported where models are
    made.
    """

    vocabulary: Any

    def __init__(self, experiment: Any, folder: Folder | None = None):
        """`folder` is that of the vocabulary, where it is made."""
        self.experiment, self.folder = experiment, folder

    def prefix(self, tag: str | None = None, target: str = TARGET) -> list[int]:
        """Return the ids before a source: a model's own, and the tags of the language of the
        `target` and of the text's domain."""
        tags = [self.vocabulary.tags[symbol] for symbol in self.experiment.prefix(tag, target)]
        return [*self.vocabulary.before, *tags]

    def check_model(self, store: Store) -> None:
        """Raise UserError for a model that cannot be trained, before anything is made."""


class FromNothing(Architecture):
    """A transformer of random weights, with a vocabulary that is learned from its text."""

    experiment: TranslationExperiment

    @cached_property
    def vocabulary(self) -> Vocabulary:
        assert self.folder is not None
        return Vocabulary.load(self.folder)

    @property
    def positions(self) -> int:
        """The number of subwords that the model reads or writes, the end included; a large one
        where its positions are relative."""
        return self.experiment.transformer.max_positions

    def check(self, store: Store) -> None:
        """Raise UserError for a vocabulary that the training text does not allow, or that a stage
        needs and lacks."""
        experiment, settings = self.experiment, self.experiment.vocabulary
        if (before := experiment.before) is not None:  # the stage before is checked on its own
            _check_stage(experiment, before)
            return
        own_size = {"joint": settings.size_per_key != "auto", "separate": True, "mirrored": False}
        if settings.size == "auto" and not (own_size[settings.mode] and experiment.view_names):
            return  # its size follows from the text
        if any(operator.uses_models for operator in experiment.augment):
            return
        lines = chain.from_iterable(text.lines() for text in self._sides(store))
        if not training.has_words(lines, self.entries(store)):
            from augury.experiments.graph import Graph
            from augury.experiments.make import make_texts

            # So little text has its vocabulary at once. Whether a system must be left out for its
            # operators' output is decided when all are prepared.
            with suppress(UnusableOutput):
                make_texts(Graph(store).plan(experiment))

    def tokenizer(self, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        """Return the tokenizer of training texts, made or not."""
        settings = self.experiment.vocabulary.to_dict()
        # The size of a view has an effect in one mode, and only where views have texts of their
        # own: those of a draw have the source's.
        has_views = any(view in texts for view in self.experiment.view_names)
        used = {"joint": "size_per_key", "separate": "separate_size_per_key"}.get(settings["mode"])
        for size in ("size_per_key", "separate_size_per_key"):
            if size != used or not has_views:
                del settings[size]
        determined = {
            "version": training.VERSION,
            "config": settings,
            "languages": self.experiment.corpus.languages_of("train"),
            "texts": [[name, text.folder.name] for name, text in texts.items()],
        }
        if settings.get("size_per_key") == "auto":
            determined["size_version"] = training.SIZE_VERSION
        if settings["tokenise"] == "moses":
            determined["sacremoses"] = version("sacremoses")
        return VocabularyTokenizer(store.folder("vocabularies", address(determined)))

    def make_tokenizer(self, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer into its folder and finish that."""
        settings = self.experiment.vocabulary
        groups = {name: partial(text.lines, settings.max_sentences) for name, text in texts.items()}
        languages = list(self.experiment.corpus.languages_of("train"))
        with ProgressLine("vocabulary", unit="pieces") as progress:
            made = training.train(groups, settings, languages=languages, folder=folder)
            progress.advance(len(made))

    def entries(self, store: Store) -> int:
        """Return the estimated number of entries of the vocabulary."""
        # Views with the vocabulary of the source.
        drawn = {operator.name() for operator in self.experiment.token_draws}
        views = len(set(self.experiment.view_names) - drawn)
        settings = self.experiment.vocabulary
        plain = settings.size
        if plain == "auto":
            sampled = chain.from_iterable(
                islice(text.lines(), ESTIMATE) for text in self._sides(store)
            )
            plain = training.fitting_size(sampled, settings.entries)
        of_view = plain // 2
        if settings.mode == "separate":
            of_view = settings.separate_size_per_key
        elif settings.mode == "mirrored":
            return plain + views * plain // 2
        elif settings.size_per_key != "auto":
            of_view = settings.size_per_key
        return plain + views * of_view

    def _sides(self, store: Store) -> list[Text]:
        corpus = cached_corpus(self.experiment.corpus, "train", store.root)
        return [Text(corpus.folder, columns, side) for side, columns in SIDES.items()]

    def size(self, store: Store) -> Size:
        """Estimate the size of a model from nothing."""
        model = self.experiment.transformer
        sizes, entries = model.sizes, self.entries(store)
        matrices = 1 if model.share_all_embeddings else 2
        parameters, source, target = transformer(
            entries,
            sizes.hidden_size,
            sizes.feedforward_size,
            sizes.encoder_layers,
            sizes.decoder_layers,
            matrices=matrices,
        )
        of_piece, shared = model.embeddings.counts(sizes.hidden_size)
        parameters += matrices * (entries * (of_piece - sizes.hidden_size) + shared)
        # The output layer computes the embeddings of the whole vocabulary once a batch.
        again = shared * entries // self.experiment.training.max_tokens
        return Size(parameters, source + shared, target + shared + again)

    def untrained(self, seed: int) -> PreTrainedModel:
        """Return the model before training, on the CPU and in training mode; `seed` determines what
        is not pretrained."""
        from trainables.nmt.model import build

        pad, eos = self.vocabulary.pad, self.vocabulary.eos
        size = len(self.vocabulary)
        return build(self.experiment.transformer, size, pad=pad, eos=eos, seed=seed)

    def empty(self) -> PreTrainedModel:
        """Return a model whose weights will be replaced by those of a run."""
        return self.untrained(seed=0)


def _check_stage(stage: Any, before: Any) -> None:
    """Raise UserError for a stage in other languages than those of the vocabulary, or with views
    that it does not know."""
    if stage.corpus.language_codes() != before.corpus.language_codes():
        languages = [
            "-".join(corpus.language_codes().values()) for corpus in (before.corpus, stage.corpus)
        ]
        raise UserError(
            f"stage {stage.stage.name} is {languages[1]} and the stage before it {languages[0]}: "
            "all stages translate between the same languages (of a text of the other direction, "
            "`reversed: true`)"
        )
    drawn = {operator.name() for operator in stage.token_draws}
    if unknown := [
        view for view in stage.view_names if view not in (*stage.first.view_names, *drawn)
    ]:
        raise UserError(
            f"stage {stage.stage.name} reads the view {unknown[0]}, and its vocabulary, that of "
            "the first stage, was learned without it: let the first stage read it too, or make "
            "records where the operator can"
        )

"""The base of tasks whose model has a vocabulary learned from all views of the training text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from augury.augment.health import UnusableOutput
from augury.augment.operator import UsesModels
from augury.core import config
from augury.core.errors import UserError
from augury.core.progress import Stage
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.run import Run
from augury.experiments.task import Task
from augury.text.tokens import Text, Tokenizer
from augury.text.vocabulary.training import fitting_size, has_words
from augury.text.vocabulary.vocabulary import VocabularyTokenizer

if TYPE_CHECKING:
    from augury.text.vocabulary.vocabulary import Vocabulary


ESTIMATE = 20_000
"""Rows whose words estimate the entries of an automatic vocabulary."""


class VocabularyTask(Task):
    """A task whose experiments have `vocabulary`, and whose records are parallel."""

    def check(self, experiment: Any, store: Store) -> None:
        """Raise UserError for a vocabulary that the training text does not allow, or that a stage
        needs and lacks."""
        if (before := experiment.before) is not None:  # the stage before is checked on its own
            _check_stage(experiment, before)
            return
        if not _has_size(experiment) or any(
            isinstance(operator, UsesModels) for operator in experiment.augment
        ):
            return
        if not self._has_words(experiment, self.entries(experiment, store), store):
            from augury.experiments.graph import Graph
            from augury.experiments.make import make_texts

            # So little text has its vocabulary at once. Whether a system must be left out for its
            # operators' output is decided when all are prepared.
            with suppress(UnusableOutput):
                make_texts(Graph(store).plan(experiment))

    def tokenizer(self, experiment: Any, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        from augury.text.vocabulary import training

        settings = experiment.vocabulary.to_dict()
        # The size of a view has an effect in one mode, and only where views have texts of their
        # own: those of a draw have the source's.
        has_views = any(view in texts for view in experiment.view_names)
        used = {"joint": "size_per_key", "separate": "separate_size_per_key"}.get(settings["mode"])
        for size in ("size_per_key", "separate_size_per_key"):
            if size != used or not has_views:
                del settings[size]
        determined = {
            "version": training.VERSION,
            "config": settings,
            "languages": experiment.corpus.languages_of("train"),
            "texts": [[name, text.folder.name] for name, text in texts.items()],
        }
        if settings["tokenise"] == "moses":
            from importlib.metadata import version

            determined["sacremoses"] = version("sacremoses")
        return VocabularyTokenizer(store.folder("vocabularies", config.address(determined)))

    def make_tokenizer(self, experiment: Any, texts: Mapping[str, Text], folder: Folder) -> None:
        from augury.text.vocabulary import training

        most = experiment.vocabulary.max_sentences
        groups = {name: partial(text.lines, most) for name, text in texts.items()}
        languages = list(experiment.corpus.languages_of("train"))
        with Stage("vocabulary", unit="pieces") as stage:
            vocabulary = training.train(
                groups, experiment.vocabulary, languages=languages, folder=folder
            )
            stage.advance(len(vocabulary))

    def vocabulary(self, run: Run) -> Vocabulary:
        """Return the vocabulary of a run."""
        from augury.text.vocabulary.vocabulary import Vocabulary

        return Vocabulary.load(run.stored_folder(run.tokenizer))

    def entries(self, experiment: Any, store: Store) -> int:
        """Return the estimated number of entries of the vocabulary."""
        # Views with the vocabulary of the source.
        drawn = {operator.name() for operator in experiment.token_draws}
        settings, views = experiment.vocabulary, len(set(experiment.view_names) - drawn)
        plain = settings.size
        if plain == "auto":
            plain = self._fitting_size(experiment, settings.entries, store)
        if settings.mode == "separate":
            return plain + views * settings.separate_size_per_key
        if settings.mode == "mirrored":
            return plain + views * plain // 2
        return plain + views * (
            plain // 2 if settings.size_per_key == "auto" else settings.size_per_key
        )

    def _has_words(self, experiment: Any, count: int, store: Store) -> bool:
        """Return whether all sides of the training corpus have so many distinct words."""
        corpus, sides = self.corpus(experiment, "train", store), self.sides(experiment)
        lines = chain.from_iterable(text.lines() for text in _texts(corpus, sides))
        return has_words(lines, count)

    def _fitting_size(self, experiment: Any, largest: int, store: Store) -> int:
        """Return the size of a vocabulary that fits some rows of the training corpus."""
        corpus, sides = self.corpus(experiment, "train", store), self.sides(experiment)
        lines = chain.from_iterable(text.sample(ESTIMATE) for text in _texts(corpus, sides))
        return fitting_size(lines, largest)


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


def _has_size(experiment: Any) -> bool:
    """Whether the vocabulary has a size that does not follow from the text."""
    settings = experiment.vocabulary
    own_size = {"joint": settings.size_per_key != "auto", "separate": True, "mirrored": False}
    of_views = own_size[settings.mode]
    return settings.size != "auto" or (of_views and bool(experiment.view_names))


def _texts(corpus: Corpus, sides: Mapping[str, tuple[str, ...]]) -> list[Text]:
    return [Text(corpus.folder, columns, side) for side, columns in sides.items()]

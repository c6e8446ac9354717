"""The translation task: checks, the settings in a model's address, and what finished runs do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from augury.augment.health import UnusableOutput
from augury.core.config import address
from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.locks import make_once
from augury.core.progress import Stage
from augury.core.store import Folder, Store
from augury.core.words import is_unspaced
from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines
from augury.corpora.languages import base_language
from augury.decoding.search import check_lengths
from augury.decoding.settings import LongTexts, Sampler, Translator, ViewDecoding
from augury.experiments.run import Run
from augury.experiments.task import Task
from augury.models import pretrained
from augury.models.lora import require_peft
from augury.models.settings import model_directory
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.punctuation import FIXED
from augury.text.tokens import Text, Tokenizer
from augury.text.vocabulary.training import fitting_size, has_words
from augury.text.vocabulary.vocabulary import VocabularyTokenizer
from trainables.nmt.config import Config, PretrainedTranslator, resolve

if TYPE_CHECKING:
    from augury.experiments.cost import Size
    from augury.experiments.task import Draft, Exported
    from augury.training.learner import Learner
    from trainables.nmt.trained import Trained

ESTIMATE = 20_000
"""Rows whose words estimate the entries of an automatic vocabulary."""
TOKENISED_APART = ("ja", "ko")  # by packages that are installed or not
REFERENCES = 200  # that are read to see whether a metric can count their words


class Nmt(Task):
    """Translate sentences."""

    EXPERIMENT = Config
    VERSION = 3
    EXAMPLE = "echo 'ein Satz'"
    SIDES: ClassVar = {SOURCE: ("source",), TARGET: ("target",)}
    ROWS_PER_SECOND: ClassVar[int] = 60_000

    def check(self, experiment: Config, store: Store) -> None:
        """Raise UserError for metrics that cannot tokenise the target, and for a vocabulary that
        the training text does not allow."""
        language, names = experiment.corpus.target_language, experiment.scoring.metrics
        references = self.corpus(experiment, "valid", store).column("target")[:REFERENCES]
        unspaced = is_unspaced(references)
        fixed = any(name.endswith(FIXED) for name in names)
        if base_language(language) in TOKENISED_APART or unspaced or fixed:
            from augury.scoring.metric import WordMetric
            from augury.scoring.registry import metric  # imports sacreBLEU

            for name in dict.fromkeys((*names, experiment.validation.metric)):
                if isinstance(scorer := metric(name, language), WordMetric):
                    scorer.require_words(references)
        if isinstance(experiment.model, PretrainedTranslator):
            if experiment.model.lora:
                require_peft()
            pretrained.check_files(experiment.model)
            if model_directory(experiment.model.name):  # one of the hub is loaded when it is needed
                self.check_model(experiment, store)
        else:
            self._check_vocabulary(experiment, store)

    def _check_vocabulary(self, experiment: Config, store: Store) -> None:
        """Raise UserError for a vocabulary that the training text does not allow, or that a stage
        needs and lacks."""
        if (before := experiment.before) is not None:  # the stage before is checked on its own
            _check_stage(experiment, before)
            return
        settings = experiment.vocabulary
        own_size = {"joint": settings.size_per_key != "auto", "separate": True, "mirrored": False}
        if settings.size == "auto" and not (own_size[settings.mode] and experiment.view_names):
            return  # its size follows from the text
        if any(operator.uses_models for operator in experiment.augment):
            return
        texts = self._sides_of_training(experiment, store)
        lines = chain.from_iterable(text.lines() for text in texts)
        if not has_words(lines, self.entries(experiment, store)):
            from augury.experiments.graph import Graph
            from augury.experiments.make import make_texts

            # So little text has its vocabulary at once. Whether a system must be left out for its
            # operators' output is decided when all are prepared.
            with suppress(UnusableOutput):
                make_texts(Graph(store).plan(experiment))

    def check_model(self, experiment: Config, store: Store) -> None:
        """Raise UserError for a pretrained model that cannot translate this text, as its files say
        without its weights."""
        if isinstance(experiment.model, PretrainedTranslator):
            from trainables.nmt.vocabulary import check_pretrained

            folder = self.tokenizer(experiment, {}, store).folder
            make_once(folder, lambda: self.make_tokenizer(experiment, {}, folder))
            check_pretrained(experiment, experiment.model, folder)

    def tokenizer(self, experiment: Config, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        if isinstance(experiment.model, PretrainedTranslator):
            from trainables.nmt.vocabulary import tokenizer

            return tokenizer(experiment, experiment.model, texts, store)
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
        return VocabularyTokenizer(store.folder("vocabularies", address(determined)))

    def make_tokenizer(self, experiment: Config, texts: Mapping[str, Text], folder: Folder) -> None:
        if isinstance(experiment.model, PretrainedTranslator):
            from trainables.nmt.vocabulary import make_tokenizer

            make_tokenizer(experiment, experiment.model, texts, folder)
            return
        from augury.text.vocabulary import training

        most = experiment.vocabulary.max_sentences
        groups = {name: partial(text.lines, most) for name, text in texts.items()}
        languages = list(experiment.corpus.languages_of("train"))
        with Stage("vocabulary", unit="pieces") as stage:
            vocabulary = training.train(
                groups, experiment.vocabulary, languages=languages, folder=folder
            )
            stage.advance(len(vocabulary))

    def check_held_out(
        self, experiment: Config, tokenizer: Folder, corpora: Mapping[str, Corpus]
    ) -> None:
        from trainables.nmt.vocabulary import load, positions

        vocabulary = load(experiment, tokenizer)
        most = positions(experiment, vocabulary)
        for name, corpus in corpora.items():
            _, offsets = vocabulary.encode(corpus.column("source"), SOURCE)
            tags = len(experiment.prefix(experiment.corpus.tag(name)))
            symbols = 1 + (tags > 1) + len(vocabulary.before)
            lengths = [range(length + symbols) for length in np.diff(offsets).tolist()]
            try:
                check_lengths(lengths, experiment.decoding, most)
            except UserError as error:
                raise UserError(f"{name}: {error}") from error

    def entries(self, experiment: Config, store: Store) -> int:
        """Return the estimated number of entries of the vocabulary."""
        # Views with the vocabulary of the source.
        drawn = {operator.name() for operator in experiment.token_draws}
        settings, views = experiment.vocabulary, len(set(experiment.view_names) - drawn)
        plain = settings.size
        if plain == "auto":
            texts = self._sides_of_training(experiment, store)
            sampled = chain.from_iterable(text.sample(ESTIMATE) for text in texts)
            plain = fitting_size(sampled, settings.entries)
        if settings.mode == "separate":
            return plain + views * settings.separate_size_per_key
        if settings.mode == "mirrored":
            return plain + views * plain // 2
        return plain + views * (
            plain // 2 if settings.size_per_key == "auto" else settings.size_per_key
        )

    def _sides_of_training(self, experiment: Config, store: Store) -> list[Text]:
        corpus = self.corpus(experiment, "train", store)
        return [Text(corpus.folder, columns, side) for side, columns in self.SIDES.items()]

    def size(self, experiment: Config, store: Store) -> Size | None:
        from augury.experiments.cost import Size, pretrained_size, transformer

        if isinstance(experiment.model, PretrainedTranslator):
            return pretrained_size(experiment.model.name)
        model = experiment.transformer
        sizes = resolve(model)
        matrices = 1 if model.share_all_embeddings else 2
        shape = (
            sizes.hidden_size,
            sizes.feedforward_size,
            sizes.encoder_layers,
            sizes.decoder_layers,
        )
        entries = self.entries(experiment, store)
        parameters, source, target = transformer(entries, *shape, matrices=matrices)
        of_piece, shared = model.embeddings.counts(sizes.hidden_size)
        parameters += matrices * (entries * (of_piece - sizes.hidden_size) + shared)
        # The output layer computes the embeddings of the whole vocabulary once a batch.
        again = shared * entries // experiment.training.max_tokens
        return Size(parameters, source + shared, target + shared + again)

    def address_settings(self, experiment: Config) -> dict[str, Any]:
        model = experiment.model
        return {
            "model": pretrained.address_settings(model)
            if isinstance(model, PretrainedTranslator)
            else model.to_dict(),
            "validation": experiment.validation.to_dict(),
            "max_pieces": experiment.max_pieces,
            "tag": experiment.corpus.tag("valid"),
        }

    def learner(self, run: Run) -> Learner:
        from trainables.nmt.translation import Translation

        return Translation(run)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        """Return translations of a test set by the run's weights."""
        tag = run.experiment.corpus.tag(test)
        return self.trained(run).translate(
            corpus.column("source"), label=f"translate {test}", domain=tag
        )

    def translate(
        self,
        run: Run,
        texts: Sequence[str],
        *,
        executor: ExecutorName = "local",
        decoding: ViewDecoding | None = None,
        tag: str | None = None,
        long: LongTexts = "refuse",
        **options: Any,
    ) -> list[str]:
        """Return the translations of texts, each of which is cleaned as the training text was.

        Where models read the tag of a domain, it is `tag`, empty for none, or by default that of
        the validation set. `long` says what becomes of texts that are longer than the model reads.
        """
        corpus = run.experiment.corpus
        cleaned = clean_lines(texts, corpus.preparation)
        domain = corpus.tag("valid") if tag is None else tag
        return self.trained(run).translate(cleaned, decoding, executor, domain=domain, long=long)

    def sampler(self, run: Run, whole: bool = False) -> Sampler:
        return self.trained(run).sampler()

    def translator(self, run: Run, threads: int) -> Translator:
        return self.trained(run).translator(threads)

    def draft(self, rows: int, model: str | None) -> Draft:
        from trainables.nmt.draft import draft

        return draft(rows, model)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        from trainables.nmt.exporting import export

        return export(self.trained(run), form, directory)

    def trained(self, run: Run) -> Trained:
        # It imports CTranslate2, which reading an experiment does not need.
        from trainables.nmt.trained import Trained

        return Trained(run)


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

"""What translation adds to the platform: its vocabulary, what it refuses, and what it does with a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.progress import Stage
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines
from augury.corpora.ingest import cached_corpus
from augury.decoding.search import check_lengths
from augury.decoding.settings import Decoding, Translator, ViewDecoding
from augury.experiments.cost import Size, transformer
from augury.experiments.experiment import Experiment
from augury.experiments.run import Run
from augury.experiments.trainable import Exported, Trainable
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.punctuation import split_suffix
from augury.text.tokens import Text
from augury.text.vocabulary_tokenizer import VocabularyTokenizer
from trainables.nmt.architecture import resolve
from trainables.nmt.config import Config

if TYPE_CHECKING:
    from augury.training.task import Task

FORM = ("tokenise", "casing")
"""Settings of the vocabulary that are not in its address where they say `none`."""
TOKENISED_APART = ("ja", "ko")  # by packages that are installed or not


class Nmt(Trainable):
    """Translate sentences."""

    EXPERIMENT = Config
    EXAMPLE = "echo 'ein Satz'"
    SIDES: ClassVar = {SOURCE: ("source",), TARGET: ("target",)}
    ROWS_PER_SECOND: ClassVar[int] = 60_000

    def check(self, experiment: Config, store: Store) -> None:
        """Refuse a vocabulary that the training text does not allow, and metrics that cannot tokenise the target."""
        apart = experiment.corpus.target_language.replace("_", "-").split("-")[0] in TOKENISED_APART
        if apart or any(split_suffix(name)[1] is not None for name in experiment.scoring.metrics):
            from augury.scoring.metrics import metric

            for name in experiment.scoring.metrics:
                metric(name, experiment.corpus.target_language)
        if (before := experiment.before()) is not None:  # which has the vocabulary, and is checked itself
            _check_stage(experiment, before)
            return
        from augury.text.vocabulary_size import has_words

        entries = _entries(experiment, store)
        plain = not any(operator.works_with_models for operator in experiment.augment)
        if plain and _has_size(experiment) and not has_words(_texts(experiment, store), entries):
            from augury.experiments.preparation import make_texts

            make_texts(experiment, store)  # the vocabulary of so little text is learned at once

    def check_held_out(self, experiment: Config, tokenizer: Folder, corpora: Mapping[str, Corpus]) -> None:
        """Refuse sentences that the model has no positions for, before hours of training."""
        from augury.text.vocabulary import Vocabulary

        vocabulary = Vocabulary.load(tokenizer)
        for name, corpus in corpora.items():
            _, offsets = vocabulary.encode(corpus.column("source"), SOURCE)
            symbols = 1 + (len(experiment.prefix(experiment.corpus.tag(name))) > 1)
            lengths = [range(length + symbols) for length in np.diff(offsets).tolist()]
            try:
                check_lengths(lengths, experiment.decoding, experiment.model.max_positions)
            except UserError as error:
                raise UserError(f"{name}: {error}") from error

    def most_pieces(self, experiment: Config) -> int:
        return experiment.max_pieces

    def size(self, experiment: Config, store: Store) -> Size:
        sizes, matrices = resolve(experiment.model), 1 if experiment.model.share_all_embeddings else 2
        shape = (sizes.hidden_size, sizes.feedforward_size, sizes.encoder_layers, sizes.decoder_layers)
        entries = _entries(experiment, store)
        return _with_embeddings(experiment, entries, matrices, transformer(entries, *shape, matrices=matrices))

    def tokenizer(self, experiment: Config, texts: Mapping[str, Text], store: Store) -> VocabularyTokenizer:
        from augury.text import vocabulary

        settings = experiment.vocabulary.to_dict()
        # Sizes of views that there are, in the mode that there is: the others have no effect.
        used = {"joint": "size_per_key", "separate": "separate_size_per_key"}[settings["mode"]]
        determined = {
            "version": vocabulary.VERSION,
            "config": {
                key: value
                for key, value in settings.items()
                if ("per_key" not in key or (key == used and _views(experiment, texts)))
                and (key not in FORM or value != "none")
            },
            "languages": experiment.corpus.languages_of("train"),
            "texts": [[name, text.folder.name] for name, text in texts.items()],
            **({"sacremoses": version("sacremoses")} if settings["tokenise"] == "moses" else {}),
        }
        return VocabularyTokenizer(store.folder("vocabularies", config.address(determined)))

    def make_tokenizer(self, experiment: Config, texts: Mapping[str, Text], folder: Folder) -> None:
        from augury.text import vocabulary

        groups = {name: text.lines for name, text in texts.items()}
        languages = list(experiment.corpus.languages_of("train"))
        with Stage("vocabulary", unit="pieces") as stage:
            stage.advance(len(vocabulary.train(groups, experiment.vocabulary, languages=languages, folder=folder)))

    def determined(self, experiment: Config) -> dict[str, Any]:
        sections = {"model": experiment.model, "validation": experiment.validation}
        determined: dict[str, Any] = {name: section.to_dict() for name, section in sections.items()}
        if experiment.model.has_tables:
            del determined["model"]["embeddings"]  # as before there were others
        if tag := experiment.corpus.tag("valid"):
            determined["tag"] = tag
        return determined | {"max_pieces": experiment.max_pieces}

    def load(self, run: Run) -> Task:
        from trainables.nmt.translation import Translation

        return Translation(run)

    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        """Return translations of a test set by the run's weights."""
        from trainables.nmt.evaluation import translated

        executor = run.experiment.execution.executor
        tag = run.experiment.corpus.tag(test)
        return translated(run, corpus.column("source"), None, executor, f"translate {test}", tag)

    def translate(
        self,
        run: Run,
        texts: Sequence[str],
        *,
        executor: ExecutorName = "local",
        decoding: ViewDecoding | None = None,
        **options: Any,
    ) -> list[str]:
        """Return the translations of texts, each of which is cleaned as the training text was.

        Where models read the tag of a domain, it is that of the validation set.
        """
        from trainables.nmt.evaluation import translated

        cleaned = clean_lines(texts, run.experiment.corpus.preparation)
        return translated(run, cleaned, decoding, executor, "translate", run.experiment.corpus.tag("valid"))

    def encoded(self, run: Run, texts: Sequence[str], view: str = SOURCE, *, tagged: bool = True) -> list[list[int]]:
        from augury.text.vocabulary import Vocabulary
        from trainables.nmt.evaluation import encoded

        return encoded(run, Vocabulary.load(run.stored(run.tokenizer)), texts, view, tagged=tagged)

    def pieces(self, run: Run) -> Sequence[str]:
        from augury.text.vocabulary import Vocabulary

        return Vocabulary.load(run.stored(run.tokenizer)).pieces

    def translate_ids(
        self,
        run: Run,
        sources: Sequence[Sequence[int]],
        *,
        executor: ExecutorName = "local",
        decoding: Decoding | None = None,
        label: str = "translate",
    ) -> list[str]:
        from trainables.nmt.evaluation import translated_ids

        return translated_ids(run, sources, decoding, executor, label)

    def encoder_states(self, run: Run, sources: Sequence[Sequence[int]]) -> list[np.ndarray]:
        from trainables.nmt.states import encoder_states

        return encoder_states(run, sources)

    def translator(self, run: Run, threads: int) -> Translator:
        from trainables.nmt.evaluation import translator

        return translator(run, threads)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        from trainables.nmt.exporting import export

        return export(run, form, directory)


def _check_stage(stage: Config, before: Experiment) -> None:
    """Refuse a stage in other languages than those of the vocabulary, or with views that it does not know."""
    if stage.corpus.language_codes() != before.corpus.language_codes():
        languages = ["-".join(corpus.language_codes().values()) for corpus in (before.corpus, stage.corpus)]
        assert stage.stage is not None
        raise UserError(
            f"stage {stage.stage.name} is {languages[1]} and the stage before it {languages[0]}: all stages translate "
            "between the same languages (of a text of the other direction, `reversed: true`)"
        )
    drawn = {operator.name() for operator in stage.token_draws}
    if unknown := [view for view in stage.keys if view not in (*stage.first().keys, *drawn)]:
        assert stage.stage is not None
        raise UserError(
            f"stage {stage.stage.name} reads the view {unknown[0]}, and its vocabulary, that of the first stage, was "
            "learned without it: let the first stage read it too, or make records where the operator can"
        )


def _views(experiment: Config, texts: Mapping[str, Text]) -> list[str]:
    """The views that have texts of their own; a draw's have those of the source."""
    return [key for key in experiment.keys if key in texts]


def _entries(experiment: Config, store: Store) -> int:
    """About how many entries the vocabulary will have."""
    from augury.text.vocabulary_size import fitting_size

    drawn = {operator.name() for operator in experiment.token_draws}  # views with the vocabulary of the source
    settings, views = experiment.vocabulary, len(set(experiment.keys) - drawn)
    plain = fitting_size(_texts(experiment, store), settings.entries) if settings.size == "auto" else settings.size
    if settings.mode == "separate":
        return plain + views * settings.separate_size_per_key
    return plain + views * (plain // 2 if settings.size_per_key == "auto" else settings.size_per_key)


def _with_embeddings(experiment: Config, entries: int, matrices: int, size: Size) -> Size:
    """The size of a model with tables as one with the embeddings that are asked for."""
    if experiment.model.has_tables:
        return size
    hidden, embeddings = resolve(experiment.model).hidden_size, experiment.model.embeddings
    table, computed = embeddings.counts(hidden)
    parameters = size.parameters + matrices * (entries * (table - hidden) + computed)
    # The output layer computes those of the whole vocabulary once a batch.
    again = computed * entries / experiment.training.max_tokens
    return Size(parameters, size.source + computed, size.target + computed + int(again))


def _has_size(experiment: Config) -> bool:
    """Whether the vocabulary has a size that does not follow from the text."""
    settings = experiment.vocabulary
    of_views = settings.mode == "separate" or settings.size_per_key != "auto"
    return settings.size != "auto" or (of_views and bool(experiment.keys))


def _texts(experiment: Config, store: Store) -> Iterator[str]:
    """The texts of both sides of the training corpus."""
    for block in cached_corpus(experiment.corpus, "train", store.root).blocks([SOURCE, TARGET]):
        for side in (SOURCE, TARGET):
            yield from block.column(side).to_pylist()

"""The translation task: checks, the settings in a model's address, and what finished runs do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.locks import make_once
from augury.core.store import Folder, Store
from augury.core.words import is_unspaced
from augury.corpora.corpus import Corpus
from augury.corpora.filters import clean_lines, word_counts
from augury.corpora.languages import base_language
from augury.decoding.search import check_lengths
from augury.decoding.settings import Decoding, LongTexts, Sampler, Translator, ViewDecoding
from augury.experiments.run import Run
from augury.models import pretrained
from augury.models.lora import require_peft
from augury.models.settings import model_directory
from augury.regimes.regime import SOURCE, TARGET
from augury.scoring.punctuation import FIXED
from augury.tasks.vocabulary_task import VocabularyTask
from augury.text.tokens import Text, Tokenizer
from augury.training.settings import Training
from trainables.nmt.architecture import PretrainedTranslator, resolve
from trainables.nmt.config import Config

if TYPE_CHECKING:
    from augury.experiments.cost import Size
    from augury.experiments.task import Draft, Exported
    from augury.training.learner import Learner
    from trainables.nmt.trained import Trained

TOKENISED_APART = ("ja", "ko")  # by packages that are installed or not
REFERENCES = 200  # that are read to see whether a metric can count their words


class Nmt(VocabularyTask):
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
        self._check_budget(experiment, store)
        if isinstance(experiment.model, PretrainedTranslator):
            if experiment.model.lora:
                require_peft()
            pretrained.check_files(experiment.model)
            if model_directory(experiment.model.name):  # one of the hub is loaded when it is needed
                self.check_model(experiment, store)
        else:
            super().check(experiment, store)

    def check_model(self, experiment: Config, store: Store) -> None:
        """Raise UserError for a pretrained model that cannot translate this text, as its files say
        without its weights."""
        if isinstance(experiment.model, PretrainedTranslator):
            from trainables.nmt.tuning import check

            folder = self.tokenizer(experiment, {}, store).folder
            make_once(folder, lambda: self.make_tokenizer(experiment, {}, folder))
            check(experiment, experiment.model, folder)

    def tokenizer(self, experiment: Config, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        if not isinstance(experiment.model, PretrainedTranslator):
            return super().tokenizer(experiment, texts, store)
        from trainables.nmt.vocabulary import tokenizer

        return tokenizer(experiment, experiment.model, texts, store)

    def make_tokenizer(self, experiment: Config, texts: Mapping[str, Text], folder: Folder) -> None:
        if not isinstance(experiment.model, PretrainedTranslator):
            super().make_tokenizer(experiment, texts, folder)
            return
        from trainables.nmt.vocabulary import make_tokenizer

        make_tokenizer(experiment, experiment.model, texts, folder)

    def _check_budget(self, experiment: Config, store: Store) -> None:
        """Refuse a budget of a batch that an example alone exceeds.

        A word is counted as one subword, the least that it can be, and an example only if it is
        trained on however its words are segmented.
        """
        budget, most = experiment.training.max_tokens, experiment.max_pieces
        if budget > most:
            return
        corpus = self.corpus(experiment, "train", store)
        longest, mean = _longest_and_mean(corpus, most)
        if longest + 1 > budget:
            raise UserError(
                f"training.max_tokens={budget} is the budget of a batch, and one example alone "
                f"has up to {longest:,} words and the end of sentence (mean: {mean:.1f} words): "
                f"set it to {longest + 1:,} at least; a batch of one example learns little, and "
                f"{Training().max_tokens:,} is the default"
            )

    def check_held_out(
        self, experiment: Config, tokenizer: Folder | None, corpora: Mapping[str, Corpus]
    ) -> list[str]:
        """Raise UserError for sentences that the model has no positions for, before hours of
        training.

        Without a vocabulary, every word counts as one subword, the least that it can be.
        """
        if tokenizer is None:
            if isinstance(experiment.model, PretrainedTranslator):  # its pieces decide
                return []
            return list(
                filter(None, (self._check_words(experiment, *named) for named in corpora.items()))
            )
        for name, corpus in corpora.items():
            if fault := _fault_of_pieces(experiment, tokenizer, name, corpus):
                raise UserError(f"{name}: {fault}")
        return []

    def _check_words(self, experiment: Config, name: str, corpus: Corpus) -> str:
        """Raise UserError for sentences of too many words; return a warning for those of too many
        characters."""
        positions = experiment.transformer.max_positions
        remedy = "raise model.max_positions, or split or shorten them"
        most = positions - 1 - len(experiment.prefix(experiment.corpus.tag(name)))
        lengths = _source_lengths(corpus, most)
        if lengths["over"]:
            raise UserError(
                f"{name}: {lengths['over']:,} of {corpus.rows:,} sources have more words than the "
                f"model has positions ({positions:,}, end of sentence included); the longest has "
                f"{lengths['most_words']:,}: {remedy}"
            )
        if not lengths["possible"]:
            return ""
        return (
            f"{name}: {lengths['possible']:,} of {corpus.rows:,} sources may have more pieces than "
            f"the model has positions ({positions:,}); the longest has {lengths['words']:,} words "
            f"and {lengths['characters']:,} characters. The vocabulary decides; to be sure, "
            f"{remedy}"
        )

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
        return self._trained(run).translate(
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
        return self._trained(run).translate(cleaned, decoding, executor, domain=domain, long=long)

    def pieces(self, run: Run) -> Sequence[str]:
        return self.vocabulary(run).pieces

    def encode(
        self, run: Run, texts: Sequence[str], view: str = SOURCE, *, tagged: bool = True
    ) -> list[list[int]]:
        return self._trained(run).encode(texts, view, tagged=tagged)

    def translate_ids(
        self,
        run: Run,
        sources: Sequence[Sequence[int]],
        *,
        executor: ExecutorName = "local",
        decoding: Decoding | None = None,
        label: str = "translate",
        domain: str | None = None,
    ) -> list[str]:
        return self._trained(run).translate_ids(sources, decoding, executor, label, domain)

    def encoder_states(
        self, run: Run, sources: Sequence[Sequence[int]], domain: str | None = None
    ) -> list[np.ndarray]:
        return self._trained(run).encoder_states(sources, domain)

    def sampler(self, run: Run, whole: bool = False) -> Sampler:
        return self._trained(run).sampler()

    def translator(self, run: Run, threads: int) -> Translator:
        return self._trained(run).translator(threads)

    def draft(self, rows: int, model: str | None) -> Draft:
        from trainables.nmt.draft import draft

        return draft(rows, model)

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        from trainables.nmt.exporting import export

        return export(self._trained(run), form, directory)

    def _trained(self, run: Run) -> Trained:
        # It imports CTranslate2, which reading an experiment does not need.
        from trainables.nmt.trained import Trained

        return Trained(run)


def _longest_and_mean(corpus: Corpus, most: int) -> tuple[int, float]:
    """Return the words of the longest example that is trained on however its words are segmented,
    and the mean words of an example, whose longer side counts."""
    longest, total = 0, 0
    for block in corpus.blocks(["source", "target"]):
        columns = [column.combine_chunks() for column in block.columns]
        words = np.max([word_counts(column) for column in columns], axis=0)
        # Not as arrays of pyarrow, which imports pandas to make one of NumPy.
        lengths = [np.from_dlpack(pc.utf8_length(column)) for column in columns]
        characters = np.max(lengths, axis=0)
        longest = max(longest, int(words[words + characters <= most].max(initial=0)))
        total += int(words.sum())
    return longest, total / corpus.rows


def _source_lengths(corpus: Corpus, most: int) -> dict[str, int]:
    """Return how many sources have more words than `most`, and may have more subwords, with the
    lengths of the longest."""
    columns = [block.column("source").combine_chunks() for block in corpus.blocks(["source"])]
    words = np.concatenate([word_counts(column) for column in columns])
    characters = np.concatenate([np.from_dlpack(pc.utf8_length(column)) for column in columns])
    longest = characters.argmax()
    return {
        "over": int((words > most).sum()),
        "most_words": int(words.max()),
        # At most a subword for each character and for each beginning of a word.
        "possible": int((words + characters >= most).sum()),
        "words": int(words[longest]),
        "characters": int(characters[longest]),
    }


def _fault_of_pieces(experiment: Config, tokenizer: Folder, name: str, corpus: Corpus) -> str:
    """Return why a model has no positions for sources in subwords; empty where it has."""
    from trainables.nmt.vocabulary import load, positions

    vocabulary = load(experiment, tokenizer)
    _, offsets = vocabulary.encode(corpus.column("source"), SOURCE)
    tags = len(experiment.prefix(experiment.corpus.tag(name)))
    symbols = 1 + (tags > 1) + len(vocabulary.before)
    lengths = [range(length + symbols) for length in np.diff(offsets).tolist()]
    try:
        check_lengths(lengths, experiment.decoding, positions(experiment, vocabulary))
    except UserError as error:
        return str(error)
    return ""

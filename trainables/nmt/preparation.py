"""From text files to everything a translation run reads, each step under its address."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from augury import config
from augury.augment import pipeline
from augury.corpora.corpus import Corpus, read_shard
from augury.corpora.ingest import ingest, overlap
from augury.decoding.search import check_lengths
from augury.errors import UserError
from augury.execution import choose
from augury.progress import Stage, say
from augury.regimes.regime import SOURCE, TARGET
from augury.store import Folder, Store
from augury.text import vocabulary as vocabularies
from augury.trainable import Input, Prepared
from trainables.nmt.config import Config
from trainables.nmt.tokens import Text, Tokens, tokenise

VERSION = 1
"""Raised when the same configuration comes to train another model: part of every run's address."""
PIECES_PER_SECOND = 60_000  # sentences that one core tokenises in a second


class Examples(NamedTuple):
    """The rows that training reads and how many were left out, by reason."""

    rows: np.ndarray
    rejected: dict[str, int]


def prepare(experiment: Config, store: Store) -> Prepared:
    """Ingest, augment, learn the vocabulary and tokenise, or find all that done; the run's address and inputs."""
    if experiment.corpus.source_language == experiment.corpus.target_language:
        raise UserError("corpus.source_language and corpus.target_language are equal: translation needs two")
    train, valid = ingest(experiment.corpus, "train", store), ingest(experiment.corpus, "valid", store)
    tests = {name: ingest(experiment.corpus, name, store) for name in tests_of(experiment)}
    _warn_of_overlap(train, {"valid": valid, **tests})
    execution = experiment.execution
    augmented = pipeline.augment(train, experiment.augment, store, executor=execution.executor,
                                 ray_address=execution.address)
    _say_reused(augmented)
    vocabulary = _vocabulary(experiment, augmented, store)
    texts = _texts(augmented, valid)
    work = sum(text.rows for text in texts.values()) / PIECES_PER_SECOND
    executor = choose(execution.executor, work, "tokenise", execution.address)
    folders = dict(zip(texts, tokenise(list(texts.values()), vocabulary, store, executor), strict=True))
    examples = kept_examples({name: Tokens(folders[name]) for name in (SOURCE, TARGET, *experiment.keys)},
                             experiment.max_pieces)
    for reason, count in examples.rejected.items():
        say(f"left out of training: {count:,} of {train.rows:,} examples, {reason}")
    _check_fits(experiment, vocabulary, {"valid": valid, **tests})
    determined = {"task": "nmt", "version": VERSION, "vocabulary": _of(vocabulary), "max_pieces": experiment.max_pieces,
                  "tokens": {name: _of(folder) for name, folder in folders.items()},
                  "model": experiment.model.plain(), "regime": experiment.regime.plain(),
                  "training": experiment.training.plain(), "validation": experiment.validation.plain()}
    address = config.address(determined)
    inputs = [Input("train", train.address, train.rows), Input("valid", valid.address, valid.rows)]
    return Prepared(
        address=address,
        inputs=(*inputs, *(Input(name, test.address, test.rows) for name, test in tests.items())),
        data_factor=float(len(experiment.draws()) * max(len(draw.views) for draw in experiment.draws())),
        artifacts={"vocabulary": _of(vocabulary), **{part.view: _of(part.fit) for part in augmented.parts}},
        config={"experiment": experiment.plain(), "address": address, "corpus": train.address, "valid": valid.address,
                "vocabulary": _of(vocabulary), "tokens": {name: _of(folder) for name, folder in folders.items()},
                "preparation": experiment.corpus.part("train").filter.plain()},
    )  # fmt: skip


def kept_examples(tokens: dict[str, Tokens], max_pieces: int) -> Examples:
    """The rows of which every side and view has 1 to `max_pieces` pieces; one filter for all views keeps them aligned."""
    lengths = np.stack([each.lengths for each in tokens.values()])
    empty, long = (lengths == 0).any(0), (lengths > max_pieces).any(0)
    rejected = {"a side without pieces": int(empty.sum()), f"more than {max_pieces} pieces": int((long & ~empty).sum())}
    rows = np.flatnonzero(~(empty | long))
    if not len(rows):
        raise UserError(f"no training example has 1 to max_pieces={max_pieces} pieces on every side: raise max_pieces")
    return Examples(rows, {reason: count for reason, count in rejected.items() if count})


def tests_of(experiment: Config) -> list[str]:
    """The names of the test sets."""
    return [name for name in experiment.corpus.splits() if name not in ("train", "valid")]


def tag(language: str) -> str:
    """The vocabulary's symbol for a language."""
    return f"__{language}__"


def _texts(augmented: pipeline.Augmented, valid: Corpus) -> dict[str, Text]:
    corpus = augmented.corpus
    shards = tuple(corpus.shards)
    texts = {side: Text(corpus.folder, shards, corpus.rows, side, side) for side in (SOURCE, TARGET)}
    texts |= {name: Text(folder, shards, corpus.rows, "text", name) for name, folder in augmented.views.items()}
    held_out = {f"valid {side}": Text(valid.folder, tuple(valid.shards), valid.rows, side, side)
                for side in (SOURCE, TARGET)}
    return texts | held_out


def _vocabulary(experiment: Config, augmented: pipeline.Augmented, store: Store) -> Folder:
    texts = {name: text for name, text in _texts(augmented, augmented.corpus).items() if not name.startswith("valid")}
    languages = [experiment.corpus.source_language, experiment.corpus.target_language]
    address = config.address({"version": vocabularies.VERSION, "config": experiment.vocabulary.plain(),
                              "languages": languages, "texts": {name: text.folder.name for name, text in texts.items()}})
    folder = store.folder("vocabularies", address)
    if not folder.complete:
        with Stage("vocabulary", unit="pieces") as stage:
            groups = {name: _Lines(text) for name, text in texts.items()}
            made = vocabularies.train(groups, experiment.vocabulary, languages=languages, folder=folder)
            stage.advance(len(made.pieces))
    return folder


class _Lines(NamedTuple):
    """A text that can be read again and again, one sentence at a time."""

    text: Text

    def __call__(self) -> Any:
        for shard in self.text.shards:
            yield from read_shard(self.text.folder, shard, [self.text.column]).column(self.text.column).to_pylist()


def _check_fits(experiment: Config, vocabulary: Folder, corpora: dict[str, Corpus]) -> None:
    """Refuse validation and test sentences that the model has no positions for, before hours of training."""
    loaded = vocabularies.Vocabulary.load(vocabulary)
    for name, corpus in corpora.items():
        _, offsets = loaded.encode(corpus.column("source"), SOURCE)
        try:
            check_lengths([range(length + 1) for length in np.diff(offsets).tolist()], experiment.decoding,
                          experiment.model.max_positions)
        except UserError as error:
            raise UserError(f"{name}: {error}") from error


def _warn_of_overlap(train: Corpus, held_out: dict[str, Corpus]) -> None:
    for name, corpus in held_out.items():
        shared = overlap(train, corpus)
        if shared:
            say(f"warning: {shared:,} of the {corpus.rows:,} pairs of '{name}' are in the training set too")


def _of(folder: Folder) -> str:
    """The address that names a folder."""
    return folder.name.rpartition("/")[2]


def _say_reused(augmented: pipeline.Augmented) -> None:
    if augmented.reused:
        say(f"found, not made again: {', '.join(augmented.reused)}")

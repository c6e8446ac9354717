"""From text files to everything a translation run reads, each step under its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from augury.augment import pipeline
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import choose
from augury.core.locks import make_once
from augury.core.progress import Stage, say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import addressed, ingested, warn_of_overlap
from augury.decoding.search import check_lengths
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.trainable import Input, Prepared
from augury.regimes.regime import SOURCE, TARGET, texts_read
from augury.text import vocabulary as vocabularies
from augury.text.tokens import KIND as TOKENS
from augury.text.tokens import Text, Tokens, tokenise
from augury.training.settings import trunk
from trainables.nmt.config import Config
from trainables.nmt.pieces import Pieces

VERSION = 2
"""Raised when the same configuration comes to train another model: part of every run's address."""
PIECES_PER_SECOND = 60_000  # sentences that one core tokenises in a second


class Examples(NamedTuple):
    """The rows that training reads and how many were left out, by reason."""

    rows: np.ndarray
    rejected: dict[str, int]


class Plan(NamedTuple):
    """The addresses of everything between the corpora and a run; nothing need exist yet."""

    parts: list[pipeline.Part]
    vocabulary: Folder
    texts: dict[str, Text]
    tokens: dict[str, Folder]
    address: str
    trunk: str
    """The address of everything that determines training but its end."""


def address(experiment: Config, store: Store) -> str:
    """The address of the run that an experiment describes; reads the corpora's files and makes nothing."""
    spec = experiment.corpus
    return plan(experiment, store, {split: addressed(spec, split) for split in ("train", "valid")}).address


def plan(experiment: Config, store: Store, corpora: Mapping[str, str]) -> Plan:
    """What a run reads, from the addresses of its training and validation corpora."""
    parts = pipeline.plan(corpora["train"], experiment.augment, store)
    folders = {split: store.folder(CORPORA, corpora[split]) for split in ("train", "valid")}
    learned = {side: Text(folders["train"], (side,), side) for side in (SOURCE, TARGET)}
    learned |= {part.name: Text(part.folder, ("text",), part.name) for part in parts}
    vocabulary = store.folder(
        "vocabularies",
        config.address(
            {
                "version": vocabularies.VERSION,
                "config": _effective(experiment),
                "languages": _languages(experiment),
                "texts": [[name, text.folder.name] for name, text in learned.items()],
            }
        ),
    )
    texts = learned | {f"valid {side}": Text(folders["valid"], (side,), side) for side in (SOURCE, TARGET)}
    tokens = {name: store.folder(TOKENS, text.address(vocabulary.name)) for name, text in texts.items()}
    determined = {
        "task": "nmt",
        "version": VERSION,
        "vocabulary": vocabulary.name,
        "max_pieces": experiment.max_pieces,
        "tokens": [[name, folder.name] for name, folder in tokens.items()],
        "model": experiment.model.plain(),
        "regime": experiment.regime.plain(),
        "training": experiment.training.plain(),
        "validation": experiment.validation.plain(),
    }
    beginning = config.address({**determined, "training": trunk(experiment.training)})
    return Plan(parts, vocabulary, texts, tokens, config.address(determined), beginning)


def prepare(experiment: Config, store: Store, recording: Recording = unrecorded) -> Prepared:
    """Ingest, augment, learn the vocabulary and tokenise, or find all that done; the run's address and inputs."""
    splits = ("train", "valid", *experiment.test_sets)
    spec = experiment.corpus
    corpora = {split: ingested(spec, split, store.root) for split in splits}
    train = corpora["train"]
    held_out = {name: corpus for name, corpus in corpora.items() if name != "train"}
    warn_of_overlap(train, held_out)
    planned, execution = learned(experiment, store), experiment.execution
    work = train.rows * len(planned.texts) / PIECES_PER_SECOND
    tokenise(
        planned.texts,
        planned.tokens,
        Pieces(planned.vocabulary),
        choose(execution.executor, work, "tokenise", execution.address),
    )
    rejected = _left_out(experiment, planned, train)
    _check_fits(experiment, planned.vocabulary, held_out)
    read = texts_read(experiment.draws())
    return Prepared(
        address=planned.address,
        inputs=tuple(Input(split, corpus.address, corpus.rows) for split, corpus in corpora.items()),
        data_factor=float(len(read)),
        passes_by_view={view: read[view, TARGET] for view in (SOURCE, *experiment.keys) if (view, TARGET) in read},
        pieces={side: float(Tokens(planned.tokens[side]).lengths.mean()) for side in (SOURCE, TARGET)},
        artifacts={"vocabulary": planned.vocabulary.name, **{part.name: part.fit.name for part in planned.parts}},
        config={
            "experiment": experiment.plain(),
            "address": planned.address,
            "trunk": planned.trunk,
            "vocabulary": planned.vocabulary.name,
            "corpora": {split: corpus.address for split, corpus in corpora.items()},
            "tokens": {name: folder.name for name, folder in planned.tokens.items()},
            "preparation": experiment.corpus.part("train").filter.plain(),
            "rejected": rejected,
        },
    )


def learned(experiment: Config, store: Store) -> Plan:
    """Make the views and learn the vocabulary, or find them; what a run reads."""
    corpora = {split: ingested(experiment.corpus, split, store.root) for split in ("train", "valid")}
    execution = experiment.execution
    augmented = pipeline.augment(
        corpora["train"], experiment.augment, store, executor=execution.executor, ray_address=execution.address
    )
    if augmented.reused:
        say_once(f"found, not made again: {', '.join(augmented.reused)}")
    planned = plan(experiment, store, {split: corpus.address for split, corpus in corpora.items()})
    make_once(planned.vocabulary, lambda: _learn_vocabulary(experiment, planned))
    return planned


def kept_examples(tokens: Mapping[str, Tokens], max_pieces: int) -> Examples:
    """The rows of which every side and view has 1 to `max_pieces` pieces; one filter keeps all views aligned."""
    lengths = np.stack([each.lengths for each in tokens.values()])
    empty, long = (lengths == 0).any(0), (lengths > max_pieces).any(0)
    rejected = {"a side without pieces": int(empty.sum()), f"more than {max_pieces} pieces": int((long & ~empty).sum())}
    rows = np.flatnonzero(~(empty | long))
    if not len(rows):
        raise UserError(f"no training example has 1 to max_pieces={max_pieces} pieces on every side: raise max_pieces")
    return Examples(rows, {reason: count for reason, count in rejected.items() if count})


def tag(language: str) -> str:
    """The vocabulary's symbol for a language."""
    return f"__{language}__"


def _languages(experiment: Config) -> list[str]:
    return [experiment.corpus.source_language, experiment.corpus.target_language]


def _effective(experiment: Config) -> dict[str, Any]:
    """The settings of the vocabulary that have an effect: sizes of views that there are, in the mode that there is."""
    settings = experiment.vocabulary.plain()
    used = {"joint": "size_per_key", "separate": "separate_size_per_key"}[settings["mode"]] if experiment.keys else None
    return {key: value for key, value in settings.items() if key == used or "per_key" not in key}


def _learn_vocabulary(experiment: Config, planned: Plan) -> None:
    groups = {name: text.lines for name, text in planned.texts.items() if not name.startswith("valid")}
    with Stage("vocabulary", unit="pieces") as stage:
        made = vocabularies.train(
            groups, experiment.vocabulary, languages=_languages(experiment), folder=planned.vocabulary
        )
        stage.advance(len(made))


def _left_out(experiment: Config, planned: Plan, train: Corpus) -> dict[str, int]:
    """How many examples training leaves out, by reason; it is said too."""
    tokens = {name: Tokens(planned.tokens[name]) for name in (SOURCE, TARGET, *experiment.keys)}
    rejected = kept_examples(tokens, experiment.max_pieces).rejected
    for reason, count in rejected.items():
        say_once(f"left out of training: {count:,} of {train.rows:,} examples, {reason}")
    return rejected


def _check_fits(experiment: Config, vocabulary: Folder, held_out: Mapping[str, Corpus]) -> None:
    """Refuse validation and test sentences that the model has no positions for, before hours of training."""
    loaded = vocabularies.Vocabulary.load(vocabulary)
    for name, corpus in held_out.items():
        _, offsets = loaded.encode(corpus.column("source"), SOURCE)
        try:
            check_lengths(
                [range(length + 1) for length in np.diff(offsets).tolist()],
                experiment.decoding,
                experiment.model.max_positions,
            )
        except UserError as error:
            raise UserError(f"{name}: {error}") from error

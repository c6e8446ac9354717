"""From text to everything that a generator's run reads, each step under its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from augury.core import config
from augury.core.execution import choose
from augury.core.locks import make_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.trainable import Input, Prepared
from augury.regimes.regime import SOURCE, TARGET
from augury.text import learned, pretrained
from augury.text.subwords import say_truncated
from augury.text.tokens import KIND as TOKENS
from augury.text.tokens import Text, Tokens, tokenise
from augury.training.settings import trunk
from trainables.seq2seq import pairs
from trainables.seq2seq.architecture import TinyT5
from trainables.seq2seq.config import Config
from trainables.seq2seq.pieces import Pieces

VERSION = 2
"""Raised when the same configuration comes to train another model: part of every run's address."""
SENTENCES_PER_SECOND = 20_000  # that one core tokenises


class Plan(NamedTuple):
    """The addresses of everything between the pairs and a run; nothing need exist yet."""

    pieces: Pieces
    texts: dict[str, Text]
    tokens: dict[str, Folder]
    address: str
    trunk: str
    """The address of everything that determines training but its end."""


def address(experiment: Config, store: Store) -> str:
    """The address of the run that an experiment describes; reads the corpora's files and makes nothing."""
    found = {split: pairs.address(experiment.corpus, split) for split in ("train", "valid")}
    return plan(experiment, store, found).address


def plan(experiment: Config, store: Store, corpora: Mapping[str, str]) -> Plan:
    """What a run reads, from the addresses of its training and validation pairs."""
    model = experiment.model
    folders = {split: store.folder(CORPORA, corpora[split]) for split in ("train", "valid")}
    if isinstance(model, TinyT5):
        made_of = {"version": learned.VERSION, "size": model.vocabulary_size, "text": folders["train"].name}
    else:
        made_of = {"pretrained": pretrained.identity(model.name, model.revision)}
    pieces = Pieces(store.folder("vocabularies", config.address(made_of)), experiment.max_pieces)
    texts = {side: Text(folders["train"], (side,), side) for side in (SOURCE, TARGET)}
    texts |= {f"valid {side}": Text(folders["valid"], (side,), side) for side in (SOURCE, TARGET)}
    tokens = {name: store.folder(TOKENS, text.address(pieces.name)) for name, text in texts.items()}
    determined = {
        "task": "seq2seq",
        "version": VERSION,
        "vocabulary": pieces.name,
        "tokens": [[name, folder.name] for name, folder in tokens.items()],
        "model": model.plain() if isinstance(model, TinyT5) else made_of,
        "regime": experiment.regime.plain(),
        "training": experiment.training.plain(),
    }
    beginning = config.address({**determined, "training": trunk(experiment.training)})
    return Plan(pieces, texts, tokens, config.address(determined), beginning)


def prepare(experiment: Config, store: Store, recording: Recording = unrecorded) -> Prepared:
    """Ingest, make pairs, fetch the tokenizer or learn one, tokenise; or find all that done."""
    given, execution = experiment.corpus, experiment.execution
    splits = ("train", "valid", *experiment.test_sets)
    corpora = {split: pairs.pairs(given, split, store, execution) for split in splits}
    planned = plan(experiment, store, {split: corpus.address for split, corpus in corpora.items()})
    make_once(planned.pieces.vocabulary, lambda: _make_tokenizer(experiment, planned))
    work = corpora["train"].rows * 2 / SENTENCES_PER_SECOND
    executor = choose(execution.executor, work, "tokenise", execution.address)
    tokenise(planned.texts, planned.tokens, planned.pieces, executor)
    say_truncated(planned.tokens, experiment.max_pieces)
    return Prepared(
        address=planned.address,
        inputs=tuple(Input(split, corpus.address, corpus.rows) for split, corpus in corpora.items()),
        data_factor=1.0,
        passes_by_view={SOURCE: 1.0},
        pieces={side: float(Tokens(planned.tokens[side]).lengths.mean()) for side in (SOURCE, TARGET)},
        artifacts={"vocabulary": planned.pieces.vocabulary.name},
        config={
            "experiment": experiment.plain(),
            "address": planned.address,
            "trunk": planned.trunk,
            "vocabulary": planned.pieces.vocabulary.name,
            "corpora": {split: corpus.address for split, corpus in corpora.items()},
            "tokens": {name: folder.name for name, folder in planned.tokens.items()},
            "preparation": given.part("train").filter.plain(),
        },
    )


def _make_tokenizer(experiment: Config, planned: Plan) -> None:
    model, folder = experiment.model, planned.pieces.vocabulary
    if isinstance(model, TinyT5):
        both = Text(planned.texts[SOURCE].folder, (SOURCE, TARGET), SOURCE)
        learned.learn(both.lines(), model.vocabulary_size, folder)
    else:
        pretrained.keep(model.name, model.revision, folder)

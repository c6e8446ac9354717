"""The word alignment of a parallel corpus in the store: one for all of its splits, fitted on the
training text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from augury.core import config
from augury.core.execution import Execution
from augury.core.locks import make_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus, read_shard, write_shard
from augury.corpora.ingest import cached_address, cached_corpus
from augury.corpora.parallel import CorpusSpec
from augury.text.alignment import eflomal
from augury.text.alignment.aligner import (
    MODELS,
    PAIRS_PER_SECOND,
    Aligner,
    encode_shards,
    fit,
    words_of_shard,
)
from augury.text.alignment.model import AlignerName, Links
from augury.text.alignment.symmetrise import BOTH
from augury.text.segmentation import require_words

KIND = "aligners"
VERSION = 3
"""Raised when the same text would be aligned otherwise: part of every address."""
BEGINNING = 1_000  # pairs of the training text that are looked at for words
LINKS = pa.list_(pa.list_(pa.int32(), 2))


def address(spec: CorpusSpec, aligner: AlignerName) -> str:
    """Return the address of the alignment, found without making anything."""
    determined: dict[str, Any] = {"version": VERSION, "aligner": aligner}
    if aligner == "eflomal":
        corpora = {split: cached_address(spec, split) for split in spec.splits()}
        return config.address({**determined, "corpora": corpora})
    settings = asdict(MODELS[aligner]())
    return config.address(
        {**determined, "corpus": cached_address(spec, "train"), "settings": settings}
    )


def aligned(spec: CorpusSpec, aligner: AlignerName, store: Store, execution: Execution) -> Folder:
    """Return the aligner fitted on the training text, or the links of all splits where eflomal
    finds them.

    Made unless the store has it. UserError where eflomal is chosen and not installed, and for
    text without words.
    """
    folder = store.folder(KIND, address(spec, aligner))
    make_once(folder, lambda: _make(spec, aligner, folder, execution))
    return folder


def _make(spec: CorpusSpec, aligner: AlignerName, folder: Folder, execution: Execution) -> None:
    train = cached_corpus(spec, "train", folder.root)
    beginning = train.shard(train.shards[0], ["source", "target"]).slice(0, BEGINNING)
    for side, language in zip(beginning.column_names, spec.languages, strict=True):
        require_words(beginning.column(side).to_pylist(), language, f"train, the {side} side")
    if aligner == "eflomal":
        corpora = [cached_corpus(spec, split, folder.root) for split in spec.splits()]
        _align_with_eflomal(corpora, folder)
        folder.finish({"inputs": [corpus.address for corpus in corpora], "settings": {}})
        return
    executor, model = execution.choose(train.rows / PAIRS_PER_SECOND, "align"), MODELS[aligner]()
    scratch = folder.sub("shards")  # where every process of the executor reaches it
    encoded = encode_shards(partial(words_of_shard, train.folder), train.shards, scratch, executor)
    fit(encoded, executor, model).write(folder)
    scratch.remove()
    folder.finish({"inputs": [train.address], "settings": asdict(model)})


def links_of(aligner: AlignerName, folder: Folder, corpus: Folder) -> Callable[[str], Links]:
    """Return a function from a shard of a split's corpus to its links, by the alignment in a
    folder."""
    if aligner == "eflomal":
        return lambda shard: _read_links(folder, _name(corpus, shard))
    fitted = Aligner.read(folder)
    return lambda shard: fitted.links(*words_of_shard(corpus, shard))


def _align_with_eflomal(corpora: Sequence[Corpus], folder: Folder) -> None:
    """Keep the links of every shard, found in one run, as eflomal has no model that could be
    applied to other text."""
    shards = [(corpus, shard) for corpus in corpora for shard in corpus.shards]
    texts = [words_of_shard(corpus.folder, shard) for corpus, shard in shards]
    sources, targets = (list(chain.from_iterable(sides)) for sides in zip(*texts, strict=True))
    links, start = eflomal.align(sources, targets), 0
    for (corpus, shard), (of_shard, _) in zip(shards, texts, strict=True):
        end = start + len(of_shard)
        table = pa.table(
            {direction: pa.array(links[direction][start:end], LINKS) for direction in BOTH}
        )
        write_shard(folder, _name(corpus.folder, shard), table)
        start = end


def _read_links(folder: Folder, name: str) -> Links:
    table = read_shard(folder, name)
    links: Links = {}
    for direction in BOTH:
        rows = table.column(direction).to_pylist()
        links[direction] = [list(map(tuple, row)) for row in rows]
    return links


def _name(corpus: Folder, shard: str) -> str:
    return f"{corpus.name.rpartition('/')[2]}-{shard}"

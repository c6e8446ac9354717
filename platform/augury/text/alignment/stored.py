"""The word alignment of a parallel corpus in the store: one for all of its splits, fitted on the
training text, or links of others from files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

import pyarrow as pa

from augury.core import config
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.paths import expanded
from augury.core.store import Folder, Store
from augury.core.words import words
from augury.corpora import files
from augury.corpora.corpus import Corpus, read_shard, write_shard
from augury.corpora.ingest import cached_address, cached_corpus
from augury.corpora.spec import CorpusSpec
from augury.text.alignment.aligner import Aligner, fit
from augury.text.alignment.bitext import BOTH, Sentences
from augury.text.alignment.hmm import Hmm
from augury.text.alignment.links import Link, Symmetrisation, read_pharaoh, symmetrise
from augury.text.segmentation import require_words

KIND = "aligners"
VERSION = 4
"""Raised when the same text would be aligned otherwise: part of every address."""
BEGINNING = 1_000  # pairs of the training text that are looked at for words
LINKS = pa.list_(pa.list_(pa.int32(), 2))
LinkFiles = Mapping[str, str]
"""Split -> file with a line of links for each row of its text, in Pharaoh's format."""


def address(spec: CorpusSpec, links: LinkFiles) -> str:
    """Return the address of the alignment, found without making anything."""
    if links:
        corpora = {split: cached_address(spec, split) for split in links}
        lines = {split: list(_lines(file)) for split, file in links.items()}
        return config.address({"version": VERSION, "corpora": corpora, "links": lines})
    determined = {"version": VERSION, "settings": asdict(Hmm())}
    return config.address({**determined, "corpus": cached_address(spec, "train")})


def aligned(spec: CorpusSpec, links: LinkFiles, store: Store) -> Folder:
    """Return the aligner fitted on the training text, or the links of all splits from files, made
    unless the store has it; UserError for text without words, and for links that are not of it."""
    folder = store.folder(KIND, address(spec, links))
    make_once(folder, lambda: _make(spec, links, folder))
    return folder


def _make(spec: CorpusSpec, links: LinkFiles, folder: Folder) -> None:
    train = cached_corpus(spec, "train", folder.root)
    beginning = train.shard(train.shards[0], ["source", "target"]).slice(0, BEGINNING)
    for side, language in zip(beginning.column_names, spec.languages, strict=True):
        require_words(beginning.column(side).to_pylist(), language, f"train, the {side} side")
    if links:
        for split, file in links.items():
            _keep_links(file, cached_corpus(spec, split, folder.root), folder)
        folder.finish({"inputs": [train.address], "settings": {}})
        return
    model = Hmm()

    def shards() -> Iterator[tuple[Sentences, Sentences]]:
        for shard in train.shards:
            yield words_of_shard(train.folder, shard)

    fit(shards, train.rows, model).write(folder)
    folder.finish({"inputs": [train.address], "settings": asdict(model)})


def words_of_shard(corpus: Folder, shard: str) -> tuple[Sentences, Sentences]:
    """Return the words of both sides of a shard of parallel text."""
    block = read_shard(corpus, shard, ("source", "target"))
    sources, targets = block.column("source").to_pylist(), block.column("target").to_pylist()
    return list(map(words, sources)), list(map(words, targets))


def links_of(
    folder: Folder, corpus: Folder, symmetrisation: Symmetrisation
) -> Callable[[str], list[list[Link]]]:
    """Return a function from a shard of a split's corpus to the links of its pairs, by the
    alignment in a folder."""
    if not folder.exists("aligner.json"):
        return lambda shard: _read_links(folder, _name(corpus, shard))
    fitted = Aligner.read(folder)

    def links(shard: str) -> list[list[Link]]:
        found = fitted.links(*words_of_shard(corpus, shard))
        pairs = zip(*(found[direction] for direction in BOTH), strict=True)
        return [symmetrise(forward, reverse, symmetrisation) for forward, reverse in pairs]

    return links


def _keep_links(file: str, corpus: Corpus, folder: Folder) -> None:
    """Write the links of every shard of a split, whose ids number the rows of its text from 1."""
    lines = list(_lines(file))
    for shard in corpus.shards:
        block = corpus.shard(shard, ["id", "source", "target"])
        kept: list[list[Link]] = []
        for name, source, target in zip(
            *(column.to_pylist() for column in block.columns), strict=True
        ):
            number = int(name.rpartition("-")[2])
            if number > len(lines):
                raise UserError(
                    f"{file} has {len(lines):,} lines, and the text a row {number:,}: give a line "
                    "of links for every row, an empty one for none"
                )
            kept.append(_checked(lines[number - 1], source, target, f"{file}, line {number}"))
        write_shard(folder, _name(corpus.folder, shard), pa.table({"links": pa.array(kept, LINKS)}))


def _checked(line: str, source: str, target: str, place: str) -> list[Link]:
    """Return the links in a line; UserError where they are of other words."""
    links = read_pharaoh(line, place)
    for side, text in enumerate((source, target)):
        last = max((link[side] for link in links), default=-1)
        if links and (text.split() != words(text) or last >= len(text.split())):
            raise UserError(
                f"{place}: links are positions of words between spaces, from 0, and '{text}' has "
                f"{len(text.split())} of them and {len(words(text))} words: give tokenised text "
                "with its own links, or leave out 'links'"
            )
    return links


def _lines(file: str) -> Iterator[str]:
    files.examine(file)
    for line in files.lines(expanded(file)):
        yield line.decode().strip()


def _read_links(folder: Folder, name: str) -> list[list[Link]]:
    rows = read_shard(folder, name).column("links").to_pylist()
    return [list(map(tuple, row)) for row in rows]


def _name(corpus: Folder, shard: str) -> str:
    return f"{corpus.name.rpartition('/')[2]}-{shard}"

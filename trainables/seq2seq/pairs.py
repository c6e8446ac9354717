"""The training pairs of a generator: corpora of their own, made from the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from augury.augment import prompts
from augury.core import config
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.messages import say_once
from augury.core.progress import ProgressLine
from augury.core.store import Store
from augury.core.words import reordered, words
from augury.corpora.corpus import CORPORA, KINDS, Corpus, CorpusWriter
from augury.corpora.ingest import cached_address, cached_corpus
from augury.text import align
from trainables.seq2seq.config import HypothesisCorpus, PairsCorpus, ReorderCorpus, TextCorpus

VERSION = 2
"""Raised when the same text would become other pairs: part of every address."""
UNCOVERED = "too few words with a link"


def address(spec: PairsCorpus, split: str) -> str:
    """Return the address of the pairs of a split, without making them."""
    text = cached_address(spec, split)
    if isinstance(spec, TextCorpus):
        return text
    determined: dict[str, Any] = {
        "kind": "pairs",
        "form": spec.form,
        "version": VERSION,
        "corpus": text,
    }
    if isinstance(spec, ReorderCorpus):
        determined |= {
            "links": align.address(spec, split, spec.links.get(split)),
            "min_coverage": spec.min_coverage,
        }
    return config.address(determined)


def pairs(spec: PairsCorpus, split: str, store: Store) -> Corpus:
    """Return the pairs of a split, made unless the store has them.

    A pair has the id of its record; the manifest counts those left out. UserError where none is
    left.
    """
    corpus = cached_corpus(spec, split, store.root)
    if isinstance(spec, TextCorpus):
        return corpus
    folder = store.folder(CORPORA, address(spec, split))
    language = spec.languages_of(split)[0]
    schema, operator = KINDS["parallel"].schema, folder.name.rpartition("/")[2]

    def records(ids: Sequence[str], sources: Sequence[str], targets: Sequence[str]) -> pa.Table:
        """Return records of pairs in one language, each made from the record with its id."""
        lineage = [{"parents": [name], "operator": operator, "copy": 1} for name in ids]
        lineages = pa.array(lineage, schema.field("lineage").type)
        languages, origins = [language] * len(ids), [spec.form] * len(ids)
        views = [list[str]()] * len(ids)
        columns = [ids, sources, targets, languages, languages, origins, views, lineages]
        return pa.table(columns, schema=schema)

    def make() -> None:
        writer, left_out = CorpusWriter(folder), 0
        if isinstance(spec, HypothesisCorpus):
            for block in corpus.blocks(["id", "label", "premise", "hypothesis"]):
                ids, labels, premises, targets = (column.to_pylist() for column in block.columns)
                sources = list(map(prompts.hypothesis, labels, premises))
                writer.add(records(ids, sources, targets))
        else:
            linked = align.links_by_shard(spec, split, spec.links.get(split), store)
            with ProgressLine(f"reorder {split}", corpus.rows, "pairs") as progress:
                for shard, links in zip(corpus.shards, linked, strict=True):
                    block = corpus.shard(shard, ("id", "source"))
                    columns = _reordered(block, links, spec.min_coverage)
                    writer.add(records(*columns))
                    left_out += len(block) - len(columns[0])
                    progress.advance(len(block))
            if left_out == corpus.rows:
                raise UserError(
                    f"{split}: the alignment links less than {spec.min_coverage:.0%} of the words "
                    "of every pair: see whether the two sides belong together, or lower "
                    "corpus.min_coverage"
                )
        writer.finish(
            {
                "kind": "parallel",
                "split": split,
                "source_language": language,
                "target_language": language,
                "rows_in": corpus.rows,
                "rejected": {UNCOVERED: left_out} if left_out else {},
                "inputs": [corpus.address],
                "note": corpus.manifest.get("note"),
            }
        )

    make_once(folder, make)
    pairs_corpus = Corpus(folder)
    for reason, count in pairs_corpus.manifest["rejected"].items():
        say_once(f"{split}: left out {count:,} of {corpus.rows:,} pairs, {reason}")
    return pairs_corpus


def _reordered(
    block: pa.Table, links: Sequence[Sequence[align.Link]], min_coverage: float
) -> tuple[list[str], list[str], list[str]]:
    """Return the ids, `reorder: <source>` and the reordered sources of a block's pairs, without
    those that have too few links."""
    kept, prompted, targets = [], [], []
    ids, sources = (column.to_pylist() for column in block.columns)
    for name, source, linked in zip(ids, sources, links, strict=True):
        tokens = words(source)
        if align.coverage(tokens, linked) >= min_coverage:
            kept.append(name)
            prompted.append(prompts.reordering(source))
            targets.append(reordered(source, align.permutation(tokens, linked)))
    return kept, prompted, targets

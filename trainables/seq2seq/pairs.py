"""The pairs that a generator learns from: corpora of their own, made of what the user gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import make_once
from augury.core.progress import Stage, say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import LINEAGE, PARALLEL, Corpus, CorpusWriter, read_shard
from augury.corpora.ingest import cached_address, cached_corpus
from augury.text import prompts
from augury.text.align import PAIRS_PER_SECOND
from augury.text.reorder import coverage, permutation
from augury.text.segmentation import require_words
from augury.text.symmetrise import symmetrise
from augury.text.words import Words
from trainables.seq2seq import alignment
from trainables.seq2seq.config import HypothesisCorpus, ReorderCorpus, TextCorpus

VERSION = 1
"""Raised when the same text would become other pairs: part of every address."""
BEGINNING = 1_000  # pairs of the training text that are looked at for words
UNCOVERED = "too few words with a link"

Spec = TextCorpus | HypothesisCorpus | ReorderCorpus


def address(spec: Spec, split: str) -> str:
    """The address of the pairs of a split, found without making anything."""
    text = cached_address(spec, split)
    if isinstance(spec, TextCorpus):
        return text
    determined: dict[str, Any] = {"kind": "pairs", "form": spec.form, "version": VERSION, "corpus": text}
    if isinstance(spec, ReorderCorpus):
        order = {"min_coverage", "symmetrisation", "anchor"}
        determined |= {"aligner": alignment.address(spec), **spec.model_dump(mode="json", include=order)}
    return config.address(determined)


def pairs(spec: Spec, split: str, store: Store, execution: Execution) -> Corpus:
    """The pairs of a split, made unless the store has them; the manifest counts what is left out.

    A pair has the id of its record. UserError where none is left.
    """
    corpus = cached_corpus(spec, split, store.root)
    if isinstance(spec, TextCorpus):
        return corpus
    folder = store.folder(CORPORA, address(spec, split))

    def make() -> None:
        if isinstance(spec, ReorderCorpus):
            _reorder(spec, split, corpus, folder, store, execution)
        else:
            _prompt(spec, split, corpus, folder)

    make_once(folder, make)
    pairs_corpus = Corpus(folder)
    for reason, count in pairs_corpus.manifest["rejected"].items():
        say_once(f"{split}: left out {count:,} of {corpus.rows:,} pairs, {reason}")
    return pairs_corpus


def _prompt(spec: HypothesisCorpus, split: str, corpus: Corpus, folder: Folder) -> None:
    """`<label>: <premise>` and the hypothesis."""
    writer = CorpusWriter(folder)
    for block in corpus.blocks(["id", "premise", "hypothesis", "label", "language"]):
        ids, premises, hypotheses, labels, languages = (column.to_pylist() for column in block.columns)
        sources = [prompts.hypothesis(label, premise) for label, premise in zip(labels, premises, strict=True)]
        writer.add(_table(folder, spec.form, languages, ids, sources, hypotheses))
    _finish(writer, split, spec.language_of(split), corpus, [corpus.address], {})


def _reorder(
    spec: ReorderCorpus, split: str, corpus: Corpus, folder: Folder, store: Store, execution: Execution
) -> None:
    """`reorder: <source>` and the source in the order of the target."""
    train = cached_corpus(spec, "train", store.root)
    beginning = train.shard(train.shards[0], ["source", "target"]).slice(0, BEGINNING)
    for side, language in zip(beginning.column_names, spec.languages, strict=True):
        require_words(beginning.column(side).to_pylist(), language, f"train, the {side} side")
    work = train.rows / PAIRS_PER_SECOND
    executor = execution.choose(work, "align")
    aligner = store.folder(alignment.KIND, alignment.address(spec))
    make_once(aligner, lambda: alignment.make(spec, aligner, store.root, executor))
    writer, rejected = CorpusWriter(folder), 0
    with Stage(f"reorder {split}", corpus.rows, "pairs") as stage:
        task = _ReorderShard(spec, corpus.folder, aligner, folder)
        for table, left_out in executor.map(task, corpus.shards, stage, size=lambda result: len(result[0]) + result[1]):
            writer.add(table)
            rejected += left_out
    if rejected == corpus.rows:
        raise UserError(
            f"{split}: the alignment links less than {spec.min_coverage:.0%} of the words of every pair: see whether "
            "the two sides belong together, or lower corpus.min_coverage"
        )
    inputs = [corpus.address, aligner.name]
    _finish(writer, split, spec.source_language, corpus, inputs, {UNCOVERED: rejected} if rejected else {})


@dataclass(frozen=True)
class _ReorderShard:
    """Makes the task that returns the pairs of a shard and how many it left out."""

    spec: ReorderCorpus
    corpus: Folder
    aligner: Folder
    pairs_folder: Folder

    def __call__(self) -> Callable[[str], tuple[pa.Table, int]]:
        spec, links_of = self.spec, alignment.links_of(self.spec, self.aligner, self.corpus)

        def reorder(shard: str) -> tuple[pa.Table, int]:
            links = links_of(shard)
            block = read_shard(self.corpus, shard, ("id", "source"))
            ids, sources = (column.to_pylist() for column in block.columns)
            reordered = []
            for name, source, forward, reverse in zip(ids, sources, links["forward"], links["reverse"], strict=True):
                linked, text = symmetrise(forward, reverse, spec.symmetrisation), Words.of(source)
                if coverage(text.words, linked) >= spec.min_coverage:
                    order = permutation(text.words, linked, spec.anchor)
                    reordered.append((name, prompts.reordering(source), text.text(order)))
            languages = [spec.source_language] * len(reordered)
            columns = zip(*reordered, strict=True) if reordered else ([], [], [])
            return _table(self.pairs_folder, spec.form, languages, *map(list, columns)), len(block) - len(reordered)

        return reorder


def _table(
    pairs_folder: Folder,
    form: str,
    languages: Sequence[str],
    ids: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
) -> pa.Table:
    """Pairs of which both sides are in one language, each made from the record of its id."""
    address = pairs_folder.name.rpartition("/")[2]
    lineage = [{"parents": [name], "operator": address, "copy": 1} for name in ids]
    columns = [ids, sources, targets, languages, languages, [form] * len(ids), [[]] * len(ids)]
    return pa.table([*columns, pa.array(lineage, LINEAGE)], schema=PARALLEL)


def _finish(
    writer: CorpusWriter, split: str, language: str, corpus: Corpus, inputs: Sequence[str], rejected: dict[str, int]
) -> None:
    writer.finish(
        {
            "kind": "parallel",
            "split": split,
            "source_language": language,
            "target_language": language,
            "rows_in": corpus.rows,
            "rejected": rejected,
            "inputs": list(inputs),
            "note": corpus.manifest.get("note"),
        }
    )

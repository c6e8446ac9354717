"""Concatenation of several training texts into one corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from augury.core.config import address
from augury.core.locks import make_once
from augury.core.progress import say
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND, Corpus, CorpusWriter, read_shard
from augury.corpora.languages import SEVERAL

TEXTS = "texts"
"""Key of the list of texts in a mixture's manifest."""


class RowRange(NamedTuple):
    """The rows of a text in a training corpus."""

    name: str
    start: int
    end: int


def mix(corpora: Mapping[str, Corpus], store: Store) -> Corpus:
    """Return the concatenation of corpora by name, created unless the store has it.

    The name of a corpus is the `origin` of its records and the prefix of their ids.
    """
    folder = store.folder(
        KIND, mixture_address({name: corpus.address for name, corpus in corpora.items()})
    )
    if make_once(folder, lambda: _make(folder, corpora)):
        counts = ", ".join(f"{corpus.rows:,} of {name}" for name, corpus in corpora.items())
        say(f"train: {Corpus(folder).rows:,} {Corpus(folder).noun}, {counts}")
    return Corpus(folder)


def mixture_address(addresses: Mapping[str, str]) -> str:
    """Return the address of a mixture from the addresses of its corpora by name."""
    return address(
        {"kind": "mixture", "version": 1, "texts": [list(text) for text in addresses.items()]}
    )


def row_ranges(corpus: Corpus) -> list[RowRange]:
    """Return the rows of each text of a training corpus, in order.

    A single text is called `train`.
    """
    ranges, end = [], 0
    for text in corpus.manifest.get(TEXTS, [{"name": "train", "rows": corpus.rows}]):
        ranges.append(RowRange(text["name"], end, end + text["rows"]))
        end = ranges[-1].end
    return ranges


def _make(folder: Folder, corpora: Mapping[str, Corpus]) -> None:
    writer = CorpusWriter(folder)
    for name, corpus in corpora.items():
        for shard in corpus.shards:
            block = read_shard(corpus.folder, shard)
            ids = pc.binary_join_element_wise(name, block.column("id"), "-")
            block = block.set_column(block.column_names.index("id"), "id", ids)
            origin = pa.repeat(name, len(block))
            writer.add(
                block.set_column(
                    block.column_names.index("origin"), block.schema.field("origin"), origin
                )
            )
    first = next(iter(corpora.values())).manifest
    manifests = [corpus.manifest for corpus in corpora.values()]
    languages = {manifest["language"] for manifest in manifests if "language" in manifest}
    writer.finish(
        {
            **{
                key: first[key]
                for key in ("kind", "split", "source_language", "target_language")
                if key in first
            },
            **(
                {"language": languages.pop() if len(languages) == 1 else SEVERAL}
                if languages
                else {}
            ),
            "rows_in": sum(manifest["rows_in"] for manifest in manifests),
            "rejected": dict(
                sum((Counter(manifest["rejected"]) for manifest in manifests), Counter())
            ),
            "examples": {},
            TEXTS: [
                {"name": name, "rows": corpus.rows, "address": corpus.address}
                for name, corpus in corpora.items()
            ],
            "inputs": [corpus.address for corpus in corpora.values()],
            "note": next((manifest["note"] for manifest in manifests if manifest["note"]), None),
        }
    )

"""What models write for the records of a corpus, block by block, stored by address.

An executor runs the blocks: Ray's actors, or this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import pyarrow as pa

from augury.augment.models import TextModel
from augury.augment.pipeline import split_into_blocks
from augury.core import config
from augury.core.execution import Execution, Item, ItemFunction
from augury.core.locks import make_once
from augury.core.progress import ProgressLine
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus, read_shard, write_shard
from augury.decoding.settings import PLAIN, Decoding, Sampling

TRANSLATIONS, GENERATED = "translations", "generated"
"""The folders of what models find by a search, and of what they draw."""
BLOCK_ROWS = 500
"""The records of a block, which is repeated after a kill."""


class Questions(NamedTuple):
    """What a model is asked for a block of records: texts and, where outputs are drawn, their
    random keys."""

    texts: Sequence[str]
    keys: Sequence[int] = ()


@dataclass(frozen=True)
class ModelOutputs:
    """The texts that a model writes for a corpus, any number for a record."""

    store: Store
    asked: Mapping[str, Any]
    """What determines them besides the corpus and the model."""
    corpus: Corpus
    model: TextModel
    ask: Callable[[pa.Table], Questions]
    """What a block's records ask for; it must not depend on the block."""
    settings: Decoding | Sampling
    """Those of a search, or of sampling, which prefers a GPU."""
    per_second: float
    """Records that one core processes in a second, with a small model."""
    view: str = PLAIN
    """The view that a search reads texts as (`plain`, `rot-1`)."""

    @cached_property
    def folder(self) -> Folder:
        """Where they are stored."""
        kind = GENERATED if isinstance(self.settings, Sampling) else TRANSLATIONS
        inputs = {"corpus": self.corpus.address, "model": self.model.name}
        return self.store.folder(kind, config.address({**inputs, **self.asked}))

    def by_shard(
        self, execution: Execution, name: str, unit: str = "sentences"
    ) -> Iterator[list[str | None]]:
        """Yield the outputs for every shard of the corpus, written unless the store has them.

        None marks a text that is too long for the model. After a kill the first missing block is
        next. `name` and `unit` are those of the progress line.
        """
        blocks = split_into_blocks(self.corpus, BLOCK_ROWS)
        make_once(self.folder, lambda: self._make(blocks, execution, name, unit))
        for shard in self.corpus.shards:
            names = [block["name"] for block in blocks if block["shard"] == shard]
            parts = [read_shard(self.folder, name).column("text").to_pylist() for name in names]
            yield [text for part in parts for text in part]

    def _make(self, blocks: Sequence[Item], execution: Execution, name: str, unit: str) -> None:
        missing = [block for block in blocks if not self.folder.exists(block["name"])]
        rows = sum(block["stop"] - block["start"] for block in missing)
        gpus = isinstance(self.settings, Sampling) or self.model.on_gpu
        executor = execution.choose(self.corpus.rows / self.per_second, name, gpus=gpus)
        threads = 1 if executor.name == "ray" else execution.threads or 2
        with ProgressLine(name, self.corpus.rows, unit) as progress:
            progress.advance(self.corpus.rows - rows)
            done = executor.map(partial(_writer, self, threads), missing, progress)
        # The seconds that one process needs for all texts, extrapolated from this call.
        seconds = sum(block["seconds"] for block in done) * self.corpus.rows / rows if rows else 0.0
        self.folder.finish(
            {
                "shards": [block["name"] for block in blocks],
                "inputs": [self.corpus.address, self.model.name],
                "seconds": seconds,
            }
        )


def _writer(outputs: ModelOutputs, threads: int) -> ItemFunction:
    """Return the function that writes and stores the outputs for a block, and returns the `seconds`
    that they took; each process loads the model once."""
    settings = outputs.settings
    if isinstance(settings, Sampling):
        draw = outputs.model.sampler(outputs.store)

        def write(questions: Questions) -> Sequence[str | None]:
            return draw(questions.texts, questions.keys, settings)
    else:
        translate = outputs.model.translator(outputs.store, threads)

        def write(questions: Questions) -> Sequence[str | None]:
            return translate(questions.texts, outputs.view, settings)

    def apply(item: Item) -> Item:
        shard = outputs.corpus.shard(item["shard"])
        questions = outputs.ask(shard.slice(item["start"], item["stop"] - item["start"]))
        start = time.perf_counter()
        texts = write(questions)
        seconds = time.perf_counter() - start
        table = pa.table({"text": pa.array(texts, pa.string())})
        write_shard(outputs.folder, item["name"], table)
        return {"rows": item["stop"] - item["start"], "seconds": seconds}

    return apply

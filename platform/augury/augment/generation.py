"""The answers of a language model to the prompts of a corpus, and models that judge them.

Answers are stored by address, block by block, as translations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa

from augury.augment import templates
from augury.augment.answers import DISAGREED, Answer
from augury.augment.blocks import Block
from augury.augment.models import TrainedModel
from augury.augment.translation import Translation
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.rng import generator, keys_of, seed_of, uniform
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus, input_columns
from augury.corpora.labels import LABEL

KIND = "generated"
VERSION = 1
"""Raised when the answers to the same prompts change; part of their addresses."""
BLOCK_ROWS = 200
"""The records of a block, which is repeated after a kill."""
ANSWERS_PER_SECOND = 1.0  # that one core draws from a small model
JUDGED_PER_SECOND, JUDGED_ROWS = 20.0, 1_000
UNREAD = ("views", "lineage")
"""The columns of records that prompts cannot read."""
Requested = Literal["own", "other"]


@dataclass(frozen=True)
class Prompts:
    """What one copy of every record asks for; all choices are drawn by seed, record and copy."""

    template: str
    examples: tuple[dict[str, str], ...]
    shots: int
    """Records that are added to the examples."""
    label: Requested
    """The label that is asked for: the record's own, or another one."""
    labels: tuple[str, ...]
    """The labels of the training text."""
    share: float
    """The share of the records that are asked for."""
    seed: int
    copy: int

    def parents(self, block: pa.Table) -> dict[int, dict[str, Any]]:
        """Return the records that are asked for, with the label that is, by their rows."""
        records = _readable(block)
        keys = keys_of([record["id"] for record in records], self.seed, "share")
        chosen = uniform(keys, 0, 1)[:, 0] < self.share
        return {row: self._labelled(record) for row, record in enumerate(records) if chosen[row]}

    def texts(self, block: pa.Table, corpus: Corpus) -> list[str]:
        """Return the prompt of every record of a block, empty for those that are not asked for."""
        texts = [""] * len(block)
        for row, record in self.parents(block).items():
            texts[row] = templates.render(self.template, record, self._examples(record, corpus))
        return texts

    def _labelled(self, record: dict[str, Any]) -> dict[str, Any]:
        if self.label == "own":
            return record
        others = [label for label in self.labels if label != record[LABEL]]
        if not others:
            raise UserError(
                f"label: other asks for another label than '{record[LABEL]}', and the training "
                "text has no other"
            )
        key = seed_of(self.seed, "label", record["id"], self.copy)
        return {**record, LABEL: others[key % len(others)]}

    def _examples(self, record: Mapping[str, Any], corpus: Corpus) -> list[Mapping[str, Any]]:
        """Return the examples for a record: those that are given, and records but itself."""
        if not self.shots:
            return [*self.examples]
        pool = _records_by_label(corpus).get(record.get(LABEL), [])
        random = generator(self.seed, "shots", record["id"], self.copy)
        drawn = random.choice(len(pool), min(self.shots + 1, len(pool)), replace=False)
        others = [pool[index] for index in drawn if pool[index]["id"] != record["id"]]
        return [*self.examples, *others[: self.shots]]


@dataclass(frozen=True, kw_only=True)
class Generation(Translation):
    """The answers of a model to the prompts of one copy of every record."""

    prompts: Prompts
    drawn_by: Mapping[str, Any]
    """Settings of the model that decide on its answers."""

    def folder(self, store: Store) -> Folder:
        assert self.sampling is not None
        address = config.address(
            {
                "version": VERSION,
                "corpus": self.corpus.address,
                "model": self.model.name,
                "prompts": asdict(self.prompts),
                "sampling": self.sampling.to_dict(),
                **self.drawn_by,
            }
        )
        return store.folder(KIND, address)

    def texts(self, block: Block) -> list[str]:
        return self.prompts.texts(self.records(block), self.corpus)

    def keys(self, block: Block, seed: int) -> list[int]:
        ids = self.records(block).column("id").to_pylist()
        return [seed_of(seed, KIND, name, self.prompts.copy) for name in ids]

    def _rows(self, block: Block) -> int:
        return len(self.records(block))

    def records(self, block: Block) -> pa.Table:
        """Return the records of a block."""
        return self.corpus.shard(block.shard).slice(block.start, block.stop - block.start)


@dataclass(frozen=True)
class Teacher:
    """A classifier that decides whether the labels of new records are right."""

    model: TrainedModel
    store: Store
    labels: tuple[str, ...]

    def reject(
        self,
        answers: Sequence[Answer],
        min_probability: float,
        execution: Execution,
        name: str,
    ) -> None:
        """Reject the answers whose label is not the likeliest, or is less likely than that."""
        kept = [answer for answer in answers if not answer.reason]
        rows = [
            tuple(answer.record[column] for column in input_columns([*answer.record]))
            for answer in kept
        ]
        judged = execution.map_texts(
            self,
            rows,
            name=f"{name}: judge",
            unit="records",
            per_second=JUDGED_PER_SECOND,
            chunk=JUDGED_ROWS,
        )
        for answer, probabilities in zip(kept, judged, strict=True):
            label = self.labels.index(answer.record[LABEL])
            least = max(min_probability, max(probabilities))
            if probabilities[label] < least:
                answer.reason = DISAGREED

    def __call__(self) -> Callable[[Sequence[tuple[str, ...]]], list[list[float]]]:
        """Return the function from rows of sentences to the probabilities of their labels."""

        def judge(rows: Sequence[tuple[str, ...]]) -> list[list[float]]:
            columns = [[*column] for column in zip(*rows, strict=True)]
            probabilities = self.model.probabilities(self.store, *columns, labels=self.labels)
            return [row.tolist() for row in probabilities]

        return judge


@lru_cache(maxsize=1)
def _records_by_label(corpus: Corpus) -> dict[str | None, list[dict[str, Any]]]:
    """Return the records of the first shard by their label, or all under None."""
    pools: dict[str | None, list[dict[str, Any]]] = {}
    for record in _readable(corpus.shard(corpus.shards[0])):
        pools.setdefault(record.get(LABEL), []).append(record)
    return pools


def _readable(block: pa.Table) -> list[dict[str, Any]]:
    """Return the records of a block in the columns that prompts can read."""
    return list(
        block.select([name for name in block.column_names if name not in UNREAD]).to_pylist()
    )

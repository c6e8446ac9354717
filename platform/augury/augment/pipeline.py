"""Views of a corpus by address: what exists is not made again, what is missing is made shard by shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from augury import config
from augury.augment.operator import Operator
from augury.corpora.corpus import VIEW, Corpus, read_shard, write_shard
from augury.execution import Executor, choose
from augury.locks import make_once, making
from augury.progress import Stage
from augury.store import Folder, Store

VIEWS, FITS, AUGMENTED = "views", "fits", "augmented"
SEEN = ("id", "source", "target")  # of a record by operators; the rest would double the time that reading takes


@dataclass(frozen=True)
class Part:
    """One view of one corpus: the operator that makes it, what it was fitted on, and where it lies."""

    operator: Operator
    fit: Folder
    folder: Folder

    @property
    def view(self) -> str:
        """The view's name."""
        return self.operator.view()


@dataclass(frozen=True)
class Augmented:
    """A corpus with its views; `made` and `reused` name the views that this call made and found."""

    corpus: Corpus
    parts: tuple[Part, ...]
    address: str
    made: tuple[str, ...]
    reused: tuple[str, ...]

    @property
    def views(self) -> dict[str, Folder]:
        """The shards of every view, by name; they line up with the corpus's."""
        return {part.view: part.folder for part in self.parts}

    def blocks(self) -> Iterator[pa.Table]:
        """The records with their `views` filled, shard by shard."""
        for shard in self.corpus.shards:
            block = self.corpus.shard(shard)
            texts = {name: read_shard(folder, shard).column("text") for name, folder in self.views.items()}
            yield block.set_column(block.schema.get_field_index("views"), "views", _views_column(texts, len(block)))


def plan(corpus_address: str, operators: Sequence[Operator], store: Store, fitted_on: str | None = None) -> list[Part]:
    """The parts that augmenting a corpus consists of, with their addresses; nothing is made."""
    parts = []
    for operator in operators:
        fit = config.address(
            {
                "operator": operator.operator,
                "version": operator.VERSION,
                "parameters": operator.fit_parameters(),
                "on": fitted_on or corpus_address,
            }
        )
        for part in operator.parts():
            made = config.address({"corpus": corpus_address, "fit": fit, "version": part.VERSION, **part.plain()})
            parts.append(Part(part, store.folder(FITS, fit), store.folder(VIEWS, made)))
    return parts


def augment(
    corpus: Corpus,
    operators: Sequence[Operator],
    store: Store,
    *,
    fit_on: Corpus | None = None,
    executor: Literal["auto", "local", "ray"] = "auto",
    ray_address: str | None = None,
) -> Augmented:
    """Make the views of `corpus` that are missing; operators are fitted on `fit_on` (default: the corpus itself)."""
    learned_from = fit_on or corpus
    parts = plan(corpus.address, operators, store, learned_from.address)
    address = config.address({"corpus": corpus.address, "views": [part.folder.name for part in parts]})
    with making([part.folder for part in parts]) as folders:
        missing = [part for part in parts if part.folder in folders]
        if missing:
            work = corpus.rows * sum(1 / part.operator.PER_SECOND for part in missing)
            runs = choose(executor, work, "augment", ray_address)
            for part in {part.fit.name: part for part in missing}.values():
                make_once(part.fit, partial(_fit, part, learned_from, runs))
            _apply(missing, corpus, runs)
    folder = store.folder(AUGMENTED, address)
    if not folder.complete:
        folder.finish(
            {"corpus": corpus.address, "rows": corpus.rows, "views": {part.view: part.folder.name for part in parts}}
        )
    made = tuple(part.view for part in missing)
    return Augmented(corpus, tuple(parts), address, made, tuple(part.view for part in parts if part.view not in made))


def fit(
    corpus: Corpus,
    operators: Sequence[Operator],
    store: Store,
    *,
    executor: Literal["auto", "local", "ray"] = "auto",
    ray_address: str | None = None,
) -> list[dict[str, Any]]:
    """What each operator learns from `corpus`, learned unless the store has it."""
    fitted = []
    for operator in operators:
        part = plan(corpus.address, [operator], store)[0]
        if not part.fit.complete:
            runs = choose(executor, corpus.rows / operator.PER_SECOND, f"fit {operator.operator}", ray_address)
            make_once(part.fit, partial(_fit, part, corpus, runs))
        fitted.append(part.fit.read_json("fitted.json"))
    return fitted


def _fit(part: Part, corpus: Corpus, executor: Executor) -> None:
    with Stage(f"fit {part.operator.operator}", corpus.rows) as stage:
        told = executor.map(_FitShard(part.operator, corpus.folder), corpus.shards, stage, size=lambda pair: pair[0])
    side_data = part.operator.fit([value for _, value in told])
    part.fit.write_json("fitted.json", side_data)
    part.fit.finish(
        {
            "operator": part.operator.operator,
            "version": part.operator.VERSION,
            "parameters": part.operator.fit_parameters(),
            "inputs": [corpus.address],
        }
    )


def _apply(parts: Sequence[Part], corpus: Corpus, executor: Executor) -> None:
    names = ", ".join(part.view for part in parts)
    with Stage(f"augment {names}", corpus.rows * len(parts), "views") as stage:
        executor.map(_ApplyShard(tuple(parts), corpus.folder), corpus.shards, stage, size=lambda made: made)
    for part in parts:
        part.folder.finish({
            "schema": 1, "rows": corpus.rows, "shards": corpus.shards, "view": part.view,
            "operator": part.operator.plain(), "version": part.operator.VERSION,
            "inputs": [corpus.address, part.fit.name], "side_data": part.fit.read_json("fitted.json"),
            "lineage": "a view keeps the id of its record; its parent is the record itself",
        })  # fmt: skip


@dataclass(frozen=True)
class _FitShard:
    """Makes the task that reads a shard and returns (rows, what it told)."""

    operator: Operator
    corpus: Folder

    def __call__(self) -> Callable[[str], tuple[int, Any]]:
        def fit(shard: str) -> tuple[int, Any]:
            block = read_shard(self.corpus, shard, SEEN)
            return len(block), self.operator.fit_block(block)

        return fit


@dataclass(frozen=True)
class _ApplyShard:
    """Makes the task that reads a shard once and writes each part's view of it; a shard that is there is kept."""

    parts: tuple[Part, ...]
    corpus: Folder

    def __call__(self) -> Callable[[str], int]:
        functions = [part.operator.bind(part.fit.read_json("fitted.json")) for part in self.parts]

        def apply(shard: str) -> int:
            block = None
            for part, function in zip(self.parts, functions, strict=True):
                if part.folder.exists(shard):
                    continue
                block = block if block is not None else read_shard(self.corpus, shard, SEEN)
                write_shard(part.folder, shard, pa.table({"id": block.column("id"), "text": function(block)}))
            rows = len(block) if block is not None else len(read_shard(self.corpus, shard, ["id"]))
            return rows * len(self.parts)

        return apply


def _views_column(texts: dict[str, pa.ChunkedArray], rows: int) -> pa.ListArray:
    """A list of (name, text) per record, from one column of texts per view."""
    count = len(texts)
    names = pa.array(list(texts) * rows, pa.string())
    flat = (
        pa.concat_arrays([column.combine_chunks() for column in texts.values()]) if texts else pa.array([], pa.string())
    )
    order = pa.array(np.arange(rows * count).reshape(count, rows).T.reshape(-1)) if count else pa.array([], pa.int64())
    structs = pa.StructArray.from_arrays([names, flat.take(order)], fields=list(VIEW))
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * count, pa.int32()), structs)

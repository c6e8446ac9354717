"""How texts are made of a corpus: what operators make is planned with its addresses; what is
missing is made block by block, in this process or on a cluster, and measured."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from augury.augment.health import Health, tally
from augury.augment.operator import (
    DRAW,
    RECORDS,
    VIEW,
    CorpusOperator,
    Operator,
    OperatorOutput,
    TextSubset,
)
from augury.core import config
from augury.core.execution import Execution, Item, ItemFunction
from augury.core.locks import lock_incomplete, make_once, usable
from augury.core.messages import say
from augury.core.progress import ProgressLine
from augury.core.store import Folder, Store
from augury.corpora.corpus import (
    CORPORA,
    SHARD_ROWS,
    TEXTS,
    Corpus,
    row_ranges,
    shard_metadata,
    shard_name,
    write_shard,
)
from augury.corpora.ingest import cached_address

VIEWS, FITS = "views", "fits"
KINDS = {VIEW: VIEWS, RECORDS: RECORDS}
"""The folders of views and of records in the store."""
Models = Mapping[str, Any]
"""The trained models that an operator uses, by role: a `TextModel` or a `Classifier`."""


@dataclass(frozen=True)
class Part:
    """A view of a corpus, or records made from it: operator, fit and folder."""

    operator: Operator
    models: Models
    fit: Folder
    folder: Folder
    corpus: Folder
    """The corpus that it is made from; operators of later stages are fitted on that of the first
    stage."""

    @property
    def model_names(self) -> dict[str, str]:
        """The names that identify the operator's models, by role."""
        return {role: model.name for role, model in self.models.items()}

    @property
    def name(self) -> str:
        """The view's name, or the records' origin."""
        return self.operator.name()

    @property
    def health(self) -> Health:
        """The measures of the output."""
        return Health(**self.folder.manifest()["health"])

    @property
    def fitted(self) -> dict[str, Any]:
        """The argument of `bind`: side data, models and the training split."""
        learned: dict[str, Any] = json.loads(self.fit.read("fitted.json"))
        models = {"models": dict(self.models)} if self.models else {}
        searched = {"corpus": Corpus(self.corpus)} if self.operator.SEARCHES else {}
        return learned | models | searched


def plan(
    corpus_address: str,
    operators: Sequence[Operator],
    store: Store,
    fitted_on: str | None = None,
    models: Sequence[Models] | None = None,
) -> list[Part]:
    """Return the views and records that operators make from a corpus, with their addresses, unmade.

    `models` are those of each operator.
    """
    parts = []
    corpus = store.folder(CORPORA, corpus_address)
    for operator, runs in zip(operators, models or [{}] * len(operators), strict=True):
        fit = config.address(
            {
                "operator": operator.operator,
                "version": operator.VERSION,
                **operator.origin(),
                "parameters": operator.fit_parameters(),
                "on": fitted_on or corpus_address,
            }
        )
        names = {role: model.name for role, model in runs.items()}
        for part in operator.parts():
            if part.makes() == DRAW:
                continue
            # What acts through fits, models and texts alone is in their addresses: two settings
            # that lead to the same ones share their output.
            parameters = {
                key: value for key, value in part.to_dict().items() if key not in part.LEARNED
            }
            texts = {name: cached_address(spec, "train") for name, spec in part.texts().items()}
            address = config.address(
                {
                    "corpus": corpus_address,
                    "fit": fit,
                    **({"models": names} if names else {}),
                    **({"texts": texts} if texts else {}),
                    "version": part.VERSION,
                    **parameters,
                }
            )
            folder = store.folder(KINDS[part.makes()], address)
            parts.append(Part(part, runs, store.folder(FITS, fit), folder, corpus))
    return parts


class Augmented(NamedTuple):
    """The views and records of a corpus, and the names of those that were there."""

    parts: tuple[Part, ...]
    reused: tuple[str, ...]


def augment(
    corpus: Corpus,
    operators: Sequence[Operator],
    store: Store,
    *,
    fit_on: Corpus | None = None,
    models: Sequence[Models] | None = None,
    execution: Execution | None = None,
) -> Augmented:
    """Make the views and records that are missing.

    Operators are fitted on `fit_on` (default: the corpus itself).
    """
    fit_on = fit_on or corpus
    parts = plan(corpus.address, operators, store, fit_on.address, models)
    return make(parts, corpus, store, fit_on, execution or Execution())


def make(
    parts: Sequence[Part], corpus: Corpus, store: Store, fit_on: Corpus, execution: Execution
) -> Augmented:
    """Make the planned views and records of a corpus that are missing, fitted on `fit_on`."""
    with lock_incomplete([part.folder for part in parts]) as folders:
        missing = [part for part in parts if part.folder in folders]
        # All operators look at the text before the first one works, which may take hours.
        for operator in {part.operator.operator: part.operator for part in missing}.values():
            if isinstance(operator, TextSubset):
                ranges = row_ranges(corpus) if TEXTS in corpus.manifest else []
                operator.check_names([text.name for text in ranges])
            operator.check_text(first_records(corpus, operator))
        # Parts of one operator, such as the keys of a cipher, learn the same.
        fits = {part.fit.name: part for part in parts if part in missing or part.fit.complete}
        for part in fits.values():
            _learn(part, fit_on, execution)
        for part in missing:
            if isinstance(part.operator, CorpusOperator):
                _make_of_corpus(part, part.operator, corpus, store, execution)
            else:
                _make_of_blocks(part, corpus, store, execution)
    reused = tuple(part.name for part in parts if part.folder not in folders)
    return Augmented(tuple(parts), reused)


LOOKED_AT = 1_000  # records of a corpus that an operator looks at before it works


def first_records(corpus: Corpus, operator: Operator) -> pa.Table:
    """Return the first records of a corpus, in the columns that an operator reads."""
    of = operator.of if isinstance(operator, TextSubset) and operator.makes() == RECORDS else ()
    columns, found = operator.reads(corpus.kind.columns), []
    for name, start, end in row_ranges(corpus):
        if not of or name in of:
            shard, place = divmod(start, SHARD_ROWS)
            rows = corpus.shard(corpus.shards[shard], columns)
            found.append(rows.slice(place, min(LOOKED_AT, end - start)))
    return pa.concat_tables(found)


def fit(corpus: Corpus, operator: Operator, store: Store, execution: Execution) -> dict[str, Any]:
    """Return what an operator learns from `corpus`, learned unless the store has it."""
    parts = plan(corpus.address, [operator], store)
    if not parts:
        return {}
    _learn(parts[0], corpus, execution)
    return parts[0].fitted


FITTED_PER_SECOND = 100_000
"""Records that one core learns from in a second."""


def _learn(part: Part, corpus: Corpus, execution: Execution) -> None:
    """Write what an operator learns from a corpus, unless the store has it."""
    operator, name = part.operator, f"fit {part.operator.operator}"

    def write() -> None:
        results: list[Item] = []
        # Without statistics of blocks the text need not be read.
        if type(operator).fit_block is not Operator.fit_block:
            executor = execution.choose(corpus.rows / FITTED_PER_SECOND, name)
            with ProgressLine(name, corpus.rows) as progress:
                items = [{"shard": shard} for shard in corpus.shards]
                results = executor.map(partial(_fitter, operator, corpus), items, progress)
        learned = operator.fit([json.loads(result["statistics"]) for result in results])
        content = json.dumps(learned, ensure_ascii=False, indent=1, allow_nan=False)
        part.fit.write("fitted.json", f"{content}\n")
        part.fit.finish(
            {
                "operator": operator.operator,
                "version": operator.VERSION,
                "parameters": operator.fit_parameters(),
                "inputs": [corpus.address],
            }
        )

    if not usable(part.fit):
        make_once(part.fit, write)


def _fitter(operator: Operator, corpus: Corpus) -> ItemFunction:
    """Return the function that reads a `shard` and returns its `statistics` as JSON."""
    columns = operator.reads(corpus.kind.columns)

    def fit(item: Item) -> Item:
        block = corpus.shard(item["shard"], columns)
        return {"rows": len(block), "statistics": json.dumps(operator.fit_block(block))}

    return fit


BLOCK_SECONDS = 1.0
"""How long a block may take one core: with few long ones, some cores wait for the last."""
FEWEST_ROWS = 1_000
"""Of a block whose size its operator does not set: every block is a file."""


def split_into_blocks(corpus: Corpus, max_rows: int | None) -> list[Item]:
    """Return the blocks of a corpus, whole shards or parts of at most `max_rows` rows: the shard,
    the first row, the one behind the last, and the `name` of the shard that is made from them."""
    blocks: list[Item] = []
    for shard in corpus.shards:
        if max_rows is None:
            blocks.append({"shard": shard, "start": 0, "stop": SHARD_ROWS, "name": shard})
            continue
        rows, stem = shard_metadata(corpus.folder, shard).num_rows, shard.removesuffix(".parquet")
        for start in range(0, rows, max_rows):
            stop, name = min(start + max_rows, rows), f"{stem}-{start:06d}.parquet"
            blocks.append({"shard": shard, "start": start, "stop": stop, "name": name})
    return blocks


def _write(folder: Folder, name: str, output: OperatorOutput) -> dict[str, Any]:
    """Write a shard, and return its rows, counts, sums, size and checksum.

    Counts and sums, as JSON, are in its metadata too: a resumed call reads those of shards that a
    killed one wrote.
    """
    facts = {"counts": json.dumps(dict(output.counts)), "sums": json.dumps(tally(output))}
    size, checksum = write_shard(folder, name, output.table.replace_schema_metadata(facts))
    return {"made": len(output.table), "size": size, "checksum": checksum, **facts}


def _read(folder: Folder, name: str) -> dict[str, Any]:
    """Return what `_write` did of a shard that is there."""
    metadata, (size, checksum) = shard_metadata(folder, name), folder.checksum(name)
    stored = metadata.schema.to_arrow_schema().metadata
    facts = {fact: stored[fact.encode()].decode() for fact in ("counts", "sums")}
    return {"made": metadata.num_rows, "size": size, "checksum": checksum, **facts}


def _make_of_blocks(part: Part, corpus: Corpus, store: Store, execution: Execution) -> None:
    """Make a part block by block, in this process or on a cluster."""
    operator = part.operator
    rows = operator.BLOCK_ROWS or max(FEWEST_ROWS, int(operator.PER_SECOND * BLOCK_SECONDS))
    blocks = split_into_blocks(corpus, rows if rows < SHARD_ROWS else None)
    work = corpus.rows / operator.PER_SECOND
    executor = execution.choose(work, f"augment {part.name}", gpus=bool(part.models))
    with ProgressLine(f"augment {part.name}", corpus.rows, KINDS[operator.makes()]) as progress:
        # Shards are written whole or not at all: what is there, a killed call has made.
        there = set(part.folder.files())
        made = executor.map(partial(_applier, part, corpus, store, there), blocks, progress)
    shards = {block["name"]: shard for block, shard in zip(blocks, made, strict=True)}
    _finish(part, corpus, shards)


def _applier(part: Part, corpus: Corpus, store: Store, there: Collection[str]) -> ItemFunction:
    """Return the function that reads a block, writes what a part makes of it unless that is
    `there`, and returns its facts."""
    operator = part.operator
    function = operator.bind(part.fitted, store)
    # Records copy all columns of their parents; views need those alone that the operator reads.
    is_view = operator.makes() == VIEW
    columns = sorted(operator.reads(corpus.kind.columns)) if is_view else corpus.kind.columns

    def apply(item: Item) -> Item:
        block = corpus.shard(item["shard"], columns)
        block = block.slice(item["start"], item["stop"] - item["start"])
        read = {"rows": len(block)}
        if item["name"] in there:
            return read | _read(part.folder, item["name"])
        if isinstance(operator, TextSubset):
            block = operator.select(block)
        return read | _write(part.folder, item["name"], function(block))

    return apply


def _make_of_corpus(
    part: Part, operator: CorpusOperator, corpus: Corpus, store: Store, execution: Execution
) -> None:
    """Make the records of an operator that processes the whole corpus at once."""
    shards, made_from = dict[str, Mapping[str, Any]](), dict[str, None]()
    for index, output in enumerate(operator.make(corpus, part.fitted, store, execution)):
        name = shard_name(index)
        made_from |= dict.fromkeys(output.made_from)
        shards[name] = _write(part.folder, name, output)
    _finish(part, corpus, shards, list(made_from))


def _finish(
    part: Part,
    corpus: Corpus,
    shards: Mapping[str, Mapping[str, Any]],
    made_from: Sequence[str] = (),
) -> None:
    """Measure a part whose shards are written, and finish its folder."""
    operator, side_data = part.operator, json.loads(part.fit.read("fitted.json"))
    rows, counts, sums = 0, Counter[str](), Counter[str]()
    for shard in shards.values():
        rows += shard["made"]
        counts.update(json.loads(shard["counts"]))
        sums.update(json.loads(shard["sums"]))
    measured = Health.of(operator, rows, counts, sums)
    say(f"{part.name}: {measured.text}")
    texts = [cached_address(spec, "train") for spec in operator.texts().values()]
    form = operator.makes()
    part.folder.finish(
        {
            "rows": rows,
            "shards": list(shards),
            form: part.name,
            "operator": operator.to_dict(),
            "version": operator.VERSION,
            "counts": dict(counts),
            "health": measured.to_dict(),
            "inputs": [corpus.address, part.fit.name, *part.model_names.values(), *texts],
            "side_data": side_data | ({"models": part.model_names} if part.models else {}),
            **({"made_from": list(made_from)} if made_from else {}),
        },
        known={name: (shard["size"], shard["checksum"]) for name, shard in shards.items()},
    )

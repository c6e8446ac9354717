"""Make the views and records of a corpus that are missing, block by block."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from augury.augment.health import LOOKED_AT, Health, Ratios, Tally, tally_block, tally_columns
from augury.augment.operator import (
    DRAW,
    RECORDS,
    VIEW,
    CorpusOperator,
    ExtraInputs,
    Fitted,
    MakesRecords,
    Measured,
    Operator,
    OperatorOutput,
    TextSubset,
    TrainedModel,
)
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.executors import Executor, Row, Task
from augury.core.locks import lock_incomplete, make_once, usable
from augury.core.progress import Stage, say, say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import (
    SHARD_ROWS,
    TEXTS,
    Corpus,
    read_shard,
    row_ranges,
    shard_metadata,
    shard_name,
    write_shard,
)
from augury.corpora.ingest import cached_address
from augury.corpora.spec import BaseSpec

VIEWS, FITS = "views", "fits"
KINDS = {VIEW: VIEWS, RECORDS: RECORDS}
"""The folders of views and of records in the store."""

Models = Mapping[str, TrainedModel]
"""The trained models that an operator uses, by role."""


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
    def side_data(self) -> dict[str, Any]:
        """Side data and models as JSON-like values."""
        learned: dict[str, Any] = self.fit.read_json("fitted.json")
        return learned | ({"models": self.model_names} if self.models else {})

    @property
    def name(self) -> str:
        """The view's name, or the records' origin."""
        return self.operator.name()

    @property
    def health(self) -> Health | None:
        """The measures of the output; None where they were not stored with it."""
        content = self.folder.manifest().get("health")
        return Health.from_dict(content) if content else None

    @property
    def fitted(self) -> dict[str, Any]:
        """The argument of `bind`: side data, models and the training split."""
        learned: dict[str, Any] = self.fit.read_json("fitted.json")
        learned |= {"models": dict(self.models)} if self.models else {}
        return learned | ({"corpus": Corpus(self.corpus)} if searches(self.operator) else {})


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
                "parameters": fit_parameters(operator),
                "on": fitted_on or corpus_address,
            }
        )
        learned: dict[str, Any] = {"fit": fit} | (
            {"models": {role: model.name for role, model in runs.items()}} if runs else {}
        )
        for part in operator.parts():
            if part.makes() == DRAW:
                continue
            if part.makes() == RECORDS and not isinstance(part, MakesRecords):
                raise UserError(
                    f"operator {part.operator} makes records: let {type(part).__name__} inherit "
                    f"from {MakesRecords.__module__}.MakesRecords"
                )
            # What acts through fits, models and texts alone is in their addresses: two settings
            # that lead to the same ones share their output.
            parameters = {
                key: value for key, value in part.to_dict().items() if key not in part.LEARNED
            }
            texts = {
                name: cached_address(spec, "train") for name, spec in extra_texts(part).items()
            }
            learned_by_part = learned | ({"texts": texts} if texts else {})
            part_address = config.address(
                {"corpus": corpus_address, **learned_by_part, "version": part.VERSION, **parameters}
            )
            folder = store.folder(KINDS[part.makes()], part_address)
            parts.append(Part(part, runs, store.folder(FITS, fit), folder, corpus))
    return parts


def extra_texts(operator: Operator) -> Mapping[str, BaseSpec]:
    """Return the texts that an operator reads besides the training text."""
    return operator.texts() if isinstance(operator, ExtraInputs) else {}


def searches(operator: Operator) -> bool:
    """Return whether an operator looks up records in the training split."""
    return isinstance(operator, ExtraInputs) and operator.SEARCHES


def fit_parameters(operator: Operator) -> dict[str, Any]:
    """Return the parameters of an operator on which depends what it learns."""
    return operator.fit_parameters() if isinstance(operator, Fitted) else {}


BLOCK_SECONDS = 1.0
"""How long a block may take one core: with few long ones, some cores wait for the last."""
FEWEST_ROWS = 1_000
"""Of a block whose size its operator does not set: every block is a file."""


class Block(NamedTuple):
    """Rows of a shard of the corpus, and the name of the shard that is made from them."""

    shard: str
    start: int
    stop: int
    name: str


def block_rows(operator: Operator) -> int | None:
    """Return the maximum number of records in a block of an operator; None: a whole shard."""
    rows = max(FEWEST_ROWS, int(operator.PER_SECOND * BLOCK_SECONDS))
    return operator.BLOCK_ROWS or (rows if rows < SHARD_ROWS else None)


def split_into_blocks(corpus: Corpus, max_rows: int | None) -> list[Block]:
    """Return the blocks of a corpus: whole shards, or parts of at most `max_rows` rows."""
    blocks = []
    for shard in corpus.shards:
        if max_rows is None:
            blocks.append(Block(shard, 0, SHARD_ROWS, shard))
            continue
        rows = shard_metadata(corpus.folder, shard).num_rows
        stem = shard.removesuffix(".parquet")
        for start in range(0, rows, max_rows):
            stop = min(start + max_rows, rows)
            blocks.append(Block(shard, start, stop, f"{stem}-{start:06d}.parquet"))
    return blocks


AUGMENTED = "augmented"
DEFAULT_EXECUTION = Execution()


@dataclass(frozen=True)
class Augmented:
    """A corpus with its views and records; `computed` names parts made now, `reused` the others."""

    corpus: Corpus
    parts: tuple[Part, ...]
    address: str
    computed: tuple[str, ...]
    reused: tuple[str, ...]


def augment(
    corpus: Corpus,
    operators: Sequence[Operator],
    store: Store,
    *,
    fit_on: Corpus | None = None,
    models: Sequence[Models] | None = None,
    execution: Execution = DEFAULT_EXECUTION,
) -> Augmented:
    """Make the views and records that are missing.

    Operators are fitted on `fit_on` (default: the corpus itself).
    """
    learned_from = fit_on or corpus
    parts = plan(corpus.address, operators, store, learned_from.address, models)
    return make(parts, corpus, store, learned_from, execution)


def make(
    parts: Sequence[Part],
    corpus: Corpus,
    store: Store,
    fit_on: Corpus | None = None,
    execution: Execution = DEFAULT_EXECUTION,
) -> Augmented:
    """Make the planned views and records of a corpus that are missing, as `augment` does."""
    learned_from = fit_on or corpus
    address = config.address(
        {"corpus": corpus.address, "views": [part.folder.name for part in parts]}
    )
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
            _learn(part, learned_from, execution)
        for group in _group_parts(missing, corpus.columns):
            if isinstance(group[0].operator, CorpusOperator):
                _make_corpus_records(group, corpus, store, execution)
                continue
            work = corpus.rows * sum(1 / part.operator.PER_SECOND for part in group)
            executor = execution.choose(work, f"augment {group[0].operator.operator}")
            # A model computes on all CPUs and GPUs that a worker may have.
            reserved = execution.reserved(executor) if group[0].models else {}
            _apply_to_blocks(group, corpus, store, executor, reserved)
    # Which parts belong together is a record of its own: other corpora and calls share the parts.
    folder = store.folder(AUGMENTED, address)
    content = {
        "corpus": corpus.address,
        "rows": corpus.rows,
        "views": {part.name: part.folder.name for part in parts},
    }
    make_once(folder, lambda: folder.finish(content))
    computed = tuple(part.name for part in missing)
    reused = tuple(part.name for part in parts if part.name not in computed)
    return Augmented(corpus, tuple(parts), address, computed, reused)


def first_records(corpus: Corpus, operator: Operator) -> pa.Table:
    """Return the first records of a corpus, in the columns that an operator reads."""
    return corpus.shard(corpus.shards[0], operator.reads(corpus.columns)).slice(0, LOOKED_AT)


def fit(
    corpus: Corpus,
    operator: Operator,
    store: Store,
    *,
    execution: Execution = DEFAULT_EXECUTION,
) -> dict[str, Any]:
    """Return what an operator learns from `corpus`, learned unless the store has it."""
    parts = plan(corpus.address, [operator], store)
    if not parts:
        return {}
    _learn(parts[0], corpus, execution)
    return parts[0].fitted


def _group_parts(parts: Sequence[Part], columns: Sequence[str]) -> list[list[Part]]:
    """Group the parts that read the same blocks, so that each block is read once."""
    groups: dict[Any, list[Part]] = {}
    for part in parts:
        operator = part.operator
        # Others would wait for models.
        alone = part.models or isinstance(operator, CorpusOperator)
        reads = operator.reads(columns), block_rows(operator)
        key = operator.operator if alone else reads
        groups.setdefault(key, []).append(part)
    return list(groups.values())


def _learn(part: Part, corpus: Corpus, execution: Execution) -> None:
    """Write what an operator learns from a corpus, unless the store has it."""
    operator = part.operator
    if usable(part.fit):
        return

    def write() -> None:
        learned = {}
        if isinstance(operator, Fitted):
            learned = operator.fit(_statistics(operator, corpus, execution))
        part.fit.write_json("fitted.json", learned)
        part.fit.finish(
            {
                "operator": operator.operator,
                "version": operator.VERSION,
                "parameters": fit_parameters(operator),
                "inputs": [corpus.address],
            }
        )

    make_once(part.fit, write)


def _statistics(operator: Fitted, corpus: Corpus, execution: Execution) -> list[Any]:
    """Return the statistics of all shards of a corpus; without any, it need not be read."""
    if type(operator).fit_block is Fitted.fit_block:
        return []
    executor = execution.choose(corpus.rows / operator.FIT_PER_SECOND, f"fit {operator.operator}")
    with Stage(f"fit {operator.operator}", corpus.rows) as stage:
        results = executor.map(
            _FitShard(operator, corpus.folder, operator.reads(corpus.columns)),
            [{"shard": shard} for shard in corpus.shards],
            stage,
        )
    return [json.loads(result["statistics"]) for result in results]


def _apply_to_blocks(
    parts: Sequence[Part],
    corpus: Corpus,
    store: Store,
    executor: Executor,
    reserved: Mapping[str, float],
) -> None:
    blocks = split_into_blocks(corpus, block_rows(parts[0].operator))
    names = ", ".join(part.name for part in parts)
    with Stage(
        f"augment {names}", corpus.rows * len(parts), KINDS[parts[0].operator.makes()]
    ) as stage:
        task = _ApplyBlock(tuple(parts), corpus.folder, store)
        made = executor.map(task, [block._asdict() for block in blocks], stage, **reserved)
    for place, part in enumerate(parts):
        shards = {}
        for block, result in zip(blocks, made, strict=True):
            shards[block.name] = _Shard(**result["shards"][place])
        _finish(part, corpus, shards)


def _make_corpus_records(
    parts: Sequence[Part], corpus: Corpus, store: Store, execution: Execution
) -> None:
    """Write the records of operators that process the whole corpus at once."""
    for part in parts:
        shards, made_from, ratios = dict[str, _Shard](), dict[str, None](), Ratios(corpus)
        assert isinstance(part.operator, CorpusOperator)
        for index, output in enumerate(part.operator.make(corpus, part.fitted, store, execution)):
            name = shard_name(index)
            made_from |= dict.fromkeys(output.made_from)
            tally = tally_columns(output.table, output.made_of, ratios)
            shards[name] = _write(part.folder, name, output, tally)
        _finish(part, corpus, shards, list(made_from))


def _finish(
    part: Part, corpus: Corpus, shards: Mapping[str, _Shard], made_from: Sequence[str] = ()
) -> None:
    operator = part.operator
    rows, counts, tally = _summarise(shards.values())
    # Said at once: a training on copies of the text takes hours, and teaches nothing new.
    if any(
        outcome.startswith("unchanged") and 2 * count > rows for outcome, count in counts.items()
    ):
        changes = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
        remedy = f"; {part.operator.REMEDY}" if part.operator.REMEDY else ""
        say_once(f"{part.name} changes little: {changes} in {rows:,} copies{remedy}")
    measured = Health.of(
        part.name,
        rows,
        operator.lost(counts) if isinstance(operator, MakesRecords) else {},
        tally,
        operator=operator.operator,
        rates=operator.realised(counts, part.side_data) if isinstance(operator, Measured) else {},
        measures=operator.measures(counts) if isinstance(operator, Measured) else {},
        normal=tuple(sorted(operator.NORMAL)),
    )
    say(f"{part.name}: {measured.text}")
    texts = [cached_address(spec, "train") for spec in extra_texts(operator).values()]
    part.folder.finish(
        {
            "rows": rows,
            "shards": list(shards),
            part.operator.makes(): part.name,
            "operator": part.operator.to_dict(),
            "version": part.operator.VERSION,
            "counts": counts,
            "health": measured.to_dict(),
            "inputs": [corpus.address, part.fit.name, *part.model_names.values(), *texts],
            "side_data": part.side_data,
            **({"made_from": list(made_from)} if made_from else {}),
            "lineage": "a view keeps the id of its record; its parent is the record itself"
            if part.operator.makes() == VIEW
            else "of every record, in its column lineage",
        },
        known={name: (shard.size, shard.checksum) for name, shard in shards.items()},
    )


class _Shard(NamedTuple):
    """What is known of a shard that has been written."""

    rows: int
    counts: str
    tally: str
    """Counts and tally as JSON, also in its metadata: a resumed call has those of shards that a
    killed one wrote."""
    size: int
    checksum: str


def _write(folder: Folder, name: str, output: OperatorOutput, tally: Tally) -> _Shard:
    facts = {"counts": json.dumps(dict(output.counts)), "tally": json.dumps(tally)}
    checksum = write_shard(folder, name, output.table.replace_schema_metadata(facts))
    return _Shard(len(output.table), facts["counts"], facts["tally"], *checksum)


def _read(folder: Folder, name: str) -> _Shard:
    """Return what `_write` did of a shard that is there."""
    metadata = shard_metadata(folder, name)
    stored = metadata.schema.to_arrow_schema().metadata or {}
    counts = stored.get(b"counts", b"{}").decode()
    tally = stored.get(b"tally", json.dumps(Tally()).encode()).decode()
    return _Shard(metadata.num_rows, counts, tally, *folder.checksum(name))


def _summarise(shards: Iterable[_Shard]) -> tuple[int, dict[str, int], Tally]:
    """Return the rows of shards, and the sums of their counts and tallies."""
    rows, counts, tally = 0, Counter[str](), Tally()
    for shard in shards:
        rows += shard.rows
        counts.update(json.loads(shard.counts))
        tally = tally.plus(json.loads(shard.tally))
    return rows, dict(counts), tally


@dataclass(frozen=True)
class _FitShard:
    """Creates the task that reads a `shard` and returns its `statistics` as JSON."""

    operator: Fitted
    corpus: Folder
    columns: tuple[str, ...]

    def __call__(self) -> Task:
        def fit(row: Row) -> Row:
            block = read_shard(self.corpus, row["shard"], self.columns)
            return {"rows": len(block), "statistics": json.dumps(self.operator.fit_block(block))}

        return fit


@dataclass(frozen=True)
class _ApplyBlock:
    """Creates the task that reads a block once, writes what is missing of every part's output, and
    returns the facts of its `shards`, a part each."""

    parts: tuple[Part, ...]
    corpus: Folder
    store: Store

    def __call__(self) -> Task:
        functions = [part.operator.bind(part.fitted, self.store) for part in self.parts]
        # Records copy all columns of their parents; views need those alone that operators read.
        only_views = all(part.operator.makes() != RECORDS for part in self.parts)
        columns = self.parts[0].operator.reads(Corpus(self.corpus).columns) if only_views else None

        def apply(row: Row) -> Row:
            block = read_shard(self.corpus, row["shard"], columns)
            block, name = block.slice(row["start"], row["stop"] - row["start"]), row["name"]
            shards = []
            for part, function in zip(self.parts, functions, strict=True):
                # Shards are written whole or not at all: what is there, a killed call has made.
                if part.folder.exists(name):
                    shards.append(_read(part.folder, name)._asdict())
                    continue
                operator = part.operator
                selected = operator.select(block) if isinstance(operator, TextSubset) else block
                output = function(selected)
                tally = tally_block(selected, operator, output)
                shards.append(_write(part.folder, name, output, tally)._asdict())
            return {"rows": len(block) * len(self.parts), "shards": shards}

        return apply

"""The contract of an operator, its simplest form, and the lookup: `cipher` is
`augury.augment.cipher`, or a path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from augury.augment.models import ModelInputs, ReadyModel
from augury.core import config, plugins
from augury.core.config import validate
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.plugins import Extension, Registry
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import Corpus, input_columns, sentence_columns
from augury.corpora.spec import BaseSpec

Form = Literal["view", "records", "draw"]
VIEW, RECORDS, DRAW = "view", "records", "draw"
OF_ANOTHER_TASK = "for experiments of another task"
REJECTED = "rejected, "
"""The prefix of reasons in `counts` for which a candidate became no record."""

OPERATORS = Registry(
    "operator",
    package="augury.augment",
    attribute="OPERATOR",
    contract="set OPERATOR to a subclass of augury.augment.operator.Operator",
)


Texts: TypeAlias = "pa.Array | pa.ChunkedArray | Sequence[str]"


class OperatorOutput(NamedTuple):
    """The view or the records that an operator makes from a block.

    `table`: for a view, the ids and texts (`text`, or `premise` and `hypothesis`) of the block's
    records in their order; for records, rows in the corpus's own columns. `counts`: outcome ->
    number of texts, with `REJECTED` before the reasons for which one became no record. `made_from`:
    folders of the store that were written on the way, such as translations, whose manifests hold
    their cost. `made_of`: what every new column was made from, row by row. `new_view` and
    `new_records` make it.
    """

    table: pa.Table
    counts: Mapping[str, int] = {}
    made_from: Sequence[str] = ()
    made_of: Mapping[str, pa.Array | pa.ChunkedArray] = {}


BlockFunction: TypeAlias = "Callable[[pa.Table], OperatorOutput]"


class Operator(Extension):
    """Parameters of an operator, which `augury augment --operator NAME` takes by `--set` too.

    Each of its parts maps a block of records to one view of every record, which keeps the record's
    id and label, or to new records, which name their parents. Nothing may depend on the size of a
    block or on other blocks. A draw (`augment.draw`) stores nothing: it changes token ids anew in
    every epoch.
    """

    operator: str
    """The name of the operator, or the path of a file that holds it."""

    VERSION: ClassVar[int] = 1
    """Raised when the output for the same parameters changes; part of every address."""
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target")
    """The columns of a block: reading all would take twice as long."""
    LEARNED: ClassVar[frozenset[str]] = frozenset()
    """Parameters that act only through fitted data, models or texts, which addresses have."""
    SEARCHES: ClassVar[bool] = False
    """Whether `bind` receives the training split (`Corpus`) under `corpus`."""
    PER_SECOND: ClassVar[float] = 500_000
    """Records that one core makes in a second; decides which executor is used, and the size of
    blocks."""
    BLOCK_ROWS: ClassVar[int | None] = None
    """The maximum number of records in a block, where it is not to follow from the speed."""
    NORMAL: ClassVar[frozenset[str]] = frozenset()
    """The measures of `augment.health` that have no limit, since any value is normal."""
    # What it makes.

    def parts(self) -> Sequence[Operator]:
        """Return the operators that this one consists of, one per view or set of records."""
        return [self]

    def name(self) -> str:
        """Return the name of a part's view, or the origin of its records."""
        return self.operator

    def makes(self) -> Form:
        """Return whether a part makes a view, records, or a draw from token ids (`TokenDraw`)."""
        return "view"

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that the operator reads, given those that records have."""
        return self.READS

    def check_text(self, records: pa.Table) -> None:
        """Raise UserError for a text that the operator cannot change, given its first records."""

    @abstractmethod
    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        """Return the function from a block to its view or records; called once in every process.

        `fitted` has what the operator learned (`fit`), its models by role under `models`, and the
        training split under `corpus` where it `SEARCHES`.
        """

    # What it learns from the training split.

    def fit_parameters(self) -> dict[str, Any]:
        """Return the parameters that decide what is learned; parts with equal ones share a fit."""
        return {}

    def fit_block(self, block: pa.Table) -> Any:
        """Return the statistics of a block, as JSON can hold them; without this method the split
        is not read."""
        return None

    def fit(self, results: Sequence[Any]) -> dict[str, Any]:
        """Return side data (JSON) from the statistics of all blocks, in order."""
        return {}

    def check_fitted(self, fitted: Mapping[str, Any]) -> None:
        """Raise UserError where the parameters do not suit what was learned."""

    # What it reads besides.

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        """Return the models that it uses by role: ready ones, or experiments that train them.

        `experiment` has the sections of the plain baseline of the operator's experiment, as the
        user wrote them. An experiment without `seeds` is trained with seed 1; one with several
        gives a model per seed, `<role>-<seed>`.
        """
        return {}

    def check_model(self, role: str, given: ModelInputs, needed: Sequence[str]) -> None:
        """Raise UserError where the model of a role cannot read the views that it is given, or
        translates between other languages than those of the corpus, `needed`."""

    def texts(self) -> Mapping[str, BaseSpec]:
        """Return additional texts: name -> the corpus whose split `train` it is."""
        return {}

    # What is told of its output.

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        """Estimate the number of records from `parents` ones and the rows of additional texts."""
        return float(getattr(self, "copies", 1)) * parents

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return metrics of its own, name -> share, from the counts of all blocks."""
        return {}

    @property
    def learns(self) -> bool:
        """Whether it learns from the training split."""
        return type(self).fit is not Operator.fit

    @property
    def uses_models(self) -> bool:
        """Whether it uses trained models."""
        return type(self).models is not Operator.models


class TextSubset(Operator):
    """An operator whose records can be restricted to some of the training texts."""

    of: tuple[str, ...] = ()
    """Names of the training texts that records are made of, where there are several; by default
    all."""

    def inactive(self) -> dict[str, str]:
        of = {} if self.makes() == RECORDS else {"of": "views are of all texts"}
        return super().inactive() | of

    def check_names(self, names: Sequence[str]) -> None:
        """Raise UserError where `of` is not among the names of training texts."""
        for name in self.of:
            if name not in names:
                raise UserError(
                    f"operator {self.operator}, of: {unknown('training text', name, names)}"
                )

    def select(self, block: pa.Table) -> pa.Table:
        """Return the records of a block, with all columns, that the operator is applied to."""
        if not self.of or self.makes() != RECORDS:
            return block
        return block.filter(pc.is_in(block.column("origin"), pa.array(self.of)))


class CorpusOperator(Operator):
    """An operator that makes records of a whole corpus at once, for example by translating it."""

    def makes(self) -> Form:
        return "records"

    @abstractmethod
    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        """Yield the records shard by shard; `fitted` is as for `bind`.

        Slow intermediate results belong in the store: a process that was killed starts over.
        """

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        raise AssertionError("records are made of the whole corpus, by make")


class CopyRequest(NamedTuple):
    """The texts of a record, of which a numbered copy is to be made."""

    id: str
    texts: Mapping[str, str]
    """The texts that a system reads, by column."""
    language: str
    copy: int
    """The number of the copy, from 1."""


Rewrite: TypeAlias = "Callable[[Sequence[CopyRequest]], Sequence[Sequence[str]]]"


class Copies(Operator):
    """An operator that rewrites the texts that a system reads, in numbered copies of records; label
    and target stay."""

    copies: int = Field(1, ge=1, le=1000)
    """Copies of every record, each changed anew."""
    use: Literal["records", "view"] = "records"
    """records: new examples in addition to the originals; view: another view of the example, as the
    first copy has it."""
    seed: int = 1
    """Seed of the random choices."""

    @abstractmethod
    def rewriter(self, fitted: Mapping[str, Any], store: Store) -> Rewrite:
        """Return the function from requests to their new texts; called once in every process,
        with what the operator has learned."""

    def makes(self) -> Form:
        return self.use

    def inactive(self) -> dict[str, str]:
        return {"copies": "a view is one copy"} if self.use == VIEW else {}

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        inputs = input_columns(columns) or ("premise", "hypothesis")
        return ("id", *inputs, language_column(columns))

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        rewrite = self.rewriter(fitted, store)
        numbers = [1] if self.use == VIEW else [*range(1, self.copies + 1)]

        def apply(block: pa.Table) -> OperatorOutput:
            sides, language = input_columns(block.column_names), language_column(block.column_names)
            columns = [name for name in ("id", *sides, language) if name in block.column_names]
            requests = []
            for record in block.select(columns).to_pylist():
                old = {side: record[side] for side in sides}
                for number in numbers:
                    requests.append(
                        CopyRequest(record["id"], old, record.get(language, ""), number)
                    )
            rewritten = rewrite(requests)
            texts = {side: [new[place] for new in rewritten] for place, side in enumerate(sides)}
            if self.use == VIEW:
                return new_view(block, texts)
            parents = np.repeat(np.arange(len(block)), len(numbers))
            return new_records(block, self, numbers * len(block), texts, rows=parents)

        return apply


class TextOperator(Copies):
    """The simplest operator: it rewrites one text at a time, for every task."""

    use: Literal["records", "view"] = "view"
    """view: another rendering of the example; records: new examples in addition to the
    originals."""

    @abstractmethod
    def rewrite(self, text: str, rng: np.random.Generator) -> str:
        """Return a text anew; the random numbers are those of its record, column and copy."""

    def rewriter(self, fitted: Mapping[str, Any], store: Store) -> Rewrite:
        own = self.model_dump(mode="json", exclude={*TextOperator.model_fields})
        own.pop(plugins.FILE, None)

        def rewrite(request: CopyRequest) -> list[str]:
            texts = []
            for side, text in request.texts.items():
                rng = generator(self.seed, self.operator, own, request.id, side, request.copy)
                texts.append(self.rewrite(text, rng))
                if not isinstance(texts[-1], str):
                    raise UserError(
                        f"operator '{self.operator}' rewrites {text!r:.60} as {texts[-1]!r:.60}: "
                        "`rewrite` has to return a text"
                    )
            return texts

        return lambda requests: [rewrite(request) for request in requests]

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return super().reads(columns)[:-1]


def address(operator: Operator) -> str:
    """Return the hash of an operator with its parameters, as the lineage of records has it."""
    return config.address({"version": operator.VERSION, **operator.to_dict()})


def check_columns(operator: Operator, columns: Sequence[str]) -> None:
    """Raise UserError where records lack columns that an operator reads."""
    needed = operator.reads(columns)
    lacking = [column for column in needed if column not in columns]
    if lacking:
        raise UserError(
            f"operator {operator.operator} reads {', '.join(needed)}, and these records have no "
            f"{', '.join(lacking)}: {OF_ANOTHER_TASK}"
        )


def parse(value: Any) -> Operator:
    """Return the operator that `{operator: ..., parameters}` describes; UserError names the
    nearest known one."""
    if isinstance(value, Operator):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("operator"), str):
        raise UserError(
            "an item of augment is 'operator: ...' and its parameters; allowed: "
            f"{', '.join(OPERATORS.names())}"
        )
    operator, settings = plugins.resolve(OPERATORS, Operator, "operator", value)
    return validate(operator, settings, f"operator {settings['operator']}")


def schema(name: str) -> type[Operator]:
    """Return the class of the operator called `name`, or at that path."""
    operator, _ = plugins.resolve(OPERATORS, Operator, "operator", {"operator": name})
    return operator


def new_records(
    block: pa.Table,
    operator: Operator,
    copies: Sequence[int],
    changed: Mapping[str, Texts],
    *,
    others: Sequence[str] | None = None,
    rows: Sequence[int] | np.ndarray | None = None,
    ids: Sequence[str] | None = None,
    counts: Mapping[str, int] = {},
    made_from: Sequence[str] = (),
    made_of: Mapping[str, pa.Array | pa.ChunkedArray] | None = None,
) -> OperatorOutput:
    """Return new records, whose `changed` columns are new; ids, origin and lineage name parents.

    `block` has the corpus's own columns, and `rows` (default: each once) the row of every new
    record's parent. `copies` are the numbers of the new records among those of their parents,
    `others` the ids of second parents, `ids` those of the parents where they are not the block's.
    `counts`, `made_from` and `made_of` (default: the parents' sentences) are those of the output.
    """
    parents = block if rows is None else block.take(pa.array(rows, pa.int64()))
    names = parents.column("id").to_pylist() if ids is None else ids
    origin, made_by = operator.name(), address(operator)
    parents_of = zip(*([names] if others is None else [names, others]), strict=True)
    values = {name: parents.column(name) for name in parents.column_names} | dict(changed)
    values |= {
        "id": [f"{name}/{origin}-{copy}" for name, copy in zip(names, copies, strict=True)],
        "origin": [origin] * len(names),
        "lineage": [
            {"parents": of_record, "operator": made_by, "copy": copy}
            for of_record, copy in zip(parents_of, copies, strict=True)
        ],
    }
    columns = [_column(values[field.name], field.type) for field in block.schema]
    table = pa.table(columns, schema=block.schema)
    if made_of is None:
        made_of = {name: parents.column(name) for name in sentence_columns([*changed])}
    return OperatorOutput(table, counts, made_from, made_of)


def new_view(block: pa.Table, texts: Mapping[str, Texts]) -> OperatorOutput:
    """Return a view of a block's records, given the texts of the columns that it renders anew."""
    columns = [_column(column, pa.string()) for column in texts.values()]
    names = [*texts] if len(texts) > 1 else ["text"]
    made_of = dict(zip(names, map(block.column, texts), strict=True))
    return OperatorOutput(pa.table([block.column("id"), *columns], ["id", *names]), {}, (), made_of)


def _column(values: Any, dtype: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, dtype)


def language_column(columns: Sequence[str]) -> str:
    """Return the column with the language of the texts that a system reads."""
    return "source_language" if "source_language" in columns else "language"

"""The contract of an operator: typed parameters, what it learns from the training split, a pure function of a block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from augury.core import config, plugins
from augury.core.citations import Paper
from augury.core.config import Section, validate
from augury.core.errors import UserError, unknown
from augury.core.plugins import Extension, Registry
from augury.core.store import Store
from augury.corpora.corpus import LINEAGE, Corpus
from augury.decoding.checkpoint import Languages

if TYPE_CHECKING:
    import numpy as np

    from augury.core.execution import Execution
    from augury.corpora.splits import BaseSpec
    from augury.decoding.settings import Sampler, Translator

VIEW, RECORDS, DRAW = "view", "records", "draw"
REJECTED = "rejected, "
"""Before the reason, in counts of what might have become a record."""
OPERATORS = Registry(
    "operator",
    package="augury.augment",
    attribute="OPERATOR",
    contract="set OPERATOR to a subclass of augury.augment.operator.Operator",
)


class OperatorOutput(NamedTuple):
    """What a part makes of a block.

    `table` is, for a view, the ids and texts (`text`, or `premise` and `hypothesis`) of the block's records in their
    order; for records, rows in the corpus's own columns. `counts` says what became of how many, by a word each; the
    person watching is told where most of the rows are `unchanged ...`. `made_from` names folders of the store that an
    operator of whole corpora has made on the way, such as translations, whose manifests say what they cost.
    """

    table: pa.Table
    counts: Mapping[str, int] = {}
    made_from: Sequence[str] = ()


BlockFunction = Callable[[pa.Table], OperatorOutput]


class TrainedModel(Protocol):
    """A trained model that an operator works with, loaded where it is used; `name` identifies it in addresses."""

    @property
    def name(self) -> str: ...

    @property
    def on_gpu(self) -> bool:
        """Whether it translates on a GPU where there is one."""

    def sampler(self, store: Store) -> Sampler:
        """Return the model as a function that writes text, loaded once."""

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the model as a function that translates text, loaded once; on a CPU with so many threads."""

    def probabilities(self, store: Store, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        """Return the probability of every label, (pairs, labels)."""


class ReadyModel(Section):
    """A model that has been trained: a run of Augury, or a checkpoint of `transformers`."""

    run: str | None = None
    """The folder of a run's seed, as `augury train` prints it."""
    checkpoint: str | None = None
    """Directory that `save_pretrained` wrote, or name on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    source_language: str | None = None
    """Of a checkpoint that translates between many languages: what it reads, as its tokenizer calls it (`fra_Latn`)."""
    target_language: str | None = None
    """What it writes."""

    @property
    def languages(self) -> Languages | None:
        """The languages, where they are given."""
        if self.source_language is None or self.target_language is None:
            return None
        return Languages(self.source_language, self.target_language)

    @model_validator(mode="after")
    def _either(self) -> ReadyModel:
        if (self.run is None) == (self.checkpoint is None):
            raise UserError("a trained model is a run or a checkpoint: give one of the two")
        languages = [self.source_language, self.target_language]
        if self.run is not None and languages != [None, None]:
            raise UserError("a run knows its languages: leave out source_language and target_language beside it")
        if languages.count(None) == 1:
            raise UserError("a checkpoint of many languages needs source_language and target_language: give both")
        return self

    @model_serializer(mode="wrap")
    def _where_used(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Without languages a model is written as ever.
        return {name: value for name, value in handler(self).items() if value or "language" not in name}


class Operator(Extension):
    """Parameters of an operator, which are also its flags on the command line.

    An operator learns from the training split, and then each of its parts maps a block of records to one view of every
    record, which keeps the record's id and label, or to records of its own, which name their parents. Nothing may
    depend on the size of a block or on other blocks, but for an operator of whole corpora (`CorpusOperator`). A draw
    (`augment.draw`) stores nothing: it changes token ids anew in every pass.
    """

    operator: str
    """The name of the operator, or the path of a file that holds it."""

    VERSION: ClassVar[int] = 1
    """Raised when the same parameters come to give another text: part of every address."""
    PER_SECOND: ClassVar[float] = 500_000
    """Records that one core makes in a second, for the choice of the executor."""
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target")
    """The columns of a block, unless `reads` says otherwise; the rest would double the time that reading takes."""
    LEARNED: ClassVar[frozenset[str]] = frozenset()
    """Parameters that act through what is fitted or through models alone, which an address has by their content."""
    BLOCK_ROWS: ClassVar[int | None] = None
    """The most records of a block, where they are so dear that a whole shard is too much for one task."""
    REMEDY: ClassVar[str] = ""
    """What to do where it leaves most texts as they are."""
    SEARCHES: ClassVar[bool] = False
    """Whether `bind` is given the training split too, where records are made of others that they are like."""
    EXAMPLE: ClassVar[str] = ""
    """Parameters (YAML) to try an operator with on the experiment `EXAMPLE_FILE`, as its help shows them."""
    EXAMPLE_FILE: ClassVar[str] = "nli_toy.yaml"

    def papers(self) -> tuple[Paper, ...]:
        """Return the papers that the operator comes from."""
        return ()

    def parts(self) -> Sequence[Operator]:
        """The operators that this one consists of, each of which makes one thing; each has its own address."""
        return [self]

    def name(self) -> str:
        """The name of a part's view, or the origin of its records."""
        return self.operator

    def makes(self) -> Literal["view", "records", "draw"]:
        """Whether a part makes a view, records, or a draw from token ids (`TokenDraw`)."""
        return "view"

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of a block, of those that records have."""
        return self.READS

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        """Return the models, by role, that the operator works with: trained ones, or experiments that train them.

        `experiment` has the sections of the plain baseline of the experiment that the operator stands in, as they were
        given. What has no `seeds` has seed 1; what has several gives a model for each, `<role>-<seed>`.
        """
        return {}

    def texts(self) -> Mapping[str, BaseSpec]:
        """Return the further texts that the operator reads, each as the split `train` of a corpus, by a word each."""
        return {}

    @property
    def works_with_models(self) -> bool:
        """Whether the operator works with trained models."""
        return type(self).models is not Operator.models

    def check_model(self, role: str, views: Sequence[str]) -> None:
        """UserError where a model that reads these views of a text, of an experiment or a ready one, fits no role."""

    def most_records(self) -> int:
        """Return the most records that are made of one."""
        return int(getattr(self, "copies", 1))

    def records_made(self, parents: float, texts: Mapping[str, int]) -> float:
        """Return about how many records are made of so many, given the rows of further texts, for estimates."""
        return self.most_records() * parents

    def fit_parameters(self) -> dict[str, Any]:
        """The parameters that decide what is learned; parts that agree in them share one fit."""
        return {}

    def fit_block(self, block: pa.Table) -> Any:
        """What one block of the training split tells; an operator without this method does not read the split."""
        return None

    def fit(self, results: Sequence[Any]) -> dict[str, Any]:
        """Side data (JSON) from what all blocks told, in order."""
        return {}

    def check_fitted(self, fitted: Mapping[str, Any]) -> None:
        """UserError where the parameters do not go with what was learned."""

    @abstractmethod
    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        """The function from a block to what is made of it.

        `fitted` is what `fit` gave, under `models` the trained models that it works with, by role, and for an operator
        that `SEARCHES` under `corpus` the training split (`Corpus`). It is bound once in every process.
        """

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return what the counts of all blocks come to, in per cent, by what people call it."""
        return {}

    def canonical(self, fitted: Mapping[str, Any]) -> Operator:
        """The same operator, parameters that make equal text written in one way."""
        return self

    def check(self, columns: Sequence[str]) -> None:
        """UserError where records have not the columns that the operator reads."""
        wanted = self.reads(columns)
        lacking = [column for column in wanted if column not in columns]
        if lacking:
            raise UserError(
                f"operator {self.operator} reads {', '.join(wanted)}, and these records have no "
                f"{', '.join(lacking)}: it belongs to experiments of another task"
            )

    def check_names(self, names: Sequence[str]) -> None:
        """UserError where it works on a training text that is not among these; one text alone has no name."""

    def selected(self, block: pa.Table) -> pa.Table:
        """Return the records of a block, of all columns, that records are made of."""
        return block

    def check_text(self, beginning: pa.Table) -> None:
        """UserError where the text of records, of which these are the first, is nothing to work on."""

    def address(self) -> str:
        """The name of the operator with its parameters, for the lineage of what it makes."""
        return config.address({"version": self.VERSION, **self.to_dict()})


class TextSubsetOperator(Operator):
    """Parameters of an operator that can make records of some of the training texts alone."""

    of: tuple[str, ...] = ()
    """Names of the training texts that records are made of, where there are several; none: all."""

    @model_validator(mode="after")
    def _of_records(self) -> TextSubsetOperator:
        if self.of and self.makes() != RECORDS:
            raise UserError(f"operator {self.operator}: views are of all texts: leave out of, or take use: records")
        return self

    @model_serializer(mode="wrap")
    def _where_used(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # An operator of all texts is written, and addressed, as ever.
        return {name: value for name, value in handler(self).items() if value or name != "of"}

    def check_names(self, names: Sequence[str]) -> None:
        for name in self.of:
            if name not in names:
                raise UserError(f"operator {self.operator}, of: {unknown('training text', name, names)}")

    def selected(self, block: pa.Table) -> pa.Table:
        return block.filter(pc.is_in(block.column("origin"), pa.array(self.of))) if self.of else block


class CorpusOperator(Operator):
    """An operator whose records are made of a whole corpus, as where models translate it and repeats are left out."""

    @abstractmethod
    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        """Yield records, a table for each shard; `fitted` is as for `bind`.

        What takes long is kept in the store as it is done: a maker that was killed begins anew.
        """

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        raise AssertionError("records are made of the whole corpus, by make")


def derive_records(
    parents: pa.Table,
    operator: Operator,
    copies: Sequence[int],
    others: Sequence[str] | None = None,
    **changed: pa.Array,
) -> pa.Table:
    """Records made from `parents`, row by row: `changed` columns are new, ids, origin and lineage tell where from.

    `parents` has the corpus's own columns and a row for every child, `copies` the number of each child among those of
    its parent, `others` the id of a second parent.
    """
    origin, address = operator.name(), operator.address()
    ids = parents.column("id").to_pylist()
    sides = [ids] if others is None else [ids, others]
    columns = {
        **{name: parents.column(name) for name in parents.column_names},
        **changed,
        "id": pa.array([f"{parent}/{origin}-{copy}" for parent, copy in zip(ids, copies, strict=True)], pa.string()),
        "origin": pa.array([origin] * len(ids), pa.string()),
        "lineage": pa.array(
            [
                {"parents": parents_of, "operator": address, "copy": copy}
                for parents_of, copy in zip(zip(*sides, strict=True), copies, strict=True)
            ],
            LINEAGE,
        ),
    }
    return pa.table(columns, schema=parents.schema)


def view_table(block: pa.Table, texts: Mapping[str, pa.Array]) -> pa.Table:
    """Return a view of a block's records, given the texts of the columns that it renders anew."""
    (single_column,) = texts.values() if len(texts) == 1 else (None,)
    return pa.table({"id": block.column("id"), **(texts if single_column is None else {"text": single_column})})


def plural(column: str) -> str:
    """Return what several texts of a column are called."""
    return {"hypothesis": "hypotheses"}.get(column, f"{column}s")


def parse(value: Any) -> Operator:
    """The operator that `{operator: ..., parameters}` describes; UserError names the nearest known one."""
    if isinstance(value, Operator):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("operator"), str):
        raise UserError(f"an item of augment is 'operator: ...' and its parameters; allowed: {', '.join(names())}")
    operator, settings = plugins.resolve(OPERATORS, Operator, "operator", value)
    return validate(operator, settings, f"operator {settings['operator']}")


def schema(name: str) -> type[Operator]:
    """Return the class of the operator called `name`, or at that path."""
    operator, _ = plugins.resolve(OPERATORS, Operator, "operator", {"operator": name})
    return operator


def names() -> list[str]:
    """Return the names of the operators there are."""
    return OPERATORS.names()

"""The contract of an operator, what only some operators do, and their lookup: `cipher` is
`augury.augment.cipher`, or a path."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, PrivateAttr, model_validator

from augury.core import config, plugins
from augury.core.citations import Paper
from augury.core.config import ModelName, RunPath, Section, validate
from augury.core.errors import UserError, unknown
from augury.core.plugins import Extension, Registry
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import LABELS, Corpus, input_columns

if TYPE_CHECKING:
    import numpy as np

    from augury.core.execution import Execution
    from augury.corpora.spec import BaseSpec
    from augury.decoding.checkpoint import Languages
    from augury.decoding.settings import Sampler, Translator


OperatorClass = TypeVar("OperatorClass", bound="type[Operator]")
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


class Rate(NamedTuple):
    """The rate of a kind of edit, as set and as realised, and how many places could be edited."""

    asked: float
    realised: float
    places: int


class MadeOf(NamedTuple):
    """The texts that a column of new records was made from, row by row, and their column in the
    training text."""

    texts: pa.Array
    column: str


class OperatorOutput(NamedTuple):
    """The view or the records that an operator makes from a block.

    `table`: for a view, the ids and texts (`text`, or `premise` and `hypothesis`) of the block's
    records in their order; for records, rows in the corpus's own columns. `counts`: outcome ->
    number of texts; the user is warned where most of the rows are `unchanged ...`. `made_from`:
    folders of the store that an operator of whole corpora has written on the way, such as
    translations, whose manifests hold their cost. `made_of`: the new columns of its records and
    what they were made from; of other operators it is known from the block.
    """

    table: pa.Table
    counts: Mapping[str, int] = {}
    made_from: Sequence[str] = ()
    made_of: Mapping[str, MadeOf] = {}


BlockFunction: TypeAlias = "Callable[[pa.Table], OperatorOutput]"


class Operator(Extension):
    """Parameters of an operator, which are also its flags on the command line.

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
    PER_SECOND: ClassVar[float] = 500_000
    """Records that one core makes in a second; decides which executor is used, and the size of
    blocks."""
    BLOCK_ROWS: ClassVar[int | None] = None
    """The maximum number of records in a block, where it is not to follow from the speed."""
    NORMAL: ClassVar[frozenset[str]] = frozenset()
    """The measures of `augment.health`, such as `yield`, of which any value is normal."""
    PAPERS: ClassVar[tuple[Paper, ...]] = ()
    """The papers that the operator comes from."""
    REMEDY: ClassVar[str] = ""
    """Advice that is printed where the operator leaves most texts unchanged."""
    EXAMPLE: ClassVar[str] = ""
    """Parameters (YAML) to try the operator with, as its help shows them."""
    EXAMPLE_FILE: ClassVar[str] = "nli_toy.yaml"
    """The experiment to try it on."""

    def parts(self) -> Sequence[Operator]:
        """Return the operators that this one consists of, one per view or set of records."""
        return [self]

    def name(self) -> str:
        """Return the name of a part's view, or the origin of its records."""
        return self.operator

    def makes(self) -> Literal["view", "records", "draw"]:
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

        `fitted` has what the operator learned (`Fitted`), its models by role under `models`
        (`UsesModels`) and the training split under `corpus` (`ExtraInputs`).
        """

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Raise UserError for a class with a name of a mixin that it does not inherit from."""
        super().__pydantic_init_subclass__(**options)
        for owner in MIXINS:
            own = [name for name in vars(owner) if name[0] != "_" and not hasattr(Operator, name)]
            defined = [name for name in own if hasattr(cls, name)]
            if defined and not issubclass(cls, owner):
                raise UserError(
                    f"operator {cls.__name__} defines {defined[0]}, which has an effect in "
                    f"subclasses of {owner.__name__} alone: let it inherit from "
                    f"{owner.__module__}.{owner.__name__}"
                )


MIXINS: list[type[Operator]] = []


def mixin(base: OperatorClass) -> OperatorClass:
    """Register a base class whose public names have no effect in other operators."""
    MIXINS.append(base)
    return base


@mixin
class Fitted(Operator):
    """An operator that learns from the training split."""

    FIT_PER_SECOND: ClassVar[float] = 100_000
    """Records that one core learns from in a second."""

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

    def canonical(self, fitted: Mapping[str, Any]) -> Operator:
        """Return the operator with parameters of equal effect written in one way."""
        return self


@mixin
class UsesModels(Operator):
    """An operator that uses trained models."""

    @abstractmethod
    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        """Return the models by role: ready ones, or experiments that train them.

        `experiment` has the sections of the plain baseline of the operator's experiment, as the
        user wrote them. An experiment without `seeds` is trained with seed 1; one with several
        gives a model per seed, `<role>-<seed>`.
        """

    def check_model(self, role: str, views: Sequence[str]) -> None:
        """Raise UserError where the model of a role cannot read a view that is needed."""


@mixin
class ExtraInputs(Operator):
    """An operator that reads more than the block that it is given."""

    SEARCHES: ClassVar[bool] = False
    """Whether `bind` receives the training split (`Corpus`) under `corpus`."""

    def texts(self) -> Mapping[str, BaseSpec]:
        """Return additional texts: name -> the corpus whose split `train` it is."""
        return {}

    def files(self) -> Sequence[str]:
        """Return the files that it reads besides texts."""
        return ()


@mixin
class MakesRecords(Operator):
    """An operator that makes new records."""

    LOST: ClassVar[tuple[str, ...]] = (REJECTED,)
    """The prefixes of counts of texts that became no record."""

    def makes(self) -> Literal["view", "records", "draw"]:
        return "records"

    def max_records(self) -> int:
        """Return the maximum number of records that are made from one."""
        return int(getattr(self, "copies", 1))

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        """Estimate the number of records from `parents` ones and the rows of additional texts."""
        return self.max_records() * parents

    def lost(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return how many texts became no record, by reason."""
        return {
            name.removeprefix(REJECTED): count
            for name, count in counts.items()
            if name.startswith(self.LOST)
        }


@mixin
class Measured(Operator):
    """An operator with measures of its own output, computed from the counts of all blocks."""

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return metrics: name -> per cent."""
        return {}

    def realised(self, counts: Mapping[str, int], fitted: Mapping[str, Any]) -> dict[str, Rate]:
        """Return the rates of edits, as configured and as realised."""
        return {}


@mixin
class TextSubset(Operator):
    """An operator whose records can be restricted to some of the training texts."""

    of: tuple[str, ...] = ()
    """Names of the training texts that records are made of, where there are several; by default
    all."""

    @model_validator(mode="after")
    def _of_records(self) -> TextSubset:
        if self.of and self.makes() != RECORDS:
            raise UserError(
                f"operator {self.operator}: views are of all texts: leave out of, or take use: "
                "records"
            )
        return self

    def check_names(self, names: Sequence[str]) -> None:
        """Raise UserError where `of` is not among the names of training texts."""
        for name in self.of:
            if name not in names:
                raise UserError(
                    f"operator {self.operator}, of: {unknown('training text', name, names)}"
                )

    def select(self, block: pa.Table) -> pa.Table:
        """Return the records of a block, with all columns, that the operator is applied to."""
        if not self.of:
            return block
        return block.filter(pc.is_in(block.column("origin"), pa.array(self.of)))


@mixin
class CorpusOperator(MakesRecords):
    """An operator that makes records of a whole corpus at once, for example by translating it."""

    @abstractmethod
    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        """Yield the records shard by shard; `fitted` is as for `bind`.

        Slow intermediate results belong in the store: a process that was killed starts over.
        """

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        raise AssertionError("records are made of the whole corpus, by make")


class Row(NamedTuple):
    """The texts of a record, of which a copy is to be made."""

    id: str
    texts: Mapping[str, str]
    """The texts that a system reads, by column."""
    language: str
    copy: int
    """The number of the copy, from 1."""


Rewrite: TypeAlias = "Callable[[Row, Counter[str]], Sequence[str]]"


class Copies(MakesRecords):
    """An operator that rewrites the texts that a system reads, in numbered copies of records; label
    and target stay."""

    copies: int = Field(1, ge=1, le=1000)
    """Copies of every record, each changed anew."""
    use: Literal["records", "view"] = "records"
    """records: new examples in addition to the originals; view: every copy is a view of the
    example, called by the operator and its number."""
    seed: int = 1
    """Seed of the random choices."""

    _copy: int | None = PrivateAttr(None)
    """The number of the only copy, of a part that makes a view."""

    @abstractmethod
    def rewriter(self, fitted: Mapping[str, Any]) -> Rewrite:
        """Return the function from a row to its new texts, which may count outcomes; called once in
        every process, with what the operator has learned."""

    def makes(self) -> Literal["view", "records"]:
        return self.use

    def parts(self) -> Sequence[Copies]:
        if self.use == RECORDS or self._copy:
            return [self]
        parts = []
        for number in range(1, self.copies + 1):
            part = self.model_copy(update={"copies": 1})
            part._copy = number
            parts.append(part)
        return parts

    def name(self) -> str:
        return f"{self.operator}-{self._copy}" if self._copy else self.operator

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | ({"copy_number": self._copy} if self._copy else {})

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        inputs = input_columns(columns) or ("premise", "hypothesis")
        return ("id", *inputs, language_column(columns))

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        rewrite = self.rewriter(fitted)
        numbers = [self._copy] if self._copy else [*range(1, self.copies + 1)]

        def apply(block: pa.Table) -> OperatorOutput:
            sides, counts = input_columns(block.column_names), Counter[str]()
            ids, *texts = (block.column(name).to_pylist() for name in ("id", *sides))
            language = language_column(block.column_names)
            reads_language = language in self.reads(block.column_names)
            languages = block.column(language).to_pylist() if reads_language else [""] * len(block)
            rewritten: list[list[str]] = [[] for _ in sides]
            for name, of_record, *old in zip(ids, languages, *texts, strict=True):
                for number in numbers:
                    row = Row(name, dict(zip(sides, old, strict=True)), of_record, number)
                    new = rewrite(row, counts)
                    for side, column, before, after in zip(sides, rewritten, old, new, strict=True):
                        counts[f"unchanged {plural(side)}"] += before.split() == after.split()
                        column.append(after)
            columns = {
                side: pa.array(column, pa.string())
                for side, column in zip(sides, rewritten, strict=True)
            }
            if self.use == VIEW:
                return OperatorOutput(view_table(block, columns), counts)
            parents = block.take(np.repeat(np.arange(len(block)), len(numbers)))
            records = derive_records(parents, self, numbers * len(block), **columns)
            return OperatorOutput(records, counts)

        return apply


class TextOperator(Copies):
    """The simplest operator: it rewrites one text at a time, for every task."""

    use: Literal["records", "view"] = "view"
    """view: another rendering of the example; records: new examples in addition to the
    originals."""

    @abstractmethod
    def rewrite(self, text: str, rng: np.random.Generator) -> str:
        """Return a text anew; the random numbers are those of its record, column and copy."""

    def rewriter(self, fitted: Mapping[str, Any]) -> Rewrite:
        base = TextOperator.model_fields
        own = {
            name: value for name, value in self.model_dump(mode="json").items() if name not in base
        }
        own.pop(plugins.FILE, None)

        def rewrite(row: Row, counts: Counter[str]) -> list[str]:
            return [
                self.rewrite(text, generator(self.seed, self.operator, own, row.id, side, row.copy))
                for side, text in row.texts.items()
            ]

        return rewrite

    def name(self) -> str:
        return super().name() if self._copy != 1 else self.operator

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
            f"{', '.join(names())}"
        )
    operator, settings = plugins.resolve(OPERATORS, Operator, "operator", value)
    return validate(operator, settings, f"operator {settings['operator']}")


def schema(name: str) -> type[Operator]:
    """Return the class of the operator called `name`, or at that path."""
    operator, _ = plugins.resolve(OPERATORS, Operator, "operator", {"operator": name})
    return operator


def names() -> list[str]:
    """Return the names of all operators."""
    return OPERATORS.names()


def derive_records(
    parents: pa.Table,
    operator: Operator,
    copies: Sequence[int],
    others: Sequence[str] | None = None,
    **changed: pa.Array,
) -> pa.Table:
    """Return records made from `parents`, row by row: `changed` columns are new.

    Ids, origin and lineage name parents.

    `parents` has the corpus's own columns and a row for every new record, `copies` the number of
    each new record among those of its parent, `others` the ids of second parents.
    """
    origin, made_by = operator.name(), address(operator)
    ids = parents.column("id").to_pylist()
    sides = [ids] if others is None else [ids, others]
    columns = {
        **{name: parents.column(name) for name in parents.column_names},
        **changed,
        "id": pa.array(
            [f"{parent}/{origin}-{copy}" for parent, copy in zip(ids, copies, strict=True)],
            pa.string(),
        ),
        "origin": pa.array([origin] * len(ids), pa.string()),
        "lineage": pa.array(
            [
                {"parents": parents_of, "operator": made_by, "copy": copy}
                for parents_of, copy in zip(zip(*sides, strict=True), copies, strict=True)
            ],
            parents.schema.field("lineage").type,
        ),
    }
    return pa.table(columns, schema=parents.schema)


def view_table(block: pa.Table, texts: Mapping[str, pa.Array]) -> pa.Table:
    """Return a view of a block's records, given the texts of the columns that it renders anew."""
    (single_column,) = texts.values() if len(texts) == 1 else (None,)
    return pa.table(
        {"id": block.column("id"), **(texts if single_column is None else {"text": single_column})}
    )


def plural(column: str) -> str:
    """Return the plural of the name of a column."""
    return {"hypothesis": "hypotheses"}.get(column, f"{column}s")


def language_column(columns: Sequence[str]) -> str:
    """Return the column with the language of the texts that a system reads."""
    return "source_language" if "source_language" in columns else "language"


class TextModel(Protocol):
    """A model from text to text that an operator uses, loaded where it is used; `name`
    identifies it in addresses."""

    @property
    def name(self) -> str: ...

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU where there is one."""

    def sampler(self, store: Store, whole: bool = False) -> Sampler:
        """Return the model as a function that draws text, loaded once.

        A text that is too long for the model may be cut unless it is to be read `whole`, and then
        has no output.
        """

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the model as a function that translates text, loaded once; `threads` are those
        on a CPU."""


class TrainedModel(TextModel, Protocol):
    """A trained model of any task that an operator uses."""

    def probabilities(
        self, store: Store, *columns: Sequence[str], labels: Sequence[str] = LABELS
    ) -> np.ndarray:
        """Return the probabilities of `labels`, (rows, labels), given the columns of sentences.

        UserError for a model that does not know one of them.
        """


class ReadyModel(Section):
    """A model that has been trained: a run of Augury, or a checkpoint of `transformers`."""

    run: RunPath | None = None
    """The folder of a run's seed, as `augury train` prints it."""
    checkpoint: ModelName | None = None
    """Directory that `save_pretrained` wrote, or name on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""
    allow_pickle: bool = False
    """Read weights of a checkpoint from pickle files too, which can run code, where it has no
    safetensors."""
    source_language: str | None = None
    """Source language of a checkpoint for many languages, as its tokenizer calls it
    (`fra_Latn`)."""
    target_language: str | None = None
    """Target language of such a checkpoint."""

    @property
    def languages(self) -> Languages | None:
        """The languages, where they are given."""
        if self.source_language is None or self.target_language is None:
            return None
        from augury.decoding.checkpoint import Languages

        return Languages(self.source_language, self.target_language)

    @model_validator(mode="after")
    def _either(self) -> ReadyModel:
        if (self.run is None) == (self.checkpoint is None):
            raise UserError("a trained model is a run or a checkpoint: give one of the two")
        languages = [self.source_language, self.target_language]
        if self.run is not None and languages != [None, None]:
            raise UserError(
                "a run knows its languages: leave out source_language and target_language"
            )
        if languages.count(None) == 1:
            raise UserError(
                "a checkpoint of many languages needs source_language and target_language: give "
                "both"
            )
        return self

"""The contract of an operator, and its lookup: `cipher` is `augury.augment.cipher`, or a path.

What only some operators do (learn, use models, make records, search) is in `mixins`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

import pyarrow as pa

from augury.core import config, plugins
from augury.core.citations import Paper
from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.plugins import Extension, Registry
from augury.core.store import Store

OperatorClass = TypeVar("OperatorClass", bound="type[Operator]")
VIEW, RECORDS, DRAW = "view", "records", "draw"
OF_ANOTHER_TASK = "for experiments of another task"
OPERATORS = Registry(
    "operator",
    package="augury.augment",
    attribute="OPERATOR",
    contract="set OPERATOR to a subclass of augury.augment.operator.Operator",
)


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
        (`UsesModels`) and the training split under `corpus` (`Searches`).
        """

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Raise UserError for a class with a name of a mixin that it does not inherit from."""
        super().__pydantic_init_subclass__(**options)
        for owner in _MIXINS:
            own = [name for name in vars(owner) if name[0] != "_" and not hasattr(Operator, name)]
            defined = [name for name in own if hasattr(cls, name)]
            if defined and not issubclass(cls, owner):
                raise UserError(
                    f"operator {cls.__name__} defines {defined[0]}, which has an effect in "
                    f"subclasses of {owner.__name__} alone: let it inherit from "
                    f"{owner.__module__}.{owner.__name__}"
                )


_MIXINS: list[type[Operator]] = []


def mixin(base: OperatorClass) -> OperatorClass:
    """Register a base class whose public names have no effect in other operators."""
    _MIXINS.append(base)
    return base


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

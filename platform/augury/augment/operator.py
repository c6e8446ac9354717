"""The contract of an operator: typed parameters, what it learns from the training split, a pure
function of a block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from augury.augment.health import Rate
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
"""The prefix of reasons in `counts` for which a candidate became no record."""
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


BlockFunction = Callable[[pa.Table], OperatorOutput]


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
        self, store: Store, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> np.ndarray:
        """Return the probability of every label, (pairs, labels)."""


class ReadyModel(Section):
    """A model that has been trained: a run of Augury, or a checkpoint of `transformers`."""

    run: str | None = None
    """The folder of a run's seed, as `augury train` prints it."""
    checkpoint: str | None = None
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

    @model_serializer(mode="wrap")
    def _where_used(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Settings without effect are left out of the serialised form, and so of the address.
        omitted = ("source_language", "target_language", "allow_pickle")
        return {
            name: value for name, value in handler(self).items() if value or name not in omitted
        }


class Operator(Extension):
    """Parameters of an operator, which are also its flags on the command line.

    An operator learns from the training split, and then each of its parts maps a block of records
    to one view of every record, which keeps the record's id and label, or to records of its own,
    which name their parents. Nothing may depend on the size of a block or on other blocks, but for
    an operator of whole corpora (`CorpusOperator`). A draw (`augment.draw`) stores nothing: it
    changes token ids anew in every pass.
    """

    operator: str
    """The name of the operator, or the path of a file that holds it."""

    VERSION: ClassVar[int] = 1
    """Raised when the output for the same parameters changes; part of every address."""
    PER_SECOND: ClassVar[float] = 500_000
    """Records that one core makes in a second; decides which executor is used."""
    READS: ClassVar[tuple[str, ...]] = ("id", "source", "target")
    """The columns of a block, unless `reads` says otherwise.

    The rest would double the time that reading takes.
    """
    LEARNED: ClassVar[frozenset[str]] = frozenset()
    """Parameters that act only through fitted data or models, whose content is in the address in
    their place."""
    BLOCK_ROWS: ClassVar[int | None] = None
    """The maximum number of records in a block, for operators so slow that a whole shard is too
    much for one task."""
    REMEDY: ClassVar[str] = ""
    """Advice that is printed where the operator leaves most texts unchanged."""
    LOST: ClassVar[tuple[str, ...]] = (REJECTED,)
    """How the names of those counts begin that are of texts which became no record."""
    NORMAL: ClassVar[frozenset[str]] = frozenset()
    """The measures of `augment.health`, `yield` or `copied`, of which any value is normal."""
    SEARCHES: ClassVar[bool] = False
    """Whether `bind` also receives the training split, as where records are made from similar
    ones."""
    EXAMPLE: ClassVar[str] = ""
    """Parameters (YAML) to try an operator with on the experiment `EXAMPLE_FILE`, as its help
    shows them."""
    EXAMPLE_FILE: ClassVar[str] = "nli_toy.yaml"

    def papers(self) -> tuple[Paper, ...]:
        """Return the papers that the operator comes from."""
        return ()

    def parts(self) -> Sequence[Operator]:
        """Return the operators that this one consists of, one per view or set of records, each
        with its own address."""
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

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        """Return the models, by role, that the operator uses: trained ones, or experiments that
        train them.

        `experiment` has the sections of the plain baseline of the operator's experiment, as the
        user wrote them. An experiment without `seeds` is trained with seed 1; one with several
        gives a model per seed, `<role>-<seed>`.
        """
        return {}

    def files(self) -> Sequence[str]:
        """Return the files that it reads besides texts."""
        return ()

    def texts(self) -> Mapping[str, BaseSpec]:
        """Return the additional texts that the operator reads: name -> the corpus whose split
        `train` it is."""
        return {}

    @property
    def works_with_models(self) -> bool:
        """Whether the operator uses trained models."""
        return type(self).models is not Operator.models

    def check_model(self, role: str, views: Sequence[str]) -> None:
        """Raise UserError where the model of a role, which can read these views, lacks one that
        the operator needs."""

    def max_records(self) -> int:
        """Return the maximum number of records that are made from one."""
        return int(getattr(self, "copies", 1))

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        """Estimate the number of records made from `parents` records, given the rows of
        additional texts."""
        return self.max_records() * parents

    def fit_parameters(self) -> dict[str, Any]:
        """Return the parameters that decide what is learned; parts with equal ones share a fit."""
        return {}

    def fit_block(self, block: pa.Table) -> Any:
        """Return the statistics of a block of the training split.

        Without this method the split is not read.
        """
        return None

    def fit(self, results: Sequence[Any]) -> dict[str, Any]:
        """Return side data (JSON) from the statistics of all blocks, in order."""
        return {}

    def check_fitted(self, fitted: Mapping[str, Any]) -> None:
        """Raise UserError where the parameters do not fit what was learned."""

    @abstractmethod
    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        """Return the function from a block to its view or records; called once in every process.

        `fitted` is the side data of `fit`, with the trained models by role under `models` and, for
        an operator that `SEARCHES`, the training split (`Corpus`) under `corpus`.
        """

    def measures(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return metrics computed from the counts of all blocks: name -> per cent."""
        return {}

    def realised(self, counts: Mapping[str, int], fitted: Mapping[str, Any]) -> dict[str, Rate]:
        """Return the rates of edits, as asked for and as realised, given the counts of all
        blocks and the side data."""
        return {}

    def lost(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return how many texts became no record, by reason."""
        return {
            name.removeprefix(REJECTED): count
            for name, count in counts.items()
            if name.startswith(self.LOST)
        }

    def canonical(self, fitted: Mapping[str, Any]) -> Operator:
        """Return an equal operator in which parameters that make equal text are written in one
        way."""
        return self

    def check(self, columns: Sequence[str]) -> None:
        """Raise UserError where records lack columns that the operator reads."""
        needed = self.reads(columns)
        lacking = [column for column in needed if column not in columns]
        if lacking:
            raise UserError(
                f"operator {self.operator} reads {', '.join(needed)}, and these records have no "
                f"{', '.join(lacking)}: it belongs to experiments of another task"
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Raise UserError where the operator names a training text that is not in `names`.

        A single one has no name.
        """

    def select(self, block: pa.Table) -> pa.Table:
        """Return the records of a block, with all columns, that the operator is applied to."""
        return block

    def check_text(self, beginning: pa.Table) -> None:
        """Raise UserError where the operator cannot work on a text; `beginning` holds its first
        records."""

    def address(self) -> str:
        """Return the hash of the operator with its parameters, as the lineage of records has it."""
        return config.address({"version": self.VERSION, **self.to_dict()})


class TextSubsetOperator(Operator):
    """Parameters of an operator whose records can be restricted to some of the training texts."""

    of: tuple[str, ...] = ()
    """Names of the training texts that records are made of, where there are several; none: all."""

    OMITTED: ClassVar[frozenset[str]] = frozenset({"of"})

    @model_validator(mode="after")
    def _of_records(self) -> TextSubsetOperator:
        if self.of and self.makes() != RECORDS:
            raise UserError(
                f"operator {self.operator}: views are of all texts: leave out of, or take use: "
                "records"
            )
        return self

    def check_names(self, names: Sequence[str]) -> None:
        for name in self.of:
            if name not in names:
                raise UserError(
                    f"operator {self.operator}, of: {unknown('training text', name, names)}"
                )

    def select(self, block: pa.Table) -> pa.Table:
        return (
            block.filter(pc.is_in(block.column("origin"), pa.array(self.of))) if self.of else block
        )


class CorpusOperator(Operator):
    """An operator that processes a whole corpus at once, for example to translate it and leave
    out duplicates."""

    @abstractmethod
    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        """Yield the records shard by shard; `fitted` is as for `bind`.

        Slow intermediate results belong in the store: a process that was killed starts over.
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
    """Return records made from `parents`, row by row: `changed` columns are new.

    Ids, origin and lineage name parents.

    `parents` has the corpus's own columns and a row for every new record, `copies` the number of
    each new record among those of its parent, `others` the ids of second parents.
    """
    origin, address = operator.name(), operator.address()
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
    return pa.table(
        {"id": block.column("id"), **(texts if single_column is None else {"text": single_column})}
    )


def plural(column: str) -> str:
    """Return the plural of the name of a column."""
    return {"hypothesis": "hypotheses"}.get(column, f"{column}s")


def language_column(columns: Sequence[str]) -> str:
    """Return the column with the language of the texts that a system reads."""
    return "source_language" if "source_language" in columns else "language"


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

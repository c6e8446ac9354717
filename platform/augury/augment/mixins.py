"""What only some operators do: bases to inherit from in addition to `Operator`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import model_validator

from augury.augment.health import Rate
from augury.augment.models import ReadyModel
from augury.augment.operator import RECORDS, BlockFunction, Operator, OperatorOutput, mixin
from augury.core.errors import UserError, unknown
from augury.core.store import Store
from augury.corpora.corpus import Corpus

if TYPE_CHECKING:
    from augury.core.execution import Execution
    from augury.corpora.spec import BaseSpec

REJECTED = "rejected, "
"""The prefix of reasons in `counts` for which a candidate became no record."""


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
    """An operator that reads more than the training text."""

    def texts(self) -> Mapping[str, BaseSpec]:
        """Return additional texts: name -> the corpus whose split `train` it is."""
        return {}

    def files(self) -> Sequence[str]:
        """Return the files that it reads besides texts."""
        return ()


@mixin
class Searches(Operator):
    """An operator whose `bind` receives the training split (`Corpus`) under `corpus`."""


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

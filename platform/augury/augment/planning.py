"""Plan the views and records that operators make from a corpus: what each is, and its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.augment.health import Health
from augury.augment.mixins import (
    ExtraInputs,
    Fitted,
    MakesRecords,
    Searches,
)
from augury.augment.models import TrainedModel
from augury.augment.operator import DRAW, RECORDS, VIEW, Operator
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import Corpus
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
        return learned | (
            {"corpus": Corpus(self.corpus)} if isinstance(self.operator, Searches) else {}
        )


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


def fit_parameters(operator: Operator) -> dict[str, Any]:
    """Return the parameters of an operator on which depends what it learns."""
    return operator.fit_parameters() if isinstance(operator, Fitted) else {}

"""Render texts as the views of a run, with its own fitted operators."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from augury.augment.operator import BlockFunction, Operator
from augury.augment.planning import Part
from augury.core.errors import UserError
from augury.corpora.corpus import KINDS
from augury.execution.graph import Graph
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE


def render_texts(run: Run, texts: Sequence[str], view: str) -> list[str]:
    """Return clean texts, in their order, as a view of the run renders them.

    The text serves as the id of its record, so that equal texts are rendered equally in any batch.
    UserError for a view that the run does not have, or has only while training, and for a task that
    reads several texts at once.
    """
    name = run.experiment.resolve_view(view)
    if name == SOURCE:
        return list(texts)
    part, apply = _bind(run, name)
    table = apply(_records(run, part, texts)).table
    return [str(text) for text in table.column("text").to_pylist()]


def _bind(run: Run, view: str) -> tuple[Operator, BlockFunction]:
    """Return the operator that makes a view of the run, and its function from records to the
    view."""
    models = Graph(run.store).models(run.experiment)
    parts = [
        Part(
            part,
            of_operator,
            run.stored_folder(run.fits[view]),
            run.stored_folder(run.views[view]),
            run.corpus("train").folder,
        )
        for operator, of_operator in zip(run.experiment.augment, models, strict=True)
        for part in operator.parts()
        if part.name() == view
    ]
    (part,) = parts
    return part.operator, part.operator.bind(part.fitted, run.store)


def _records(run: Run, operator: Operator, texts: Sequence[str]) -> pa.Table:
    """Return the texts as records with the columns that an operator reads.

    Unknown values are null.
    """
    corpus = run.corpus("train")
    columns = KINDS[corpus.kind]
    if len(columns.inputs) > 1:
        raise UserError(
            f"task {run.experiment.task} reads {' and '.join(columns.inputs)}: no single text is "
            "rendered"
        )
    (language, *_) = run.experiment.corpus.languages_of("train")
    values = {"id": texts, columns.inputs[0]: texts, columns.language: [language] * len(texts)}
    empty = [None] * len(texts)
    return pa.table(
        {
            name: pa.array(values.get(name, empty), pa.string())
            for name in operator.reads(corpus.columns)
        }
    )

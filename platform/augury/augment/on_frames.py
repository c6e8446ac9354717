"""Operators on a user's own rows: data frames, Arrow tables and batches of a `ray.data.Dataset`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import xxhash

from augury.augment.operator import (
    DRAW,
    RECORDS,
    CorpusOperator,
    Fitted,
    Operator,
    UsesModels,
    check_columns,
    parse,
)
from augury.augment.pipeline import FITS, fit_parameters, searches
from augury.core.agreed_code import named_by_user
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELLED, LABELLED_PAIRS, NLI, PARALLEL, sentence_columns

KINDS = {"source": PARALLEL.schema, "text": LABELLED.schema, "sentence1": LABELLED_PAIRS.schema}
"""The schema of records that have a column; others are premises and hypotheses."""


@dataclass(frozen=True)
class FrameOperator:
    """An operator with what it has learned, to be applied to rows with the columns that it reads:
    source and target, premise and hypothesis (and label), or text."""

    operator: Operator
    language: str | None = None
    """The code of the language, for operators that depend on it and rows without its column."""
    fitted: Mapping[str, Any] | None = None
    """What it has learned; None: nothing yet."""

    @classmethod
    def of(cls, name: str, language: str | None, settings: Mapping[str, Any]) -> FrameOperator:
        """Return an operator, given by name or path; UserError for invalid settings, and for one
        that needs trained models, works on a whole corpus or on token ids."""
        with named_by_user():
            operator = parse({"operator": name, **settings})
        if isinstance(operator, UsesModels):
            raise UserError(
                f"operator {operator.operator} needs trained models: use `augury augment FILE`"
            )
        if isinstance(operator, CorpusOperator) or searches(operator):
            raise UserError(
                f"operator {operator.operator} works on a whole corpus: use `augury augment`"
            )
        if any(part.makes() == DRAW for part in operator.parts()):
            raise UserError(
                f"operator {operator.operator} changes token ids during training and makes no "
                "text: train with it"
            )
        return cls(operator, language)

    def fit(self, text: Any) -> FrameOperator:
        """Return the operator with what it learns from the training split: a data frame, an Arrow
        table, a `ray.data.Dataset`, or the folder of a fit in a storage (`results/fits/ADDRESS`).

        An operator that learns nothing is as it was.
        """
        if not isinstance(self.operator, Fitted):
            return self
        if isinstance(text, str | Path):
            return replace(self, fitted=self._read(str(text)))
        if isinstance(text, pa.Table):
            frames = [text.to_pandas()]
        elif isinstance(text, pd.DataFrame):
            frames = [text]
        else:
            frames = text.iter_batches(batch_size=None, batch_format="pandas")
        statistics = [self.operator.fit_block(self._records(frame)) for frame in frames]
        return replace(self, fitted=self.operator.fit(statistics))

    def _read(self, folder: str) -> dict[str, Any]:
        """Return what the operator has learned, from the folder of a fit; UserError where that is
        another operator's, or of one with other parameters."""
        root, _, name = folder.rstrip("/").rpartition(f"/{FITS}/")
        fit = Store(root).folder(FITS, name)
        if not root or not fit.complete:
            raise UserError(f"{folder} is no finished fit: give STORAGE/{FITS}/ADDRESS")
        manifest, expected = fit.manifest(), fit_parameters(self.operator)
        if manifest["operator"] != self.operator.operator or manifest["parameters"] != expected:
            raise UserError(
                f"{folder} was learned by {manifest['operator']} with {manifest['parameters']}, "
                f"and not by {self.operator.operator} with {expected}"
            )
        learned: dict[str, Any] = fit.read_json("fitted.json")
        return learned

    def batch(self, rows: pa.Table) -> pa.Table:
        """Return the new rows of a batch, as `augury.apply` does, in its columns, with `origin` and
        the `parent` of each, for `map_batches(..., batch_format="pyarrow")`.

        What operators draw depends on the column `id` of a row or, without it, on its text, and not
        on the batch that it is in. UserError where the operator has not learned yet.
        """
        frame = rows.to_pandas()
        names = frame["id"].astype(str).tolist() if "id" in frame else self._names(frame)
        made = self.rows(frame.set_axis(names), names)
        return pa.Table.from_pandas(made, preserve_index=False)

    def rows(self, frame: pd.DataFrame, ids: list[str] | None = None) -> pd.DataFrame:
        """Return the new rows of a frame, in its columns, with `origin` and `parent`, the index of
        the row that each is made from; `ids` (default: their places) decide what is drawn."""
        fitted = self.fitted
        if fitted is None and isinstance(self.operator, Fitted):
            raise UserError(
                f"operator {self.operator.operator} learns from the training split: call fit with "
                "that split, or with the folder of a fit in a storage"
            )
        ids = ids or [str(place) for place in range(len(frame))]
        places = {name: place for place, name in enumerate(ids)}
        records = self._records(frame, ids)
        made = []
        with tempfile.TemporaryDirectory() as directory:
            for part in self.operator.parts():
                table = part.bind(fitted or {}, Store(directory))(records).table
                made.append(_rows(frame, table, part, places))
        return pd.concat(made, ignore_index=True)

    def _records(self, frame: pd.DataFrame, names: list[str] | None = None) -> pa.Table:
        """Return the rows of a frame as records of a corpus."""
        schema = next((schema for column, schema in KINDS.items() if column in frame), NLI.schema)
        languages = {
            name for name in schema.names if name.endswith("language") and name not in frame
        }
        check_columns(self.operator, ["id", *languages, *frame.columns])
        reads = self.operator.reads(schema.names)
        if self.language is None and (unknown := languages.intersection(reads)):
            raise UserError(
                f"operator {self.operator.operator} depends on the language: give language='en', "
                f"for example, or a column '{min(unknown)}'"
            )
        ids = pa.array(names or map(str, range(len(frame))), pa.string())
        columns = {
            field.name: pa.array(
                frame[field.name] if field.name in frame else [None] * len(frame), field.type
            )
            for field in schema
            if field.name != "id"
        }
        for name in languages:
            columns[name] = pa.array([self.language or "und"] * len(frame), pa.string())
        records = pa.table({**columns, "id": ids}, schema=schema)
        if incomplete := [name for name in reads if records.column(name).null_count]:
            raise UserError(
                f"column '{incomplete[0]}' has missing texts: fill them, or drop them with "
                "frame.dropna()"
            )
        self.operator.check_text(records.select(list(reads)))
        return records

    def _names(self, frame: pd.DataFrame) -> list[str]:
        """Return ids by the texts of rows, and the place among equal ones."""
        seen = Counter[str]()
        names = []
        texts = [frame[name] for name in sentence_columns(list(frame.columns))]
        for row in zip(*texts, strict=True):
            text = xxhash.xxh3_64_hexdigest("\t".join(map(str, row)).encode())
            seen[text] += 1
            names.append(f"{text}-{seen[text]}")
        return names


def _rows(
    frame: pd.DataFrame, table: pa.Table, part: Operator, places: Mapping[str, int]
) -> pd.DataFrame:
    """Return the rows of an operator's part in the columns of the frame."""
    ids = table.column("id").to_pylist()
    if part.makes() == RECORDS:
        ids = [lineage["parents"][0] for lineage in table.column("lineage").to_pylist()]
    parents = [places[name] for name in ids]
    rows = frame.iloc[parents].reset_index(drop=True)
    for name in (*sentence_columns(list(frame.columns)), "label"):
        column = "text" if name == "source" and "text" in table.column_names else name
        if column in table.column_names and name in frame:
            rows[name] = table.column(column).to_pylist()
    return rows.assign(origin=part.name(), parent=frame.index[parents])

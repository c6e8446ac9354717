"""Operators on a user's own rows: data frames, Arrow tables and batches of a `ray.data.Dataset`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import xxhash

from augury.augment.operator import DRAW, RECORDS, CorpusOperator, Operator, check_columns, parse
from augury.core.errors import UserError
from augury.core.plugin_files import named_by_user
from augury.core.store import Store
from augury.corpora.corpus import LABELLED, LABELLED_PAIRS, NLI, PARALLEL, sentence_columns
from augury.corpora.filters import composed

KINDS = {kind.sentences[0]: kind.schema for kind in (PARALLEL, NLI, LABELLED, LABELLED_PAIRS)}
"""The schema of records by their first column of sentences."""


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
        of_corpus = isinstance(operator, CorpusOperator) or operator.SEARCHES
        if of_corpus or operator.uses_models or operator.parts()[0].makes() == DRAW:
            raise UserError(
                f"operator {operator.operator} works on a whole corpus, with models or on token "
                "ids: use it in an experiment, with `augury augment FILE` or `augury train FILE`"
            )
        return cls(operator, language, None if operator.learns else {})

    def fit(self, text: Any) -> FrameOperator:
        """Return the operator with what it learns from the training split: a data frame or a
        `ray.data.Dataset`.

        An operator that learns nothing is as it was.
        """
        if not self.operator.learns:
            return self
        is_frame = isinstance(text, pd.DataFrame)
        frames = [text] if is_frame else text.iter_batches(batch_size=None, batch_format="pandas")
        statistics = [
            self.operator.fit_block(self._records(frame, [*map(str, range(len(frame)))]))
            for frame in frames
        ]
        return replace(self, fitted=self.operator.fit(statistics))

    def batch(self, rows: pa.Table) -> pa.Table:
        """Return the new rows of a batch, as `augury.apply` does, in its columns, with `origin` and
        the `parent` of each, for `map_batches(..., batch_format="pyarrow")`.

        What operators draw depends on the column `id` of a row or, without it, on its text, and on
        the place among equal ones, and not on the batch that it is in. UserError where the operator
        has not learned yet.
        """
        frame, seen, names = rows.to_pandas(), Counter[str](), dict[str, None]()
        if "id" in frame:
            keys = frame["id"].astype(str).tolist()
        else:
            texts = [frame[name] for name in sentence_columns(list(frame.columns))]
            lines = ["\t".join(map(str, row)) for row in zip(*texts, strict=True)]
            lines = lines or [""] * len(frame)  # without columns of texts, which `rows` refuses
            keys = [xxhash.xxh3_64_hexdigest(line.encode()) for line in lines]
        for key in keys:
            name = key if "id" in frame else f"{key}-1"
            while name in names:
                seen[key] += 1
                name = f"{key}-{seen[key] + 1}"
            names[name] = None
        made = self.rows(frame.set_axis([*names]), [*names])
        return pa.Table.from_pandas(made, preserve_index=False)

    def rows(self, frame: pd.DataFrame, ids: list[str] | None = None) -> pd.DataFrame:
        """Return the new rows of a frame, in its columns, with `origin` and `parent`, the index of
        the row that each is made from; `ids` (default: their places) decide what is drawn."""
        if self.fitted is None:
            raise UserError(
                f"operator {self.operator.operator} learns from the training split: call fit with "
                "that split"
            )
        for name in ("origin", "parent"):
            if name in frame:
                raise UserError(f"column '{name}' is one that new rows get: call yours otherwise")
        ids = ids or [str(place) for place in range(len(frame))]
        places = {name: place for place, name in enumerate(ids)}
        records = self._records(frame, ids)
        reads = self.operator.reads(records.column_names)
        copied = [*sentence_columns(records.column_names), *({"label"} & {*reads})]
        made = []
        with tempfile.TemporaryDirectory() as directory:
            for part in self.operator.parts():
                table = part.bind(self.fitted, Store(directory))(records).table
                names = table.column("id").to_pylist()
                if part.makes() == RECORDS:
                    lineages = table.column("lineage").to_pylist()
                    names = [lineage["parents"][0] for lineage in lineages]
                parents = [places[name] for name in names]
                rows = frame.iloc[parents].reset_index(drop=True)
                for name in copied:
                    column = "text" if name == "source" and name not in table.schema.names else name
                    if name in frame and column in table.schema.names:
                        rows[name] = table.column(column).to_pylist()
                made.append(rows.assign(origin=part.name(), parent=frame.index[parents]))
        return pd.concat(made, ignore_index=True)

    def _records(self, frame: pd.DataFrame, ids: list[str]) -> pa.Table:
        """Return the rows of a frame as records of a corpus."""
        schema = next((schema for column, schema in KINDS.items() if column in frame), None)
        if schema is None:
            raise UserError(
                f"no column of texts among {', '.join(map(str, frame.columns))}: call it text, or "
                "of pairs source and target, premise and hypothesis, or sentence1 and sentence2"
            )
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
        empty, language = [None] * len(frame), [self.language or "und"] * len(frame)
        values = {name: language if name in languages else empty for name in schema.names}
        # Labels of any type and columns that are called as those of records stay in the frame.
        used = {*reads, *sentence_columns(schema.names)}
        used |= {name for name in schema.names if name.endswith("language")}
        values |= {name: frame[name] for name in used if name in frame} | {"id": ids}
        columns = []
        for field in schema:
            try:
                column = pa.array(values[field.name], field.type)
                columns.append(composed(column) if field.type == pa.string() else column)
            except pa.ArrowTypeError as error:
                raise UserError(
                    f"column '{field.name}' has values that are no texts ({error}): make them "
                    f"texts, as with frame['{field.name}'].astype(str)"
                ) from error
        records = pa.table(columns, schema=schema)
        if incomplete := [name for name in reads if records.column(name).null_count]:
            raise UserError(
                f"column '{incomplete[0]}' has missing texts: fill them, or drop them with "
                "frame.dropna()"
            )
        self.operator.check_text(records.select(list(reads)))
        return records

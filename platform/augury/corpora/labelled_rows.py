"""Rows of a text of labelled sentences."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from augury.core.errors import UserError
from augury.corpora.corpus import LABELLED
from augury.corpora.labelled import LabelledText
from augury.corpora.rows import Rows


class LabelledRows(Rows):
    """Rows of a text of labelled sentences; `check_labels` checks that the corpus has their labels."""

    KIND = "labelled"
    STEP = "ingest labelled"
    CODE = 1
    SCHEMA = LABELLED
    LIMITS = "max_length"

    def facts(self) -> dict[str, Any]:
        return {"language": self.part.languages[0]}

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        text = self.part.text
        assert isinstance(text, LabelledText)
        classes = dict(enumerate(self.text.classes))
        labels = []
        for row, label in zip(block.column("row").to_pylist(), block.column("label").to_pylist(), strict=True):
            name = classes.get(int(label), label) if label.isdigit() else label
            labels.append(text.names.get(label, text.names.get(name, name)).strip())
            if not labels[-1]:
                raise UserError(f"{self.part.name}: the label is empty ({self.text.location(row)})")
        return [pa.array(labels, pa.string()), pa.repeat(self.part.languages[0], len(block))]

"""Records of labelled sentences."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from augury.core.errors import UserError
from augury.corpora.corpus import KINDS
from augury.corpora.labelled import LabelledText
from augury.corpora.records import RecordBuilder


class LabelledRecordBuilder(RecordBuilder):
    """Builds records of labelled sentences; `check_labels` validates their labels."""

    KIND = KINDS["labelled"]
    TEXT = LabelledText
    STEP = "ingest labelled"
    CODE = 1
    LIMITS = "max_length"

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        text = self.split.text
        assert isinstance(text, LabelledText)
        classes = dict(enumerate(self.text.classes))
        labels = []
        for row, label in zip(
            block.column("row").to_pylist(), block.column("label").to_pylist(), strict=True
        ):
            name = classes.get(int(label), label) if label.isdigit() else label
            labels.append(text.names.get(label, text.names.get(name, name)).strip())
            if not labels[-1]:
                raise UserError(
                    f"{self.split.name}: the label is empty ({self.text.location(row)})"
                )
        return [pa.array(labels, pa.string()), pa.repeat(self.split.languages[0], len(block))]

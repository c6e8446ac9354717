"""Records of monolingual text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from augury.corpora.corpus import KINDS
from augury.corpora.monolingual import MonolingualText
from augury.corpora.records import RecordBuilder


class MonolingualRecordBuilder(RecordBuilder):
    """Builds records of monolingual text."""

    KIND = KINDS["monolingual"]
    TEXT = MonolingualText
    STEP = "ingest monolingual"
    CODE = 1
    LIMITS = "max_length"

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _replace(self) -> dict[str, str]:
        assert isinstance(self.split.text, MonolingualText)
        return self.split.text.replace

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        return [pa.repeat(self.split.languages[0], len(block))]

"""Rows of a text of one language."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from augury.corpora.corpus import MONOLINGUAL
from augury.corpora.monolingual import MonolingualText
from augury.corpora.rows import Rows


class MonolingualRows(Rows):
    """Rows of a text of one language."""

    KIND = "monolingual"
    STEP = "ingest monolingual"
    CODE = 1
    SCHEMA = MONOLINGUAL
    LIMITS = "max_length"

    def facts(self) -> dict[str, Any]:
        return {"language": self.part.languages[0]}

    def _replace(self) -> dict[str, str]:
        assert isinstance(self.part.text, MonolingualText)
        return self.part.text.replace

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        return [pa.repeat(self.part.languages[0], len(block))]

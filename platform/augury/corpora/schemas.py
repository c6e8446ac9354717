"""The Arrow schemas of the kinds of corpora."""

from __future__ import annotations

from augury.corpora.corpus import KINDS

PARALLEL = KINDS["parallel"].schema
NLI = KINDS["nli"].schema
LABELLED = KINDS["labelled"].schema
LABELLED_PAIRS = KINDS["labelled pairs"].schema
MONOLINGUAL = KINDS["monolingual"].schema
LINEAGE = PARALLEL.field("lineage").type

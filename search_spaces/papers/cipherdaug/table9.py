"""Table 9: ALONE embeddings, whose parameters do not depend on the vocabulary, in place of
tables."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.corpora import SCALES
from search_spaces.papers.cipherdaug.systems import cipherdaug, row
from search_spaces.papers.cipherdaug.table import Table, read

INTERMEDIATE: dict[str, int] = {"toy": 768, "small": 1536, "paper": 4096}
TRAINING: dict[str, dict[str, Any]] = {
    "toy": {"training.learning_rate": 2.0e-3, "training.max_epochs": 120}
}
"""Training of the rows of ALONE, which at the toy table's rate of 5e-3 does not learn."""


def rows(scale: str) -> Rows:
    """Both systems with tables, with ALONE and its vector as it is drawn, and with that vector
    trained."""
    corpus_size = scale.partition("/")[0]

    def alone(freeze: bool) -> dict[str, Any]:
        embeddings = {
            "name": "alone",
            "intermediate_size": INTERMEDIATE[corpus_size],
            "freeze_base": freeze,
        }
        return {"model.embeddings": embeddings, **TRAINING.get(corpus_size, {})}

    systems: dict[str, dict[str, Any]] = {
        "Transformer": row(),
        "CipherDAug": cipherdaug(scale, 2),
    }
    for suffix, freeze in (("O frozen", True), ("O trained", False)):
        systems[f"Transformer + ALONE, {suffix}"] = row() | alone(freeze)
        systems[f"CipherDAug + ALONE, {suffix}"] = cipherdaug(scale, 2) | alone(freeze)
    return systems


TABLE = Table(
    where="Table 9",
    question=(
        "Does CipherDAug help as much where embeddings cost no parameters for a larger vocabulary?"
    ),
    scales=SCALES,
    rows=rows,
    published=read("table9", mean="BLEU"),
)

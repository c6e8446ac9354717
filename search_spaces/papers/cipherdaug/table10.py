"""Table 10: the number of parameters of embeddings, as counted in trained models and by the
paper's formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from augury.analysis.system import System
from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug import table9
from search_spaces.papers.cipherdaug.corpora import SCALES
from search_spaces.papers.cipherdaug.table import Table, read
from trainables.nmt.architecture import Alone, ModelConfig, resolve
from trainables.nmt.config import Config

ALONE = "Transformer + ALONE, O trained"


def rows(scale: str) -> Rows:
    """A row of Table 9 with tables, whose size grows with the vocabulary, and one with ALONE."""
    return {name: row for name, row in table9.rows(scale).items() if name in ("Transformer", ALONE)}


def measure(system: System) -> Mapping[str, float]:
    """Return the numbers of one side's embeddings: those of the model, those that are trained,
    those of the formula."""
    from augury.training.trained import load_weights
    from trainables.nmt.embeddings import AloneEmbedding
    from trainables.nmt.model import build

    settings, entries = cast(Config, system.run.experiment).transformer, len(system.pieces)
    model = load_weights(system.run.folder, build(settings, entries, pad=0, eos=1, seed=0))
    embeddings = model.model.encoder.embed_tokens
    parameters = sum(parameter.numel() for parameter in embeddings.parameters())
    filters = embeddings.codebooks.numel() if isinstance(embeddings, AloneEmbedding) else 0
    trained = sum(
        parameter.numel() for parameter in embeddings.parameters() if parameter.requires_grad
    )
    return {
        "parameters and filters": parameters + filters,
        "trained": trained,
        "formula": formula(settings, entries),
    }


def formula(model: ModelConfig, entries: int) -> int:
    """Return the number of parameters by the formulas of the paper; `entries` is the size of the
    vocabulary (V)."""
    d_emb, alone = resolve(model).hidden_size, model.embeddings
    if not isinstance(alone, Alone):
        return (alone.size or d_emb) * entries
    d_o, d_inter = alone.base_size or d_emb, alone.intermediate_size
    return d_o + d_inter * (d_o + d_emb) + alone.codebooks * d_o * alone.codes


TABLE = Table(
    where="Table 10",
    question="How many parameters do the embeddings of one side have, with a vocabulary and "
    "without?",
    scales=SCALES,
    rows=rows,
    seeds=(1,),
    published=read("table10"),
    measure=measure,
    literature={"Transformer": {"Table 9, Emb Θ": 6.1e6}, ALONE: {"Table 9, Emb Θ": 4.1e6}},
)

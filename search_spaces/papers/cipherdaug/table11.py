"""Table 11: dropout, without and with CipherDAug."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.systems import cipherdaug, row
from search_spaces.papers.cipherdaug.table import Table, read


def rows(scale: str) -> Rows:
    """Both systems at four rates; 0 is of attention too, as it "removes any stochasticity"
    (Appendix A.3.2)."""
    systems = {}
    for name, system in (("Transformer", row()), ("CipherDAug", cipherdaug(scale, 2))):
        for rate in (0, 0.1, 0.2, 0.3):
            attention = {} if rate else {"model.attention_dropout": 0}
            changes = {"model.dropout": rate, **attention}
            systems[f"{name}, dropout {rate:g}"] = system | changes
    return systems


TABLE = Table(
    where="Table 11",
    question="Does CipherDAug regularise, so that it helps most where there is little dropout?",
    rows=rows,
    reference="Transformer, dropout 0.3",
    published=read("table11", mean="BLEU"),
)

"""Table 5: how many examples to make, with and without adversarial training."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.xnli_adversarial.systems import ea, pgd, ra, row, sa
from search_spaces.papers.xnli_adversarial.table import Table, read


def rows(scale: str) -> Rows:
    """Operators by the number of examples that they make of 20,000, without PGD and then with
    it."""
    attack = pgd(scale)
    operators = {
        ("EA", "20k"): ea(scale, copies=1),
        ("EA", "80k"): ea(scale, copies=4),
        ("RA", "20k"): ra(scale, copies=1),
        ("RA", "80k"): ra(scale, copies=4),
        ("SA", "20k"): sa(scale, copies=1, labels="one_other"),
        ("SA", "80k"): sa(scale, copies=2),
    }
    systems = {"XLM-R (20k)": row()}
    for (name, size), operator in operators.items():
        systems[f"+{name} ({size})"] = row(operator)
    systems["+PGD"] = row(regime=attack)
    for (name, size), operator in operators.items():
        systems[f"+{name} +PGD ({size})"] = row(operator, regime=attack)
    return systems


TABLE = Table(
    where="Table 5",
    question="How many augmented examples are worth making?",
    rows=rows,
    published=read("table5"),
)

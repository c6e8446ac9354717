"""Race what is worth trying on a text: every family of augmentation that its task allows.

`augury sweep augmentations my.yaml` puts it on an experiment of one's own, where rows that the task
or the texts do not allow are left out, the experiment's own systems join, and so do operators of
installed packages.
"""

from __future__ import annotations

from typing import Any

from augury.augment import operator
from augury.augment.operator import VIEW
from augury.core.errors import UserError
from augury.sweeping.declarations import Rows, SearchSpace
from search_spaces.scales import TRANSLATION

PLAIN: dict[str, Any] = {"name": "plain"}
AGREEMENT: dict[str, Any] = {"name": "coregularised", "preset": "low_resource"}
R_DROP: dict[str, Any] = {**AGREEMENT, "over": "identity", "norm": 1.0, "smoothing": "uniform"}
# Shares of the norm of the embeddings at which models were seen to learn, with an attack that
# begins once there is something to attack (docs/evidence.md).
ATTACK: dict[str, Any] = {
    "name": "adversarial",
    "relative": True,
    "clean_weight": 1.0,
    "warmup_epochs": 2,
}


def row(regime: dict[str, Any], *operators: dict[str, Any]) -> dict[str, Any]:
    """Return a row with operators under a regime."""
    return {"augment": list(operators), "regime": regime}


FAMILIES: dict[str, Rows] = {
    "agreement of views": {
        "R-Drop": row(R_DROP),
        "ROT-1": row(AGREEMENT, {"operator": "cipher", "keys": [1]}),
        "ROT-1 and 2": row(AGREEMENT, {"operator": "cipher", "keys": [1, 2]}),
        "BPE-dropout view": row(AGREEMENT, {"operator": "bpe_dropout", "use": "view"}),
        "EDA view": row(AGREEMENT, {"operator": "eda", "use": "view", "copies": 1}),
    },
    "draws of tokens": {
        "BPE-dropout": row(PLAIN, {"operator": "bpe_dropout"}),
        "WordDrop": row(PLAIN, {"operator": "word_drop"}),
        "SwitchOut": row(PLAIN, {"operator": "switch_out"}),
        "RAML": row(PLAIN, {"operator": "raml"}),
    },
    "edited records": {
        "spelling noise": row(PLAIN, {"operator": "noise", "spelling": 0.1}),
        "EDA": row(PLAIN, {"operator": "eda", "copies": 1}),
    },
    "records of the text": {
        "fuzzy matches": row(PLAIN, {"operator": "fuzzy_match"}),
        "data diversification": row(PLAIN, {"operator": "data_diversification", "seeds": [1]}),
    },
    "attacks": {
        "FGM 0.01": row({**ATTACK, "attack": "fgm", "epsilon": 0.01}),
        "PGD 0.005": row({**ATTACK, "epsilon": 0.005, "alpha_share": 1.5}),
        "PGD 0.01": row({**ATTACK, "epsilon": 0.01, "alpha_share": 1.5}),
    },
}


def installed() -> Rows:
    """Return a row for each operator of installed packages that needs no parameters."""
    rows: Rows = {}
    for name in operator.OPERATORS.names():
        if name in operator.OPERATORS.builtin():
            continue
        try:
            parsed = operator.parse({"operator": name})
        except UserError:
            continue
        regime = AGREEMENT if parsed.makes() == VIEW else PLAIN
        rows[name] = row(regime, {"operator": name})
    return rows


def families() -> dict[str, str]:
    """Return the family of every row but the baseline."""
    by_row = {name: family for family, rows in FAMILIES.items() for name in rows}
    return by_row | dict.fromkeys(installed(), "installed operators")


def rows(scale: str) -> Rows:
    """Return the baseline and the rows of all families."""
    systems = {"baseline": row(PLAIN)}
    for of_family in FAMILIES.values():
        systems |= of_family
    return systems | installed()


SPACE = SearchSpace(
    question="Which augmentation helps on this text, and what does it cost?",
    base={"name": "augmentations", "task": "nmt"},
    scales=TRANSLATION,
    rows=rows,
    families=families,
    joins=True,
    metric="valid/bleu",
    seeds=(1, 2, 3, 4, 5),
    scheduler="race",
)

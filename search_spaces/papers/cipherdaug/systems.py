"""The systems of the paper: the settings that their rows change."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.corpora import SCALES, WMT14, is_paper
from search_spaces.scales import RELEASED, size_of

PLAIN: dict[str, Any] = {"name": "plain"}


def cipher(keys: int) -> dict[str, Any]:
    """Sources enciphered with the keys from 1 on."""
    return {"operator": "cipher", "keys": list(range(1, keys + 1))}


OWN: dict[str, dict[str, Any]] = {WMT14: {"tau": 2}, RELEASED: {"preset": RELEASED}}
"""Settings of agreement that a scale alone has."""
# On little text a divergence that acts at once, with the paper's weight, keeps a model from
# learning to translate.
_LITTLE = {"beta": 1, "warmup_epochs": 10}


def agreement(scale: str, **changes: Any) -> dict[str, Any]:
    """CipherDAug's regime: the paper's, with τ = 2 on its large corpus, that of the released
    script, or the one for little text."""
    own = OWN.get(scale, {} if is_paper(scale) else _LITTLE)
    return {"name": "coregularised", **own, **changes}


def r_drop(scale: str) -> dict[str, Any]:
    """R-Drop: the views are the plain source twice."""
    return (
        agreement(scale, preset="r_drop")
        if is_paper(scale)
        else agreement(scale, preset="r_drop", beta=1)
    )


def _tau(scale: str) -> float:
    """The rate of the source's changes; the target's is 0.95 for all languages (Appendix A.1)."""
    return 0.85 if "iwslt17" in scale else 0.9


def word_drop(scale: str) -> dict[str, Any]:
    """Pieces of the source become the unknown symbol."""
    return {"operator": "word_drop", "tau": _tau(scale)}


def switch_out(scale: str) -> dict[str, Any]:
    """Pieces of the source become other pieces."""
    return {"operator": "switch_out", "tau": _tau(scale)}


RAML = {"operator": "raml", "tau": 0.95}
BPE_DROPOUT = {"operator": "bpe_dropout", "dropout": 0.1, "side": "both"}


def row(*operators: dict[str, Any], regime: dict[str, Any] = PLAIN) -> dict[str, Any]:
    """Return the settings that a row changes."""
    return {"augment": list(operators), "regime": regime}


DIVERSE: dict[str, dict[str, int]] = {
    "toy": {"max_epochs": 48, "validate_every_epochs": 3},
    "small": {"max_epochs": 60, "validate_every_epochs": 1},
}
"""Training of the last model of data diversification, whose epochs read up to seven times as
many pairs."""


def diversification(
    scale: str, views: bool = False, *, forward: bool = True, backward: bool = True
) -> dict[str, Any]:
    """Translations of the training text by three models each way, or by the three views of one
    CipherDAug model."""
    directions = ["forward"] * forward + ["backward"] * backward
    operator: dict[str, Any] = {"operator": "data_diversification", "directions": directions}
    system: dict[str, Any] = {}
    if views:
        operator |= {"seeds": [1], "views": ["plain", "rot-1", "rot-2"]}
        system = {"augment": [cipher(2)], "regime": agreement(scale)}
    last = DIVERSE.get(size_of(scale), {})
    system |= {f"training.{key}": SCALES[scale]["training"][key] for key in last}
    return row({**operator, **({"system": system} if system else {})}) | {
        f"training.{key}": value for key, value in last.items()
    }


def cipherdaug(scale: str, keys: int) -> dict[str, Any]:
    """CipherDAug with so many keys."""
    return row(cipher(keys), regime=agreement(scale))


def two_keys(scale: str) -> Rows:
    """CipherDAug with two keys, a run that most tables have."""
    return {"CipherDAug-2 keys": cipherdaug(scale, 2)}


def baseline_and_two_keys(scale: str) -> Rows:
    """The baseline and CipherDAug with two keys."""
    return {"Transformer": row(), **two_keys(scale)}

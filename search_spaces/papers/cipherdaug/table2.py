"""Table 2: word-level augmentations, naive multi-source training and CipherDAug."""

from __future__ import annotations

from typing import Any

from augury.core.config import merge
from search_spaces.papers.cipherdaug.corpora import ALL
from search_spaces.papers.cipherdaug.systems import (
    RAML,
    Rows,
    cipher,
    cipherdaug,
    row,
    switch_out,
    word_drop,
)
from search_spaces.papers.cipherdaug.table import Table, read
from search_spaces.scales import RELEASED, size_of

KEYS: dict[str, tuple[int, ...]] = {"toy": (2, 3, 4, 5)}
"""Numbers of keys in place of 2, 5, 10 and 20, by scale."""
BUDGET: dict[str, dict[str, int]] = {
    "toy": {"max_epochs": 84, "validate_every_epochs": 12},
    "small": {"max_epochs": 600, "validate_every_epochs": 15},
}
"""Of naive training, which reads each pair in one of up to 41 texts an epoch."""
DEV = {"corpus.tests": {"dev": {"validation": True}}}
OF_ALL_KEYS = 8_000
"""Entries for enciphered text in the 20k of Table 1, however many keys share them: the released
script learns one vocabulary of a fixed size."""


def naive(scale: str, named: int, equation: int, *draws: dict[str, Any]) -> dict[str, Any]:
    """Enciphered sources as further pairs, under word-level augmentations, for the number of
    keys that a row names."""
    name = size_of(scale)
    keys = dict(zip((2, 5, 10, 20), KEYS.get(name, (2, 5, 10, 20)), strict=True))[named]
    system = row(cipher(keys), *draws, regime={"name": "multi_source", "equation": equation})
    if scale == "paper":
        system["vocabulary.size_per_key"] = OF_ALL_KEYS // keys
    return system | {f"training.{key}": value for key, value in BUDGET.get(name, {}).items()}


def rows(scale: str) -> Rows:
    """Both equations of naive training are rows of their own."""
    switched, dropped = switch_out(scale), word_drop(scale)
    systems = {
        "Transformer": row(),
        "+ Word Dropout": row(dropped),
        "+ SwitchOut": row(switched),
        "+ RAML": row(RAML),
        "+ RAML + Switchout": row(RAML, switched),
        "+ RAML + WordDrop": row(RAML, dropped),
    }
    for keys in (2, 5, 10, 20):
        for equation in (1, 2):
            systems[f"{keys} keys, eq. {equation}"] = naive(scale, keys, equation)
    return systems | {
        "5 keys + RAML + Switchout, eq. 2": naive(scale, 5, 2, RAML, switched),
        "5 keys + RAML + WordDrop, eq. 2": naive(scale, 5, 2, RAML, dropped),
        "CipherDAug - 1 key": cipherdaug(scale, 1),
        "CipherDAug - 2 keys": cipherdaug(scale, 2),
    }


TABLE = Table(
    where="Table 2",
    question=(
        "Do enciphered sources help as further training pairs, how many of them, and is agreement "
        "between views better?"
    ),
    scales=ALL | {name: merge(ALL[name], DEV) for name in ("paper", RELEASED)},
    rows=rows,
    published=read("table2", mean="dev"),
)

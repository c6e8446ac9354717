"""The tables of words, forms and sentences, tab-separated; a line with `#` is a comment."""

from __future__ import annotations

import re
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import NamedTuple


class Both(NamedTuple):
    """The same words in both languages."""

    german: str
    english: str


def table(name: str) -> list[list[str]]:
    """Return the rows of a table."""
    text = Path(__file__).with_name("tables").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


@cache
def grouped(name: str) -> dict[str, list[list[str]]]:
    """Return the rows of a table, without their first column, by this column."""
    groups: dict[str, list[list[str]]] = {}
    for group, *row in table(name):
        groups.setdefault(group, []).append(row)
    return groups


def spread(weights: str) -> list[str]:
    """Return each of the names as often as its weight says: `a*2 b` is a, a, b."""
    names = []
    for item in weights.split():
        name, _, weight = item.partition("*")
        names += [name] * int(weight or 1)
    return names


def inflect(rule: str, word: str) -> str:
    """Return the form of a word by a rule of inflection: that of the first pattern that matches."""
    for pattern, replacement in grouped("rules")[rule]:
        form, replaced = re.subn(pattern, replacement, word, count=1)
        if replaced:
            return form
    raise ValueError(f"no form of '{word}' by the rule '{rule}'")


PAIRS = {name: list(starmap(Both, rows)) for name, rows in grouped("pairs").items()}
CHOICES = {name: spread(weights) for name, weights in table("choices")}

"""Keyboard layouts and adjacent keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from augury.corpora.languages import base_language
from augury.corpora.noise import Layout

LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "qwerty": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "qwertz": ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    "azerty": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}
"""Rows of letters from top to bottom."""
LANGUAGE_LAYOUTS = {"de": "qwertz", "fr": "azerty"}
SHIFT = 0.4  # horizontal offset of each row from the one above, in keys
REACH = 1.2  # maximum distance of adjacent keys, in keys


@cache
def neighbours(layout: Layout, language: str) -> Mapping[str, str]:
    """Return the adjacent letters of each lower-case letter, in the order of keys.

    Layout `auto` is that of the language (a code such as `de` or `de-AT`), by default qwerty.
    """
    rows = LAYOUTS[
        LANGUAGE_LAYOUTS.get(base_language(language), "qwerty") if layout == "auto" else layout
    ]
    keys: dict[str, tuple[float, int]] = {}
    for y, row in enumerate(rows):
        keys |= {letter: (x + SHIFT * y, y) for x, letter in enumerate(row)}
    neighbours = dict.fromkeys(keys, "")
    for letter, (x, y) in keys.items():
        for other, (other_x, other_y) in keys.items():
            if other != letter and (other_x - x) ** 2 + (other_y - y) ** 2 <= REACH**2:
                neighbours[letter] += other
    return neighbours

"""Which keys lie beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from augury.corpora.noise import Layout

LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "qwerty": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "qwertz": ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    "azerty": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
}
"""Rows of letters from the top, each a bit further to the right."""
OF_LANGUAGE = {"de": "qwertz", "fr": "azerty"}
SHIFT = 0.4  # of a row against the one above, in keys
REACH = 1.2  # the farthest neighbour, in keys


@cache
def neighbours(layout: Layout, language: str) -> Mapping[str, str]:
    """Return the letters whose keys lie beside that of a letter, in lower case and in the order of the keys.

    Layout `auto` is that of the language (a code such as `de` or `de-AT`), qwerty for one that has none here.
    """
    rows = LAYOUTS[OF_LANGUAGE.get(language.partition("-")[0], "qwerty") if layout == "auto" else layout]
    keys = {letter: (x + SHIFT * y, y) for y, row in enumerate(rows) for x, letter in enumerate(row)}
    return {
        letter: "".join(
            other
            for other, (other_x, other_y) in keys.items()
            if other != letter and (other_x - x) ** 2 + (other_y - y) ** 2 <= REACH**2
        )
        for letter, (x, y) in keys.items()
    }

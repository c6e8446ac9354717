"""Codes of languages (ISO 639 in BCP 47): the table of all, and the nearest code to a wrong one.

Tokenisers, metrics and tags go by these codes, and silently take an unknown one for any language.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib import resources
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from augury.core.errors import UserError

UNDETERMINED = "und"
PRIVATE = re.compile("q[a-t][a-z]")  # left to whoever needs a code of their own
SUBTAGS = re.compile(r"([-_][A-Za-z0-9]{1,8})*")  # script, region: zh-Hans, pt_BR


class Languages(NamedTuple):
    """The table of ISO 639."""

    names: dict[str, str]
    """Two-letter code -> English name."""
    codes: dict[str, str]
    """Two-letter code, three-letter code or name, in lower case -> two-letter code."""
    longer: frozenset[str]
    """Three-letter codes of the languages that have no shorter one."""


def check_language(code: str) -> str:
    """Return the code; raise UserError, which names the nearest, where it is that of no language."""
    table, language = languages(), re.split("[-_]", code)[0]
    valid = language in table.names or language in table.longer or PRIVATE.fullmatch(language)
    if valid and SUBTAGS.fullmatch(code[len(language) :]):
        return code
    words = [word for word in (language.lower(), code.strip().lower()) if word in table.codes]
    nearest = words or difflib.get_close_matches(code.strip().lower(), table.codes, n=1, cutoff=0.4)
    guess = table.codes[nearest[0]] if nearest else None
    hint = f"did you mean '{guess}' ({table.names[guess]})?" if guess else "give one of ISO 639, such as de or hsb"
    raise UserError(f"'{code}' is not the code of a language: {hint} (one without a code is '{UNDETERMINED}')")


LanguageCode = Annotated[str, AfterValidator(check_language)]
"""A setting that is the code of a language."""


@cache
def languages() -> Languages:
    """Return the table of ISO 639 (`languages.tsv`)."""
    names, codes, longer = {}, {}, set[str]()
    for line in resources.files("augury.corpora").joinpath("languages.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, others, listed = line.split("\t")
        if not code:
            longer.update(others.split())
            continue
        synonyms = listed.split("; ")
        names[code] = synonyms[0].title()
        codes.update(dict.fromkeys([code, *others.split(), *synonyms], code))
    return Languages(names, codes, frozenset(longer))

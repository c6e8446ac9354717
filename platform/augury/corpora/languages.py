"""Language codes (ISO 639 in BCP 47).

Codes are validated because tokenisers, metrics and tags depend on them, and silently accept unknown
ones.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from augury.core.errors import UserError
from augury.core.words import is_unspaced

UNDETERMINED = "und"
SEVERAL = "mul"
"""The code of ISO 639 for text in several languages."""
SINITIC = frozenset({"cmn", "gan", "hak", "hsn", "lzh", "nan", "wuu", "yue"})
"""Languages that are written like Chinese, in addition to zh."""
UNSPACED = SINITIC | {
    *("zh", "ja", "th", "lo", "km", "my", "bo", "dz"),
    *("khb", "mnw", "nod", "shn", "tdd", "tts"),
}
"""Languages that are written without spaces between words: those of China and Japan, and those in
the scripts of Thailand, Laos, Cambodia, Myanmar and Tibet."""
LETTERS = 6
"""The most letters for each space in segmented text."""
PRIVATE = re.compile("q[a-t][a-z]")  # reserved for local use
SUBTAGS = re.compile(r"([-_][A-Za-z0-9]{1,8})*")  # script, region: zh-Hans, pt_BR


class Languages(NamedTuple):
    """The table of ISO 639."""

    names: dict[str, str]
    """Two-letter code -> English name."""
    codes: dict[str, str]
    """Two-letter code, three-letter code or name, in lower case -> two-letter code."""
    three_letter: frozenset[str]
    """Three-letter codes of languages without a two-letter code."""


def check_language(code: str) -> str:
    """Return a valid language code unchanged; raise UserError otherwise."""
    table, language = languages(), re.split("[-_]", code)[0]
    valid = language in table.names or language in table.three_letter or PRIVATE.fullmatch(language)
    if valid and SUBTAGS.fullmatch(code[len(language) :]):
        return code
    words = [word for word in (language.lower(), code.strip().lower()) if word in table.codes]
    nearest = words or difflib.get_close_matches(code.strip().lower(), table.codes, n=1, cutoff=0.4)
    hint = "use an ISO 639 code such as de or hsb"
    if nearest:
        guess = table.codes[nearest[0]]
        hint = f"did you mean '{guess}' ({table.names[guess]})?"
    raise UserError(
        f"'{code}' is not a language code: {hint} (use '{UNDETERMINED}' for a language without a "
        "code)"
    )


def base_language(code: str) -> str:
    """Return a language code without script and region, in lower case: `pt` for `pt_BR`."""
    return re.split("[-_]", code)[0].lower()


def require_words(texts: Iterable[str], language: str, where: str) -> None:
    """Raise UserError, prefixed by `where`, if the words of a text are not separated by spaces.

    Text in a language without spaces, or in their scripts where the language is not known, is
    considered unsegmented if it has more than six letters per space.
    """
    texts = list(texts)
    unknown = language == UNDETERMINED and is_unspaced(texts)
    if base_language(language) not in UNSPACED and not unknown:
        return
    spaces = letters = 0
    for text in texts:
        spaces += max(0, len(text.split()) - 1)
        letters += sum(map(str.isalnum, text))
    if letters > LETTERS * spaces:
        raise UserError(
            f"{where}: text without spaces between words, in '{language}', is not segmented into "
            f"words ({spaces:,} spaces, {letters:,} letters at its beginning): run a "
            "segmenter first"
        )


LanguageCode = Annotated[str, AfterValidator(check_language)]
"""Type of a setting that is a language code."""


@cache
def languages() -> Languages:
    """Return the table of ISO 639 from `languages.tsv`."""
    names, codes, three_letter = {}, {}, set[str]()
    table = Path(__file__).with_name("languages.tsv")
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, others, listed = line.split("\t")
        if not code:
            three_letter.update(others.split())
            continue
        synonyms = listed.split("; ")
        names[code] = synonyms[0].title()
        codes.update(dict.fromkeys([code, *others.split(), *synonyms], code))
    return Languages(names, codes, frozenset(three_letter))

"""Phonetic keys: words with the same key sound similar, and can be confused by a speech recogniser.

Keys result from applying the rewrite rules of a language in order. The rules are coarse on purpose:
English vowels are a single class, since their spelling is a poor guide to pronunciation; German and
French vowels are distinguished.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from augury.core.errors import UserError
from augury.corpora.languages import base_language

Rule = tuple[str, str]

RULES: dict[str, Sequence[Rule]] = {
    "en": (
        (r"^(?:kn|gn|pn)", "n"),
        (r"^wr", "r"),
        (r"^tw(?=o)", "t"),
        (r"wh", "w"),
        (r"ph", "f"),
        (r"gh(?=t|$)", ""),
        (r"(?<=u)gh", "f"),
        (r"(?:t|s|c)i(?=on|ous|al)", "S"),
        (r"tch|ch", "C"),
        (r"sh", "S"),
        (r"th", "T"),
        (r"dge?|j|g(?=[eiy])", "J"),
        (r"c(?=[eiy])|z", "s"),
        (r"ck|q|c", "k"),
        (r"x", "ks"),
        (r"mb$", "m"),
        (r"(?<=[^aeiou])e$", ""),
        (r"(?<=[aeiou])re$", "r"),
        (r"(?<=[aeiou])[wh]", ""),
        (r"(?<=.)[aeiouy]+|^[aeiou]+", "a"),
    ),
    "de": (
        (r"ß", "s"),
        (r"ph|v", "f"),
        (r"sch", "S"),
        (r"ch", "C"),
        (r"tz|z|ts", "Z"),
        (r"th|dt", "t"),
        (r"ck|q|c", "k"),
        (r"x|chs", "ks"),
        (r"[ae][iy]", "1"),
        (r"eu|äu|oi", "2"),
        (r"ie|y", "i"),
        (r"ä", "e"),
        (r"(?<=[aeiouöü12])h", ""),
        (r"d$", "t"),
        (r"b$", "p"),
        (r"g$", "k"),
    ),
    "fr": (
        (r"[éèêë]", "é"),
        (r"[àâ]", "a"),
        (r"[îï]", "i"),
        (r"[ôö]", "o"),
        (r"[ùûü]", "u"),
        (r"œ", "e"),
        (r"ph", "f"),
        (r"ch", "S"),
        (r"gn", "N"),
        (r"h", ""),
        (r"qu|q|k|c(?=[aou]|[^eiyaou]|$)", "K"),
        (r"^([cdlmst])es$", r"\1é"),
        (r"(?<=..)er$|(?<=.)(?:ez|ets?|est|ai[st]?|aient|és|ées?)$|^(?:est|et|aie?|es)$", "é"),
        (r"ss|ç|c", "s"),
        (r"eaux?|aux?", "o"),
        (r"(?:ai|ei)n|[iy][nm](?![aeiouyén])|un$", "2"),
        (r"(?:a|e)[nm](?![aeiouyénm])", "1"),
        (r"o[nm](?![aeiouyénm])", "3"),
        (r"ai|ei", "é"),
        (r"oi", "wa"),
        (r"g(?=[eiy])", "j"),
        (r"(?<=.)[sxztdp]+$|(?<=[123])[gK]$", ""),
        (r"(?<=.)e$", ""),
    ),
}


def require_keys(language: str) -> None:
    """Raise UserError for a language without rules."""
    if _base(language) not in RULES:
        raise UserError(
            f"noise asr does not support '{language}': use it for text in {', '.join(RULES)}"
        )


@lru_cache(maxsize=2**16)
def phonetic_key(word: str, language: str) -> str:
    """Return the phonetic key of a word in a language with rules.

    Empty if no letter is pronounced.
    """
    key = re.sub(r"[\W\d_]", "", word.lower())
    for pattern, sound in RULES[_base(language)]:
        key = re.sub(pattern, sound, key)
    return re.sub(r"(.)\1+", r"\1", key)


def _base(language: str) -> str:
    return base_language(language)

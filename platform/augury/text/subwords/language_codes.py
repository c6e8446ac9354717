"""The languages of multilingual tokenizers: `de` (M2M-100), `de_DE` (mBART), `deu_Latn` (NLLB)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from augury.core.errors import UserError, unknown
from augury.corpora.languages import base_language, languages

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CODE = re.compile("[a-z]{2,3}([_-][A-Za-z]+)*")


def language_codes(tokenizer: PreTrainedTokenizerBase) -> Mapping[str, int]:
    """Return the ids of a tokenizer's languages by their codes; none for one without languages."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    if codes := getattr(tokenizer, "lang_code_to_id", None):  # M2M-100 writes `de` as `__de__`
        return dict(codes)
    symbols = [symbol for symbol in tokenizer.all_special_tokens if CODE.fullmatch(symbol)]
    return dict(zip(symbols, tokenizer.convert_tokens_to_ids(symbols), strict=True))


def code_of(language: str, codes: Mapping[str, int], setting: str) -> str:
    """Return the code of a language (`de`) among those of a tokenizer.

    UserError, which names the setting that says it, where there is none, or several.
    """
    if language in codes:
        return language
    wanted = languages().codes.get(base_language(language), base_language(language))
    matching = []
    for code in codes:
        base = base_language(code)
        if languages().codes.get(base, base) == wanted:
            matching.append(code)
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise UserError(f"{unknown('language of the model', language, codes)}; {setting} says it")
    raise UserError(
        f"the model writes '{language}' in several ways, {', '.join(matching)}: set {setting} to "
        "one of them"
    )

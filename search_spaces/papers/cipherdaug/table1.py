"""Table 1: how many subwords of the joint vocabulary each text uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from augury.analysis.system import System
from augury.regimes.regime import TARGET
from augury.sweeping import printed
from augury.text.tokens import Tokens
from search_spaces.papers import cipherdaug as common

QUESTION = (
    "How many subwords of a joint vocabulary does each text use, and what do enciphered ones cost?"
)

base = common.BASE
scales = {
    **common.SCALES,
    **{f"paper/{corpus}": settings for corpus, settings in common.CORPORA.items()},
    "paper/ted-en-sk": common.trained("ted", "en", "sk", 10_000, 3_000),
}
metric, mode, seeds = common.METRIC, common.MODE, (1,)
NAMES = {
    "paper": "IWSLT14 De→En",
    "paper/iwslt14-en-de": "IWSLT14 En→De",
    "paper/iwslt17-fr-en": "IWSLT17 Fr→En",
    "paper/iwslt17-en-fr": "IWSLT17 En→Fr",
    "paper/ted-en-sk": "TED En→Sk",
    "paper/wmt14-en-de": "WMT14 En→De",
}
"""The printed row of a scale."""


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The run of CipherDAug with two keys that the other tables have too: its vocabulary is what
    is counted."""
    return {NAMES.get(scale, scale): common.cipherdaug(scale, 2)}


def unavailable(scale: str) -> dict[str, str]:
    """Every other corpus of the paper."""
    return {
        name: f"another corpus: --scale paper --corpus {of.partition('/')[2]}"
        for of, name in NAMES.items()
    } | {NAMES["paper"]: "another corpus: --scale paper"}


def measure(system: System) -> Mapping[str, float]:
    """Return the number of subwords that occur in each training text, and of all."""
    run = system.run
    source = system.counts() > 0
    target = np.zeros(len(source), bool)
    for ids in Tokens(run.stored_folder(run.tokens[TARGET])).shards():
        target[ids] = True
    keys = {f"{key}(src)": int((system.counts(f"rot-{key}") > 0).sum()) for key in (1, 2)}
    return {
        "src": int(source.sum()),
        "tgt": int(target.sum()),
        "s∪t": int((source | target).sum()),
        **keys,
        "total": len(system.pieces),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Table 1"
_COLUMNS = ("src", "tgt", "s∪t", "1(src)", "2(src)", "total")
published = printed.read(common.PUBLISHED, "table1", {column: column for column in _COLUMNS})
deviations = common.deviations()

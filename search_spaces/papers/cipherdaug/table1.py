"""Table 1: how many subwords of the joint vocabulary each text uses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from augury.analysis.system import System
from augury.regimes.regime import TARGET
from augury.sweeping.declarations import Rows
from augury.text.tokens import Tokens
from search_spaces.papers.cipherdaug.corpora import CORPORA, SCALES, TEXT, trained
from search_spaces.papers.cipherdaug.systems import cipherdaug
from search_spaces.papers.cipherdaug.table import Table, read

NAMES = {
    "paper": "IWSLT14 De→En",
    "paper/iwslt14-en-de": "IWSLT14 En→De",
    "paper/iwslt17-fr-en": "IWSLT17 Fr→En",
    "paper/iwslt17-en-fr": "IWSLT17 En→Fr",
    "paper/ted-en-sk": "TED En→Sk",
    "paper/wmt14-en-de": "WMT14 En→De",
}
"""The printed row of a scale."""


def rows(scale: str) -> Rows:
    """The run of CipherDAug with two keys that the other tables have too: its vocabulary is what
    is counted."""
    return {NAMES.get(scale, scale): cipherdaug(scale, 2)}


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


TABLE = Table(
    where="Table 1",
    question=(
        "How many subwords of a joint vocabulary does each text use, and what do enciphered ones "
        "cost?"
    ),
    scales={
        **SCALES,
        **CORPORA,
        "paper/ted-en-sk": trained("ted", "en", "sk", 10_000, 3_000),
    },
    text={**TEXT, "paper/ted-en-sk": (61_000, 25.0)},
    rows=rows,
    seeds=(1,),
    published=read("table1", "src", "tgt", "s∪t", "1(src)", "2(src)", "total"),
    unavailable=unavailable,
    measure=measure,
)

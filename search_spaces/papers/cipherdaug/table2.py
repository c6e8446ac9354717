"""Table 2: word-level augmentations, naive multi-source training and CipherDAug."""

from __future__ import annotations

from typing import Any

from augury.core.config import merge
from search_spaces.papers import cipherdaug as common

QUESTION = (
    "Do enciphered sources help as further training pairs, how many of them, "
    "and is agreement between views better?"
)

base = common.BASE
scales = common.SCALES | {
    "paper": merge(common.IWSLT14, {"corpus.tests": {"dev": {"validation": True}}})
}
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


KEYS: dict[str, tuple[int, ...]] = {"toy": (2, 3, 4, 5)}
"""Numbers of keys in place of 2, 5, 10 and 20, by scale."""
BUDGET: dict[str, dict[str, int]] = {
    "toy": {"max_passes": 84, "validate_every_passes": 12},
    "small": {"max_passes": 600, "validate_every_passes": 15},
}
"""Of naive training, which reads each pair in one of up to 41 texts a pass."""


def naive(scale: str, named: int, equation: int, *draws: dict[str, Any]) -> dict[str, Any]:
    """Enciphered sources as further pairs, under word-level augmentations, for the number of
    keys that a row names."""
    name = scale.partition("/")[0]
    keys = dict(zip((2, 5, 10, 20), KEYS.get(name, (2, 5, 10, 20)), strict=True))[named]
    system = common.row(
        common.cipher(keys), *draws, regime={"name": "multi_source", "equation": equation}
    )
    return system | {f"training.{key}": value for key, value in BUDGET.get(name, {}).items()}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Both equations of naive training are rows of their own."""
    raml, switch_out, word_drop = common.RAML, common.switch_out(scale), common.word_drop(scale)
    return {
        "Transformer": common.row(),
        "+ Word Dropout": common.row(word_drop),
        "+ SwitchOut": common.row(switch_out),
        "+ RAML": common.row(raml),
        "+ RAML + Switchout": common.row(raml, switch_out),
        "+ RAML + WordDrop": common.row(raml, word_drop),
        **{
            f"{keys} keys, eq. {equation}": naive(scale, keys, equation)
            for keys in (2, 5, 10, 20)
            for equation in (1, 2)
        },
        "5 keys + RAML + Switchout, eq. 2": naive(scale, 5, 2, raml, switch_out),
        "5 keys + RAML + WordDrop, eq. 2": naive(scale, 5, 2, raml, word_drop),
        "CipherDAug - 1 key": common.cipherdaug(scale, 1),
        "CipherDAug - 2 keys": common.cipherdaug(scale, 2),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 2", common.published("table2", "dev")
deviations = common.deviations()
for _scale in ("toy", "small"):
    deviations[_scale] += (
        "the paper prints BLEU on the development set; measured is the test set",
    )
_NAIVE = (
    "naive training: at most {} passes, each of which reads a pair in one of its texts, "
    "however many keys there are"
)
deviations["toy"] += (
    "naive training: 2, 3, 4 and 5 keys stand for 2, 5, 10 and 20",
    _NAIVE.format(BUDGET["toy"]["max_passes"]),
)
deviations["small"] += (_NAIVE.format(BUDGET["small"]["max_passes"]),)

"""Kambhatla, Born and Sarkar (2022): what its tables have in common. Each module here is a table or
a figure.

The paper trains a transformer on IWSLT14, IWSLT17, TED and WMT14 with ROT-k enciphered sources
(CipherDAug), and compares it with augmentations of words (WordDrop, SwitchOut, RAML), with
BPE-dropout and with data diversification.

toy: 1,000 pairs of two toy languages, about half a minute a row on one core; small: the first 5,000
or 10,000 pairs of Multi30k, half an hour to some hours a row; paper: the paper's corpora and
settings, for GPUs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.sweeping import printed
from augury.sweeping.printed import PrintedTable
from search_spaces.scales import TRANSLATION, TWO_GPUS

PAPER = (
    "Kambhatla, Born and Sarkar (2022), CipherDAug: Ciphertext based Data Augmentation for Neural "
    "Machine Translation, "
    "ACL, https://aclanthology.org/2022.acl-long.17"
)

BASE: dict[str, Any] = {
    "name": "cipherdaug",
    "task": "nmt",
    "augment": [],
    "regime": {"name": "plain"},
    "baseline": False,
}
METRIC, MODE = "valid/bleu", "max"
SEEDS = (1, 2, 3)
TOLERANCE = 0.5  # the paper gives medians of three runs, and no deviation


def trained(
    known: str, source: str, target: str, size: int, size_per_key: int, **changes: Any
) -> dict[str, Any]:
    """Return the paper's settings for one of its corpora, with the vocabulary's size without and
    for every key."""
    test = "newstest2014" if known == "wmt14" else "test"
    return {
        "corpus": {
            "known": known,
            "source_language": source,
            "target_language": target,
            "tests": {test: {}},
        },
        "vocabulary": {"size": size, "size_per_key": size_per_key},
        "model": {"architecture": "transformer_iwslt_de_en"},
        "training": {"preset": "paper", **TWO_GPUS, "precision": "bf16", "max_updates": 100_000},
        "scoring": {"metrics": ["multi_bleu", "bleu", "chrf"]},
        **changes,
    }


_SACRE = {"scoring": {"metrics": ["bleu", "chrf"]}}
IWSLT14 = trained("iwslt14", "de", "en", 12_000, 4_000)
WMT14 = "paper/wmt14-en-de"
CORPORA: dict[str, dict[str, Any]] = {
    "iwslt14-en-de": trained("iwslt14", "en", "de", 12_000, 4_000),
    "iwslt17-fr-en": trained("iwslt17", "fr", "en", 10_000, 3_000, **_SACRE),
    "iwslt17-en-fr": trained("iwslt17", "en", "fr", 10_000, 3_000, **_SACRE),
    "wmt14-en-de": trained(
        "wmt14",
        "en",
        "de",
        36_000,
        12_000,
        # With 36,000 + 12,000 entries: 68.7M, the 68M of Section 3.3; with a matrix for each side
        # it would be 93.3M.
        model={"architecture": "transformer_wmt_en_de", "share_all_embeddings": True},
        training={
            "preset": "paper",
            "max_tokens": 4096,
            "workers": 8,
            "precision": "bf16",
            "learning_rate": 7.0e-4,
            "warmup_updates": 4000,
            "max_updates": 400_000,
        },
        decoding={"beam": 4, "length_penalty": 0.6},
        scoring={"metrics": ["compound_bleu", "compound_bleu:t2t", "bleu", "chrf"]},
    ),
}
"""The corpora of Table 3 other than IWSLT14 De→En."""
TOY: dict[str, Any] = {
    "corpus": {
        "source_language": "qaa",
        "target_language": "qab",
        "train": {"builtin": 1000, "lexicon": 800},
        "valid": {"builtin": 200, "lexicon": 800},
        "tests": {"test": {"builtin": 500, "lexicon": 800}},
    },
    "vocabulary": {"size": 600},
    "model": {**TRANSLATION["toy"]["model"], "feedforward_size": 256},
    "training": {
        "max_tokens": 500,
        "learning_rate": 5.0e-3,
        "warmup_updates": 80,
        "max_passes": 72,
        "validate_every_passes": 3,
        "patience": 8,
    },
}
"""For many rows in little time: two toy languages of short sentences, whose baseline is at its
plateau in 20 passes."""
SCALES: dict[str, dict[str, Any]] = {
    "toy": TOY,
    "small": TRANSLATION["small"],
    "small/multi30k-10k": {**TRANSLATION["small"], "corpus.train.first": 10_000},
    "paper": IWSLT14,
}

PUBLISHED = Path(__file__).with_name("published.tsv")


def published(table: str, column: str) -> PrintedTable:
    """Return a printed table of which one column compares with what is measured."""
    return printed.read(PUBLISHED, table, {column: "mean"})


def is_paper(scale: str) -> bool:
    """Tell whether a scale has the paper's corpora and settings."""
    return scale.partition("/")[0] == "paper"


PLAIN: dict[str, Any] = {"name": "plain"}


def cipher(keys: int) -> dict[str, Any]:
    """Sources enciphered with the keys from 1 on."""
    return {"operator": "cipher", "keys": list(range(1, keys + 1))}


# On little text a divergence that acts at once, with the paper's weight, keeps a model from
# learning to translate.
_LITTLE = {"beta": 1, "warmup_passes": 10}


def agreement(scale: str, **changes: Any) -> dict[str, Any]:
    """CipherDAug's regime: the paper's, with τ = 2 on its large corpus, or the one for little
    text."""
    large = {"tau": 2} if scale == WMT14 else {}
    return {"name": "coregularised", **(large if is_paper(scale) else _LITTLE), **changes}


def r_drop(scale: str) -> dict[str, Any]:
    """R-Drop: the views are the plain source twice."""
    return (
        agreement(scale, preset="r_drop")
        if is_paper(scale)
        else agreement(scale, preset="r_drop", beta=1)
    )


def _tau(scale: str) -> float:
    """The rate of the source's changes; the target's is 0.95 for all languages (Appendix A.1)."""
    return 0.85 if "iwslt17" in scale else 0.9


def word_drop(scale: str) -> dict[str, Any]:
    """Pieces of the source become the unknown symbol."""
    return {"operator": "word_drop", "tau": _tau(scale)}


def switch_out(scale: str) -> dict[str, Any]:
    """Pieces of the source become other pieces."""
    return {"operator": "switch_out", "tau": _tau(scale)}


RAML = {"operator": "raml", "tau": 0.95}
BPE_DROPOUT = {"operator": "bpe_dropout", "dropout": 0.1, "side": "both"}


def row(*operators: dict[str, Any], regime: dict[str, Any] = PLAIN) -> dict[str, Any]:
    """Return the settings that a row changes."""
    return {"augment": list(operators), "regime": regime}


DIVERSE: dict[str, dict[str, int]] = {
    "toy": {"max_passes": 48, "validate_every_passes": 3},
    "small": {"max_passes": 60, "validate_every_passes": 1},
}
"""Training of the last model of data diversification, whose passes read up to seven times as
many pairs."""


def diversification(
    scale: str, views: bool = False, *, forward: bool = True, backward: bool = True
) -> dict[str, Any]:
    """Translations of the training text by three models each way, or by the three views of one
    CipherDAug model."""
    directions = ["forward"] * forward + ["backward"] * backward
    operator: dict[str, Any] = {"operator": "data_diversification", "directions": directions}
    system: dict[str, Any] = {}
    if views:
        operator |= {"seeds": [1], "views": ["plain", "rot-1", "rot-2"]}
        system = {"augment": [cipher(2)], "regime": agreement(scale)}
    last = DIVERSE.get(scale.partition("/")[0], {})
    system |= {f"training.{key}": SCALES[scale]["training"][key] for key in last}
    return row({**operator, **({"system": system} if system else {})}) | {
        f"training.{key}": value for key, value in last.items()
    }


def cipherdaug(scale: str, keys: int) -> dict[str, Any]:
    """CipherDAug with so many keys."""
    return row(cipher(keys), regime=agreement(scale))


LITERATURE = "literature: the value is another paper's, and the system is not one of Augury"
_PRECISION = "precision: bf16, which the paper does not state; the released script trains in fp16"
_DECAY = "weight decay and clipping: none, as the paper states none; the released script has 1e-4 and 0.1"
_BATCHES = (
    "batches: 2 workers × 2 accumulated × 5,000 tokens; the paper states its 2 GPUs and no batch, "
    "the released script "
    "reads 20,000 tokens an update on 1 GPU (with fewer GPUs: --set training.workers=1 --set "
    "training.accumulation=4)"
)
_EMBEDDINGS = (
    "embeddings: the source has a matrix of its own, the target's is the output layer's, as "
    "released; the printed "
    "sizes agree (python -m search_spaces.papers.cipherdaug.sizes)"
)
_WMT_BATCHES = (
    "batches: 8 workers × 4,096 tokens; the paper states its 8 GPUs and no batch (with fewer GPUs: "
    "--set "
    "training.workers=1 --set training.accumulation=8)"
)
_WMT_EMBEDDINGS = (
    "embeddings: one matrix for source, target and output, with which the system of one key has "
    "the printed 68M; the "
    "paper does not state it"
)
_DRAWS = (
    "word changes, not stated: τ as the inverse of a temperature and replacements from the joint "
    "vocabulary (the "
    "released code), for all languages but French those of German"
)
_MEAN = "the paper prints the median of three runs; measured are means over seeds"


def deviations(*lines: str) -> dict[str, tuple[str, ...]]:
    """Return deviations from the paper by scale; `lines` hold at all scales."""
    little = (
        "agreement: β = 1 from pass 10 on, not β = 5 from update 2,000 on, with which a model of "
        "so little text does "
        "not learn to translate"
    )
    toy, small = (
        f"training: at most {SCALES[scale]['training']['max_passes']} passes; the last model of "
        "data diversification, "
        f"whose passes are up to seven times as long, {DIVERSE[scale]['max_passes']}"
        for scale in ("toy", "small")
    )
    return {
        "toy": (
            "corpus: 1,000 pairs of two toy languages, not IWSLT14",
            "model: one layer of 96; vocabulary of 600 entries, and for enciphered text as many "
            "more as leave plain "
            "text in as many pieces",
            little,
            toy,
            *lines,
        ),
        "small": (
            "corpus: the first 5,000 or 10,000 pairs of Multi30k, not IWSLT14",
            "model: 2 + 2 layers of 192; vocabulary of 4,000 entries, and for enciphered text as "
            "many more as leave "
            "plain text in as many pieces",
            little,
            small,
            *lines,
        ),
        "paper": (_BATCHES, _PRECISION, _DECAY, _EMBEDDINGS, _DRAWS, _MEAN, *lines),
        WMT14: (_WMT_BATCHES, _PRECISION, _DECAY, _WMT_EMBEDDINGS, _DRAWS, _MEAN, *lines),
    }

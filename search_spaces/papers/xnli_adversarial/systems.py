"""The systems of the paper: the operators and regimes that their rows change."""

from __future__ import annotations

from typing import Any

from augury.corpora.known import data_file
from search_spaces.papers.xnli_adversarial.corpora import TOY_MODEL, TOY_TRAINING

PLAIN = {"name": "plain"}
# A tiny model with random weights learns little under attack, and the paper's radius is larger than
# its small embeddings.
TOY_ATTACK = {"epsilon": 0.02, "clean_weight": 1.0, "warmup_steps": 450}


def pgd(scale: str) -> dict[str, Any]:
    """PGD with three steps; the paper's α = 1 and ε = 3, or as many of the toy's own ε."""
    if scale == "toy":
        return {"name": "adversarial", "alpha_share": 1.0, **TOY_ATTACK}
    return {"name": "adversarial", "preset": "paper"}


def fgm(scale: str) -> dict[str, Any]:
    """FGM with PGD's ε."""
    if scale == "toy":
        return {"name": "adversarial", "attack": "fgm", **TOY_ATTACK}
    return {"name": "adversarial", "preset": "fgm"}


# Models and texts of the operators; settings that are not given are the paper's.
_TINY_T5 = {
    "model": {"architecture": "tiny"},
    "training": {"learning_rate": 2.0e-3, "max_epochs": 10},
}
_REORDERER: dict[str, dict[str, Any]] = {
    "toy": {
        "parallel": {
            "source_language": "qaa",
            "target_language": "qab",
            "train": {"builtin": 1500, "lexicon": 24},
            "valid": {"builtin": 100, "lexicon": 24},
            "filter": {"max_ratio": 1.5},
        },
        "model": {
            "architecture": "tiny",
            "vocabulary_size": 200,
            "feedforward_size": 128,
            "dropout": 0,
        },
        "training": {
            "learning_rate": 4.0e-3,
            "max_examples": None,
            "max_tokens": 500,
            "max_epochs": 12,
        },
    },
    "small": {
        "parallel": {"known": "multi30k", "source_language": "en", "target_language": "de"},
        **_TINY_T5,
    },
    "paper": {
        "parallel": {
            "known": "wmt14",
            "source_language": "en",
            "target_language": "de",
            "train": {"first": 200000},
        },
    },
}
_GENERATOR: dict[str, dict[str, Any]] = {
    "toy": {"generator": _TINY_T5, "teacher": {"model": TOY_MODEL, "training": TOY_TRAINING}},
    "small": {"generator": _TINY_T5, "teacher": {"model": {"architecture": "small"}}},
    "paper": {},
}


WORDNET = "wordnet_oewn"
"""Open English WordNet, from whose synonyms EDA chooses."""


def ea(scale: str, copies: int = 4) -> dict[str, Any]:
    """EDA, 80,000 examples of 20,000; the words of the toy languages have no synonyms."""
    operator = {"operator": "eda", "copies": copies, "alpha": 0.2}
    return operator if scale == "toy" else {**operator, "synonyms": data_file(WORDNET)}


def ra(scale: str, copies: int = 1) -> dict[str, Any]:
    """Premise and hypothesis in the word order of another language, 20,000 examples of 20,000."""
    return {"operator": "reorder", "copies": copies, **_REORDERER[scale]}


STRATEGY = {"rectify": "teacher", "threshold": 0.8}  # of all tables but Table 3 (Section 3.1)


def sa(scale: str, copies: int = 2, **changes: Any) -> dict[str, Any]:
    """Hypotheses generated for both other labels, 80,000 examples of 20,000 before labels are
    rectified."""
    return {"operator": "semantic", "copies": copies, **STRATEGY, **changes, **_GENERATOR[scale]}


def row(*operators: dict[str, Any], regime: dict[str, Any] = PLAIN) -> dict[str, Any]:
    """Return the settings that a row changes."""
    return {"augment": list(operators), "regime": regime}

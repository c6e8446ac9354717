"""Table 2: augmentations with and without adversarial training, zero-shot on XNLI."""

from __future__ import annotations

from typing import Any

from augury.corpora.known_nli import XNLI_LANGUAGES
from search_spaces.papers import xnli_adversarial as common

QUESTION = (
    "Which augmentations help zero-shot cross-lingual NLI, alone and with adversarial training?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "XLM-R"
TOY = ("qaa", "qab")


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The rows of zero-shot transfer, and a system of each language for the rows of in-language
    training."""
    ea, ra, sa, pgd = common.ea(scale), common.ra(scale), common.sa(scale), common.pgd(scale)
    return {
        "XLM-R": common.row(),
        "+PGD": common.row(regime=pgd),
        "+EA(80k)": common.row(ea),
        "+RA(20k)": common.row(ra),
        "+SA(80k)": common.row(sa),
        "+EA+PGD": common.row(ea, regime=pgd),
        "+RA+PGD": common.row(ra, regime=pgd),
        "+SA+PGD": common.row(sa, regime=pgd),
        "+EA+SA+PGD": common.row(ea, sa, regime=pgd),
        "+RA+SA+PGD": common.row(ra, sa, regime=pgd),
        **_in_language(scale),
    }


MODELS: dict[str, dict[str, Any]] = {
    "RoBERTa": {"model.name": "FacebookAI/roberta-large", "training.max_examples": 16},
    "mBERT": {"model.name": "google-bert/bert-base-multilingual-cased"},
    "XLM-R": {},
}


def _in_language(scale: str) -> dict[str, dict[str, Any]]:
    """A system for each language, trained on the text that was translated into it.

    And one trained on all of these.
    """
    systems = {
        row: common.row() | _translated(scale, language, MODELS[model])
        for model in MODELS
        for language, row in _parts(scale, model).items()
        if row != reference
    }
    return systems | (
        {} if scale == "small" else {"XLM-R (translate-train-all)": common.row() | _all(scale)}
    )


def _parts(scale: str, model: str) -> dict[str, str]:
    """The system for each language of an in-language row, empty where none is run.

    XLM-R trained on the language of zero-shot transfer is the reference.
    """
    by_scale: dict[str, tuple[str, ...]] = {
        "paper": XNLI_LANGUAGES,
        "toy": TOY if model == "XLM-R" else (),
    }
    languages = by_scale.get(scale, ())
    if model == "RoBERTa":
        languages = languages and ("en",)
    zero_shot = {"en", TOY[0]} if model == "XLM-R" else set()
    return {
        language: reference if language in zero_shot else f"{model} (in-language, {language})"
        for language in languages
    }


def _translated(scale: str, language: str, model: dict[str, Any]) -> dict[str, Any]:
    if scale == "toy":
        return {
            "corpus.language": language,
            "corpus.tests": {language: common.SCALES["toy"]["corpus"]["tests"]["qaa"]},
        }
    text = (
        {}
        if language == "en"
        else {"corpus.language": language, "corpus.known": ["xnli", "xnli_mt"]}
    )
    return {**text, "corpus.tests": {language: {}}, **model}


def _all(scale: str) -> dict[str, Any]:
    """Translate-train-all: one model for the training text in all languages."""
    if scale == "toy":
        train = common.SCALES["toy"]["corpus"]["train"]
        return {
            "corpus.train": [{"name": language, "language": language, **train} for language in TOY]
        }
    texts = [
        {"name": language, "language": language, "subset": 20000} for language in XNLI_LANGUAGES
    ]
    return {"corpus.known": ["xnli", "xnli_mt"], "corpus.train": texts}


def assembled(scale: str) -> dict[str, dict[str, str]]:
    """The rows of in-language training: the accuracy on a language is that of its own system."""
    return {f"{model} (in-language)": parts for model in MODELS if (parts := _parts(scale, model))}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 2", common.published("table2")
REASONS = {
    "toy": "at this scale there is one model, from nothing",
    "small": "trains on MultiNLI translated into each language, which is not among the data",
}


def unavailable(scale: str) -> dict[str, str]:
    """The rows of in-language training that a scale cannot run."""
    return {
        row: REASONS[scale]
        for model in MODELS
        if (row := f"{model} (in-language)") not in assembled(scale)
    }


deviations = common.deviations(
    "in-language rows: which RoBERTa is not stated, and the teacher's, RoBERTa-large, is taken; "
    "XLM-R on English is "
    "the system of zero-shot transfer",
    "XLM-R (translate-train-all), trained on as many examples of every language, is not in the "
    "paper",
)

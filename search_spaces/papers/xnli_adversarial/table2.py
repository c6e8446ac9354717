"""Table 2: augmentations with and without adversarial training, zero-shot on XNLI."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.xnli_adversarial.corpora import SCALES, XNLI_LANGUAGES
from search_spaces.papers.xnli_adversarial.systems import ea, pgd, ra, row, sa
from search_spaces.papers.xnli_adversarial.table import Table, read

ZERO_SHOT = "XLM-R"
TOY = ("qaa", "qab")
MODELS: dict[str, dict[str, Any]] = {
    "RoBERTa": {"model.name": "FacebookAI/roberta-large", "training.max_examples": 16},
    "mBERT": {"model.name": "google-bert/bert-base-multilingual-cased"},
    "XLM-R": {},
}
REASONS = {
    "toy": "at this scale there is one model, from nothing",
    "small": "trains on MultiNLI translated into each language, which is not among the data",
}


def rows(scale: str) -> Rows:
    """The rows of zero-shot transfer, and a system of each language for the rows of in-language
    training."""
    with_ea, with_ra, with_sa, attack = ea(scale), ra(scale), sa(scale), pgd(scale)
    return {
        ZERO_SHOT: row(),
        "+PGD": row(regime=attack),
        "+EA(80k)": row(with_ea),
        "+RA(20k)": row(with_ra),
        "+SA(80k)": row(with_sa),
        "+EA+PGD": row(with_ea, regime=attack),
        "+RA+PGD": row(with_ra, regime=attack),
        "+SA+PGD": row(with_sa, regime=attack),
        "+EA+SA+PGD": row(with_ea, with_sa, regime=attack),
        "+RA+SA+PGD": row(with_ra, with_sa, regime=attack),
        **_in_language(scale),
    }


def _in_language(scale: str) -> Rows:
    """A system for each language, trained on the text that was translated into it, and one trained
    on all of these."""
    systems = {}
    for model, settings in MODELS.items():
        for language, name in _parts(scale, model).items():
            if name != ZERO_SHOT:
                systems[name] = row() | _translated(scale, language, settings)
    if scale != "small":
        systems["XLM-R (translate-train-all)"] = row() | _all(scale)
    return systems


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
        language: ZERO_SHOT if language in zero_shot else f"{model} (in-language, {language})"
        for language in languages
    }


def _translated(scale: str, language: str, model: dict[str, Any]) -> dict[str, Any]:
    if scale == "toy":
        return {
            "corpus.language": language,
            "corpus.tests": {language: SCALES["toy"]["corpus"]["tests"]["qaa"]},
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
        train = SCALES["toy"]["corpus"]["train"]
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


def unavailable(scale: str) -> dict[str, str]:
    """The rows of in-language training that a scale cannot run."""
    names = (f"{model} (in-language)" for model in MODELS)
    return {name: REASONS[scale] for name in names if name not in assembled(scale)}


TABLE = Table(
    where="Table 2",
    question=(
        "Which augmentations help zero-shot cross-lingual NLI, alone and with adversarial training?"
    ),
    rows=rows,
    published=read("table2"),
    assembled=assembled,
    unavailable=unavailable,
)

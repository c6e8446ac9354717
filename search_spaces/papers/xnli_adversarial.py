"""Dong et al. (2021): fine-tune XLM-R on 20,000 English examples of MultiNLI, with augmentations
and adversarial training, and test it on XNLI in 15 languages.

EA, RA and SA are the paper's augmentations (EDA, reordering, generated hypotheses), PGD and FGM its
adversarial training. toy: the built-in synthetic corpus in two languages of different word order;
small: English text of the same kind as MultiNLI and the development set of XNLI; paper: the paper's
corpora and models, for GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from augury.corpora.known import KNOWN_NLI
from augury.sweeping.declarations import Rows
from search_spaces.papers import from_yaml

if TYPE_CHECKING:
    from augury.analysis.system import System

PAPER = from_yaml.load("xnli_adversarial")
SCALES: dict[str, dict[str, Any]] = PAPER["scales"]
XNLI_LANGUAGES = tuple(KNOWN_NLI["xnli"].languages)
ZERO_SHOT, TOY = "XLM-R", ("qaa", "qab")

# Table 2: the rows of in-language training have a system for each language, trained on the text
# that was translated into it; its accuracy on that language is the row's.
MODELS: dict[str, dict[str, Any]] = {
    "RoBERTa": {"model.name": "FacebookAI/roberta-large", "training.max_examples": 16},
    "mBERT": {"model.name": "google-bert/bert-base-multilingual-cased"},
    "XLM-R": {},
}
REASONS = {
    "toy": "at this scale there is one model, from nothing",
    "small": "trains on MultiNLI translated into each language, which is not among the data",
}


def parts(scale: str, model: str) -> dict[str, str]:
    """Return the system for each language of an in-language row, empty where none is run.

    XLM-R trained on the language of zero-shot transfer is the reference.
    """
    languages: dict[str, tuple[str, ...]] = {"paper": XNLI_LANGUAGES}
    if model == "RoBERTa":
        languages = {"paper": ("en",)}
    if model == "XLM-R":
        languages["toy"] = TOY
    zero_shot = ("en", TOY[0]) if model == "XLM-R" else ()
    return {
        language: ZERO_SHOT if language in zero_shot else f"{model} (in-language, {language})"
        for language in languages.get(scale, ())
    }


def translated(scale: str, language: str) -> dict[str, Any]:
    """Return the corpus of a system that is trained on the text in a language, and tested on it."""
    if scale == "toy":
        test = SCALES["toy"]["corpus"]["tests"]["qaa"]
        return {"corpus.language": language, "corpus.tests": {language: test}}
    known = {"corpus.language": language, "corpus.known": ["xnli", "xnli_mt"]}
    return ({} if language == "en" else known) | {"corpus.tests": {language: {}}}


def table2(scale: str) -> Rows:
    """Return the rows of zero-shot transfer, a system of each language for the rows of in-language
    training, and one that is trained on the text in all languages (translate-train-all)."""
    plain = from_yaml.row({}, [], scale)
    systems = from_yaml.rows(PAPER["parts"], PAPER["tables"]["table2"]["rows"], scale)
    for model, settings in MODELS.items():
        for language, name in parts(scale, model).items():
            if name != ZERO_SHOT:
                systems[name] = plain | translated(scale, language) | settings
    if scale != "small":
        known = {"corpus.known": ["xnli", "xnli_mt"]} if scale == "paper" else {}
        languages = XNLI_LANGUAGES if scale == "paper" else TOY
        train = {"subset": 20_000} if scale == "paper" else SCALES["toy"]["corpus"]["train"]
        texts = [{"name": language, "language": language, **train} for language in languages]
        systems["XLM-R (translate-train-all)"] = plain | known | {"corpus.train": texts}
    return systems


def assembled(scale: str) -> dict[str, dict[str, str]]:
    """Return the rows of in-language training that a scale runs, with their systems."""
    return {f"{model} (in-language)": found for model in MODELS if (found := parts(scale, model))}


def unavailable(scale: str) -> dict[str, str]:
    """Return the rows of in-language training that a scale cannot run."""
    names = (f"{model} (in-language)" for model in MODELS)
    return {name: REASONS[scale] for name in names if name not in assembled(scale)}


def kept(system: System) -> Mapping[str, float]:
    """Return, of the generated hypotheses that are new texts, how many per cent have kept a label
    (column *p* of Table 3)."""
    for output in system.health:
        if output.operator == "semantic":
            lost = output.lost.items()
            dropped = sum(count for why, count in lost if why.startswith("dropped "))
            return {"p": 100 * output.made / max(1, output.made + dropped)}
    return {}


TABLES = from_yaml.tables(
    "xnli_adversarial",
    PAPER,
    table2={"rows": table2, "assembled": assembled, "unavailable": unavailable},
    table3={"measure": kept},
)

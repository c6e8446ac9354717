"""Li and Specia (2019): train a transformer on clean text (WMT15 French-English) and tune it on
little noisy text (MTNT, comments of Reddit), with fuzzy matches (FM), forward and back translation
(FT, BT) and transcripts of speech (ASR).

toy: the built-in synthetic corpus, always German to English, whose noisy part spells otherwise;
small: news and Tatoeba as clean text and the development set of MTNT as noisy text; paper: the
paper's corpora and settings, for GPUs; released_code: the same with the tuning of the first
author's thesis repository. Files of all scales but toy are in the directory AUGURY_DATA.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from augury.sweeping.declarations import Rows
from search_spaces.papers import from_yaml
from search_spaces.scales import RELEASED, size_of

if TYPE_CHECKING:
    from augury.analysis.system import System

PAPER = from_yaml.load("noisy_nmt")
BLEU, UNCASED = "multi_bleu_detok", "multi_bleu_detok:lower"
"""The paper's metric, and that of leaderboards."""
FIXED, UNCASED_FIXED = f"{BLEU}:fixed", f"{UNCASED}-fixed"
"""The same of French with fixed punctuation."""
FR_EN, EN_FR = ("fr", "en"), ("en", "fr")


def texts_of(scale: str, direction: tuple[str, str]) -> dict[str, Any]:
    """Return the texts of a direction, source to target language, at a scale."""
    size, (source, target) = size_of(scale), direction
    texts = PAPER["texts"][f"small/{target}" if size == "small" else size]
    found: dict[str, Any] = from_yaml.filled(texts, source=source, target=target)
    return found


def experiment(scale: str, direction: tuple[str, str]) -> dict[str, Any]:
    """Return corpus, vocabulary, model and training of a direction at a scale."""
    texts, (read, written) = texts_of(scale, direction), languages(scale, direction)
    clean, noisy = texts["valid"]
    return {
        "corpus": {
            "source_language": read,
            "target_language": written,
            "train": texts["clean"][0] if scale == "toy" else named(texts["clean"], "clean"),
            "valid": [{"name": "clean", **clean}, {"name": "noisy", **noisy}],
            "decides": "clean",
            "tests": texts["tests"],
            "filter": {"max_ratio": 1.5} if scale == "toy" else {"max_length": 70, "max_ratio": 9},
        },
        **PAPER["settings"][scale],
    }


def languages(scale: str, direction: tuple[str, str]) -> tuple[str, str]:
    """Return the languages of a direction at a scale."""
    return ("de", "en") if scale == "toy" else direction


def named(texts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return texts with a name, numbered where there are several."""
    return [
        {"name": name if len(texts) == 1 else f"{name}-{number}", **text}
        for number, text in enumerate(texts, 1)
    ]


def scales(direction: tuple[str, str], first: str = BLEU) -> dict[str, dict[str, Any]]:
    """Return the scales of a direction.

    Metrics are cased and uncased BLEU, of outputs as they are and, of French, with fixed
    punctuation, and chrF; `first` is the one that decides.
    """
    of_direction = {}
    for scale in PAPER["settings"]:
        known = [BLEU, UNCASED]
        known += [FIXED, UNCASED_FIXED] if is_french(scale, direction) else []
        deciding = first if first in known else UNCASED
        metrics = list(dict.fromkeys([deciding, *known, "chrf"]))
        scoring = {"scoring": {"metrics": metrics}}
        of_direction[scale] = {**experiment(scale, direction), **scoring}
    return of_direction


def is_french(scale: str, direction: tuple[str, str]) -> bool:
    """Return whether outputs are French, whose punctuation can be fixed."""
    return languages(scale, direction)[1] == "fr"


def systems(direction: tuple[str, str], scale: str) -> Rows:
    """Return the systems of a direction at a scale, by what is read."""
    texts, (read, written) = texts_of(scale, direction), languages(scale, direction)

    def stage(train: Any, *operators: Any, **mixture: Any) -> dict[str, Any]:
        """Tuning: optimizer and step are carried over, the noisy validation text decides."""
        changes = {"carry": "optimizer", "corpus.train": train, "corpus.decides": "noisy"}
        changes |= {**PAPER["tuning"][scale], "augment": list(operators)}
        return changes | ({"mixture": mixture} if mixture else {})

    search = from_yaml.at_scale(PAPER["decoding"], scale)
    monolingual = {"language": read, "train": texts["noisy_source"]}
    fuzzy = from_yaml.at_scale(PAPER["fuzzy"], scale)
    if size_of(scale) == "paper":
        fuzzy = {**fuzzy, "monolingual": monolingual}
    # Translated by the plain model of the stage, Tune-B.
    forward = {"operator": "forward_translation", "monolingual": monolingual, **search}
    # Translated by Tune-S of the other direction.
    valid = texts.get("opposite_valid")
    validated = {"corpus.valid.1": {"name": "noisy", **valid}} if valid else {}
    backward = {
        "operator": "back_translation",
        "monolingual": {"language": written, "train": texts["noisy_target"]},
        "system": {"corpus.train": texts["opposite"], **validated},
        **search,
    }
    same = {"name": "same", **texts["same"]}
    other = {"name": "other", **texts["other"], "reversed": True}
    speech, spoken = {"name": "speech", **texts["speech"]}, {"name": "spoken", **texts["spoken"]}
    staged: dict[str, dict[str, Any]] = {
        "Baseline": {},
        "Tune-S": {"tune": stage(texts["same"])},
        "+BT": {"tune": stage(texts["same"], backward)},
        "Tune-B": {"both": stage([same, other])},
        "+FM": {"both": stage([same, other], fuzzy)},
        "+FT": {"both": stage([same, other], forward)},
        "+FT+FM": {"both": stage([same, other], forward, fuzzy)},
        "+double tune": {
            "both": stage([same, other], forward, fuzzy),
            "again": stage(texts["same"]),
        },
        "IWSLT": {"speech": stage(texts["speech"])},
        "MTNT+IWSLT": {"both": stage([same, other, speech])},
    }
    if scale == RELEASED:
        for name, stages in staged.items():
            for of_stage, changes in stages.items():
                by = "again" if of_stage == "again" else name
                changes |= PAPER["released_tuning"].get(by, {})
    transcripts = from_yaml.filled(from_yaml.at_scale(PAPER["transcripts"], scale))
    for ratio, operator in transcripts.items():
        # Tuning on transcripts alone: the text that was spoken is not read.
        weights = {operator["operator"]: {"weight": 1}}
        alone = stage([{**spoken, "weight": 0}], operator, **weights)
        staged[f"ASR (λ = {ratio})"] = {"speech": alone}
    staged["MuST-C"] = {"speech": stage(texts["spoken"])}
    rows: Rows = {name: {"stages": of_row} if of_row else {} for name, of_row in staged.items()}

    plain = experiment(scale, direction)
    tune_b = {"corpus": plain["corpus"], "vocabulary": plain["vocabulary"]}
    tune_b["stages"] = {"both": stage([same, other])}
    heard = transcripts[1.5]
    if size_of(scale) != "paper":
        heard = {**heard, "of": ["spoken"]}
    operators = [{**forward, "system": tune_b}, {**fuzzy, "of": ["same", "other"]}, heard]
    parts = [
        *({**text, "tag": "<clean_s>"} for text in named(texts["clean"], "clean")),
        {**same, "tag": "<MTNT_s>", "weight": 6},
        {**other, "tag": "<MTNT_rev>", "weight": 6},
        {**speech, "tag": "<IWSLT_s>"},
        {**spoken, "tag": "<mustc_s>"},
    ]
    rows["Mixed training"] = _mixed(parts, operators, texts["tests"])
    return rows


def _mixed(
    parts: list[dict[str, Any]], operators: list[dict[str, Any]], tests: Iterable[str]
) -> dict[str, Any]:
    """Return mixed training: one training on all text, with a tag for every kind.

    `operators` are those of forward translation, fuzzy matches and transcripts.
    """
    _, fuzzy, heard = operators
    mixture = {
        "forward_translation": {"tag": "<FT_s>"},
        "fuzzy_match": {"tag": "<NFR_s>"},
        heard["operator"]: {"tag": "<asr_s>"},
    }
    tags = list(PAPER["tags"])
    if "monolingual" in fuzzy:  # with the released code's tag
        mixture["fuzzy_match-mono"] = {"tag": "<NFR_mono>"}
        tags.append("<NFR_mono>")
    test_tags = {
        f"corpus.tests.{name}.tag": "<MTNT_s>" if name.startswith("MTNT") else "<clean_s>"
        for name in tests
    }
    return {
        "corpus.train": parts,
        "corpus.decides": "noisy",
        "corpus.valid.0.tag": "<clean_s>",
        "corpus.valid.1.tag": "<MTNT_s>",
        **test_tags,
        "vocabulary.reserved": tags,
        "augment": operators,
        "mixture": mixture,
    }


TRANSCRIBED = ("ASR (λ = 1.5)", "ASR (λ = 1.2)")


def table2(scale: str) -> Rows:
    """Return the systems of Table 4 that are tuned on transcripts."""
    rows = systems(EN_FR, scale)
    return {name: rows[name] for name in TRANSCRIBED}


def word_rates(system: System) -> Mapping[str, float]:
    """Return the rates of all records against the training text that they are made of (Table 2)."""
    from augury.corpora.corpus import Corpus
    from augury.scoring.wer import Alignment, align, word_error_rate, word_recognition_rate

    run = system.run
    corpus, (records,) = run.corpus("train"), map(run.stored_folder, run.records.values())
    references = dict(zip(corpus.column("id"), corpus.column("source"), strict=True))
    transcripts = Corpus(records)
    counts = Alignment(0, 0, 0)
    lineages: list[Any] = transcripts.column("lineage")
    for text, lineage in zip(transcripts.column("source"), lineages, strict=True):
        alignment = align(references[lineage["parents"][0]].split(), text.split())
        counts = Alignment(*map(sum, zip(counts, alignment, strict=True)))
    return {"WER": word_error_rate(counts), "WRR": word_recognition_rate(counts)}


def table3(scale: str) -> Rows:
    """Return every system that the paper trains from French, and mixed training, which it has in
    the other direction alone."""
    further = (*TRANSCRIBED, "MuST-C")
    rows = systems(FR_EN, scale)
    return {name: row for name, row in rows.items() if name not in further}


def fuzzy_pairs(system: System) -> Mapping[str, float]:
    """Return the number of pairs that fuzzy matches have made (Section 3.2)."""
    made = [health.made for health in system.health if health.operator == "fuzzy_match"]
    return {"fuzzy pairs": sum(made)} if made else {}


PRINTED = {"Tune-S": "MTNT(Tune-S)", "Tune-B": "MTNT(Tune-B)"}
RESCORED = {
    "Tune-S +fix punctuation": "MTNT(Tune-S)",
    "double tune +fix punctuation": "+double tune",
}
"""Rows of Table 4 whose outputs are those of another, scored after their punctuation is fixed."""


def table4(scale: str) -> Rows:
    """Return every system that the paper trains to French; it has no row for BT here."""
    rows = systems(EN_FR, scale)
    return {PRINTED.get(name, name): row for name, row in rows.items() if name != "+BT"}


def rescored(scale: str) -> dict[str, tuple[str, str]]:
    """Return those rows with their metric, where outputs are French."""
    french = is_french(scale, EN_FR)
    return {row: (other, FIXED) for row, other in RESCORED.items() if french}


def unavailable(scale: str) -> dict[str, str]:
    """Return the same rows where outputs are not French."""
    reason = "at this scale outputs are English, and French is fixed"
    return {row: reason for row in RESCORED if row not in rescored(scale)}


def submitted(direction: tuple[str, str], name: str, scale: str) -> Rows:
    """Return the system that was submitted to WMT19 Robustness (Tables 5 and 6)."""
    return {"Ours": systems(direction, scale)[name]}


TABLES = from_yaml.tables(
    "noisy_nmt",
    PAPER | {"parts": {}},
    table2={"scales": scales(EN_FR), "rows": table2, "measure": word_rates},
    table3={"scales": scales(FR_EN), "rows": table3, "measure": fuzzy_pairs},
    table4={
        "scales": scales(EN_FR),
        "rows": table4,
        "rescored": rescored,
        "unavailable": unavailable,
        "measure": fuzzy_pairs,
    },
    # Merged MTNT, FT and FM.
    table5={"scales": scales(FR_EN, UNCASED), "rows": partial(submitted, FR_EN, "+FT+FM")},
    # Double tuning, punctuation fixed.
    table6={
        "scales": scales(EN_FR, UNCASED_FIXED),
        "rows": partial(submitted, EN_FR, "+double tune"),
    },
)

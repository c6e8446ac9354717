"""Table 2: how noisy the transcripts of speech are that the filter of lengths leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.system import System
from augury.corpora.corpus import Corpus
from augury.scoring.wer import Alignment, align, word_error_rate, word_recognition_rate
from augury.sweeping import printed
from search_spaces.papers import noisy_nmt as common

QUESTION = "How many words are recognised in the transcripts that a limit of lengths leaves?"

base, scales = common.BASE, common.scales("en", "fr")
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "ASR (λ = 1.5)"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The systems of Table 4 that are tuned on transcripts."""
    direction = common.Direction(scale, "en", "fr")
    return {f"ASR (λ = {ratio})": direction.asr(ratio) for ratio in (1.5, 1.2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the rates of all records against the training text that they are made of."""
    run = system.run
    corpus, (records,) = run.corpus("train"), map(run.stored_folder, run.records.values())
    references, transcripts = (
        dict(zip(corpus.column("id"), corpus.column("source"), strict=True)),
        Corpus(records),
    )
    counts = Alignment(0, 0, 0)
    lineages: list[Any] = transcripts.column("lineage")
    for text, lineage in zip(transcripts.column("source"), lineages, strict=True):
        alignment = align(references[lineage["parents"][0]].split(), text.split())
        counts = Alignment(*map(sum, zip(counts, alignment, strict=True)))
    return {"WER": word_error_rate(counts), "WRR": word_recognition_rate(counts)}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Table 2"
published = printed.read(common.PUBLISHED, "table2", {"WER": "WER", "WRR": "WRR"})
deviations = common.deviations(
    "transcripts by people are compared as they are in the training text"
)

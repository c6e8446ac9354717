"""Table 2: how noisy the transcripts of speech are that the filter of lengths leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.system import System
from augury.corpora.corpus import Corpus
from augury.scoring.wer import Alignment, align, word_error_rate, word_recognition_rate
from augury.sweeping.declarations import Rows
from search_spaces.papers.noisy_nmt.settings import at_scales
from search_spaces.papers.noisy_nmt.systems import Direction
from search_spaces.papers.noisy_nmt.table import Table, read


def rows(scale: str) -> Rows:
    """The systems of Table 4 that are tuned on transcripts."""
    direction = Direction(scale, "en", "fr")
    return {f"ASR (λ = {ratio})": direction.asr(ratio) for ratio in (1.5, 1.2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the rates of all records against the training text that they are made of."""
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


TABLE = Table(
    where="Table 2",
    question="How many words are recognised in the transcripts that a limit of lengths leaves?",
    scales=at_scales("en", "fr"),
    rows=rows,
    published=read("table2", "WER", "WRR"),
    measure=measure,
)

"""Test sentences with what every system made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.corpus import Corpus
from augury.reporting.results import SystemResult
from augury.rng import generator
from augury.store import Folder


@dataclass(frozen=True)
class Sample:
    """One sentence of a test set; lines are numbered from 1."""

    line: int
    source: str
    reference: str
    hypotheses: Mapping[str, str]
    """System -> its translation, of its first seed."""


@dataclass(frozen=True)
class Samples:
    """Sentences drawn from one test set."""

    source_language: str
    target_language: str
    sentences: tuple[Sample, ...]


def draw(results: Sequence[SystemResult], test: str, count: int = 10) -> Samples | None:
    """Sentences drawn without regard to any system; None where the test set or all translations are gone."""
    name = f"{test}.txt"
    translated = {result.name: folder.sub("hypotheses") for result in results
                  for folder in list(result.runs.values())[:1] if folder.sub("hypotheses").exists(name)}  # fmt: skip
    inputs = {given["name"]: given["address"] for result in results for given in result.facts["inputs"]}
    corpus = Corpus(Folder(next(iter(results[0].runs.values())).root, f"{CORPORA}/{inputs.get(test)}"))
    if not translated or not corpus.folder.complete:
        return None
    sources, references = corpus.column("source"), corpus.column("target")
    lines = {system: folder.read(name).decode().split("\n") for system, folder in translated.items()}
    count = min(count, len(sources))
    chosen = sorted(generator("samples", corpus.address).choice(len(sources), count, replace=False).tolist())
    (languages,) = corpus.shard(corpus.shards[0], ["source_language", "target_language"]).slice(0, 1).to_pylist()
    return Samples(languages["source_language"], languages["target_language"], tuple(
        Sample(line + 1, sources[line], references[line], {system: lines[system][line] for system in lines})
        for line in chosen
    ))  # fmt: skip

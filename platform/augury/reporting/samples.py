"""Test examples with what every system made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.rng import generator
from augury.core.store import Folder
from augury.corpora.corpus import COLUMNS, Corpus
from augury.corpora.corpus import KIND as CORPORA
from augury.reporting.results import SystemResult


@dataclass(frozen=True)
class Sample:
    """One example of a test set; lines are numbered from 1."""

    line: int
    given: Mapping[str, str]
    """What is read, by the name of its column."""
    expected: str
    hypotheses: Mapping[str, str]
    """System -> its translation or label, of its first seed."""


@dataclass(frozen=True)
class Samples:
    """Examples drawn from one test set."""

    language: str
    expected: str
    """What is expected of a system: `target` or `label`."""
    expected_language: str
    examples: tuple[Sample, ...]


def draw(results: Sequence[SystemResult], test: str, count: int = 10) -> Samples | None:
    """Examples drawn without regard to any system; None where the test set or all hypotheses are gone."""
    name = f"{test}.txt"
    made = {
        result.name: folder.sub("hypotheses")
        for result in results
        for folder in list(result.runs.values())[:1]
        if folder.sub("hypotheses").exists(name)
    }
    inputs = {given["name"]: given["address"] for result in results for given in result.facts["inputs"]}
    corpus = Corpus(Folder(next(iter(results[0].runs.values())).root, f"{CORPORA}/{inputs.get(test)}"))
    if not made or not corpus.folder.complete:
        return None
    columns = COLUMNS[corpus.kind]
    given, expected = {name: corpus.column(name) for name in columns.read}, corpus.column(columns.expected)
    lines = {system: folder.read(name).decode().split("\n") for system, folder in made.items()}
    count = min(count, len(expected))
    chosen = sorted(generator("samples", corpus.address).choice(len(expected), count, replace=False).tolist())
    named = list(dict.fromkeys([columns.language, columns.expected_language]))
    (languages,) = corpus.shard(corpus.shards[0], named).slice(0, 1).to_pylist()
    return Samples(
        languages[columns.language],
        columns.expected,
        languages[columns.expected_language],
        tuple(
            Sample(
                line + 1,
                {name: texts[line] for name, texts in given.items()},
                expected[line],
                {system: lines[system][line] for system in lines},
            )
            for line in chosen
        ),
    )

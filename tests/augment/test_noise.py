"""Operator noise, and test sets with noise in what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.augment import pipeline
from augury.augment.noise import Noise
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments import make
from tests.augment import texts
from tests.tiny import PARALLEL, experiment

SENTENCES = [
    "Their dog wrote to me.",
    "There are two dogs, too.",
    "He knows no dog here.",
    "I hear that you know.",
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def records(count: int, language: str = "en") -> pa.Table:
    sources = [SENTENCES[number % 4] for number in range(count)]
    return texts.records(language=language, source=sources, target=["Ça va."] * count)


def corpus(store: Store, language: str = "en") -> Corpus:
    return texts.corpus(store, records(8, language), f"abc-{language}")


def test_the_realised_rate_of_confused_words_is_the_rate(store: Store) -> None:
    """Of 800 words; three standard deviations of a share of 0.1 are 0.03. A few words sound like
    another."""
    text = texts.corpus(store, records(200))
    (part,) = pipeline.augment(text, [Noise(asr=0.1)], store).parts
    assert ["their", "there"] in part.fitted["confusions"]["en"].values()
    assert 0.1 < part.fitted["coverage"]["en"] < 0.7
    heard = [text.split() for text in texts.table_of(part).column("source").to_pylist()]
    said = [text.split() for text in text.column("source")]
    pairs = [pair for both in zip(said, heard, strict=True) for pair in zip(*both, strict=True)]
    assert sum(old != new for old, new in pairs) / 800 == pytest.approx(0.1, abs=0.03)


CLEAN = "test"


def noisy(**noises: Any) -> dict[str, Any]:
    text = {"builtin": 20}
    return {
        **PARALLEL,
        "tests": {
            CLEAN: text,
            **{name: {**text, "noise": noise} for name, noise in noises.items()},
        },
    }


def test_the_source_alone_has_noise(tmp_path: Path) -> None:
    noises = {
        "some": {"spelling": 0.2},
        "more": {"spelling": 0.4, "seed": 1},
        "none": {"spelling": 0},
    }
    run = make.prepare(experiment("nmt", tmp_path, corpus=noisy(**noises)), Store(tmp_path))
    clean, some, more, none = (run.corpus(name) for name in (CLEAN, *noises))
    assert none.column("source") == clean.column("source")
    assert some.column("target") == more.column("target") == clean.column("target")
    assert some.column("id") == [name.replace(CLEAN, "some") for name in clean.column("id")]
    lines = zip(*(corpus.column("source") for corpus in (clean, some, more)), strict=True)
    words = [word for line in lines for word in zip(*(text.split() for text in line), strict=True)]
    changed = [(old != few, old != many) for old, few, many in words]
    shares = [sum(column) / len(changed) for column in zip(*changed, strict=True)]
    assert 0.1 < shares[0] < 0.3 < shares[1] and all(many or not few for few, many in changed)
    assert some.manifest["noise"]["spelling"] == 0.2

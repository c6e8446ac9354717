"""Text as tokens of Moses, in vocabularies and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.text.pieces.settings import Moses, VocabularySettings
from augury.text.pieces.training import train
from augury.text.pieces.vocabulary import Vocabulary

FRENCH = [
    "L'État, c'est MOI (aujourd'hui) : 3,5 % !",
    "Qu'est-ce que c'est ?",
    "Nous ALLONS à Paris.",
]
ENGLISH = ["It's John's, isn't it? \"Yes\" (no) 3.5%, e.g.", "What is it?", "We GO to Paris."]


def test_moses_splits_by_the_rules_of_the_view_and_joins_by_those_of_the_target() -> None:
    moses = Moses("fr", "en")
    assert moses.encode(FRENCH[:1], "source") == ["L' État , c' est MOI ( aujourd' hui ) : 3,5 % !"]
    tokens = ["It 's John 's , isn 't it ? \" Yes \" ( no ) 3.5 % , e.g."]
    assert moses.encode(ENGLISH[:1], "target") == tokens
    assert moses.decode(tokens) == ENGLISH[:1]
    assert Moses("en", "fr").decode(["c' est l' été , aujourd' hui"]) == [
        "c'est l'été, aujourd'hui"
    ]


@pytest.mark.parametrize("mode", ["joint", "separate"])
def test_a_vocabulary_reads_back_what_it_has_written(tmp_path: Path, mode: str) -> None:
    config = VocabularySettings.model_validate({"size": 90, "tokenise": "moses", "mode": mode})
    groups = {"source": lambda: iter(FRENCH), "target": lambda: iter(ENGLISH)}
    folder = Store(tmp_path).folder("vocabularies", mode)
    train(groups, config, languages=["fr", "en"], folder=folder)
    vocabulary = Vocabulary.load(folder)
    ids, offsets = vocabulary.encode(ENGLISH, "target")
    rows = [ids[start:end] for start, end in zip(offsets[:-1], offsets[1:], strict=True)]
    assert vocabulary.decode(rows) == ENGLISH
    assert len(vocabulary) == 90

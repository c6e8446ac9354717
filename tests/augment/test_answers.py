"""What becomes of an answer: one filter at a time."""

from __future__ import annotations

from typing import Any

import pytest

from augury.augment.answers import AnswerFilters, AnswerReader
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import ingest
from augury.corpora.spec import CorpusSpec

OFF: dict[str, Any] = {"copied": False, "length_ratio": None, "language": False}
PARENT = {
    "id": "1",
    "source": "der Hund ist in dem Haus und schläft",
    "target": "the dog is in the house and sleeps",
    "source_language": "de",
    "target_language": "en",
    "origin": "train",
}
EXAMPLE = {
    "id": "1",
    "premise": "the dog is in the house",
    "hypothesis": "the house is empty",
    "label": "contradiction",
    "language": "en",
    "origin": "train",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("answers")
    for name in ("de", "en"):
        (folder / name).write_text("a b\n")
    spec = {
        "source_language": "de",
        "target_language": "en",
        "train": {"source": str(folder / "de"), "target": str(folder / "en")},
        "filter": {"lowercase": True},
    }
    return ingest(CorpusSpec.model_validate(spec), "train", Store(folder))


def read(
    corpus: Corpus, output: str | None, parent: Any = PARENT, pattern: str = "", **filters: Any
) -> tuple[dict[str, str], str]:
    reader = AnswerReader(
        pattern or r"(?P<target>\S.*)",
        AnswerFilters.model_validate({**OFF, **filters}),
        corpus,
        ("contradiction", "entailment"),
    )
    (answer,) = reader.read({0: parent}, [output])
    return {**answer.texts}, answer.reason


def test_the_first_line_is_the_answer_in_the_form_of_the_training_text(corpus: Corpus) -> None:
    assert read(corpus, "\n  A Cat\u0301 \nand more") == ({"target": "a cat\u0301"}, "")


@pytest.mark.parametrize(
    ("output", "pattern", "reason"),
    [
        (None, "", "prompt too long"),
        (" \n", "", "empty"),
        ("no colon", "Answer: (?P<target>.*)", "answer of another form"),
        ("Answer: ", "Answer: (?P<target>.*)", "empty"),
        ("a", "(?P<source>b)?(?P<target>a)", "empty"),
        ("maybe", "(?P<label>.*)", "unknown label"),
        ("entailment", "(?P<label>.*)", ""),
    ],
)
def test_outputs_that_fill_nothing(
    corpus: Corpus, output: str | None, pattern: str, reason: str
) -> None:
    parent = EXAMPLE if "label" in pattern else PARENT
    assert read(corpus, output, parent, pattern)[1] == reason


@pytest.mark.parametrize(
    ("output", "copied"),
    [
        ("The dog is in the  house and sleeps", True),
        ("der Hund ist in dem Haus und schläft", True),  # the source, untranslated
        ("the dog is in the house", False),
    ],
)
def test_copies_of_a_sentence_of_the_parent(corpus: Corpus, output: str, copied: bool) -> None:
    assert read(corpus, output, copied=True)[1] == ("copied" if copied else "")


def test_new_beside_old_is_no_copy(corpus: Corpus) -> None:
    pattern = r"(?P<premise>.*)\|(?P<hypothesis>.*)"
    texts = f"{EXAMPLE['premise']}|{EXAMPLE['hypothesis']}"
    assert read(corpus, texts, EXAMPLE, pattern, copied=True)[1] == "copied"
    assert read(corpus, f"{EXAMPLE['premise']}|no", EXAMPLE, pattern, copied=True)[1] == ""


@pytest.mark.parametrize(("characters", "kept"), [(16, False), (17, True), (68, True), (69, False)])
def test_lengths_within_a_factor_of_two(corpus: Corpus, characters: int, kept: bool) -> None:
    assert len(PARENT["target"]) == 34
    output = "x" * characters
    assert read(corpus, output, length_ratio=2.0)[1] == ("" if kept else "length ratio")


def test_languages_are_those_of_the_columns(corpus: Corpus) -> None:
    german, english = "das ist der Hund und die Katze", "this is the dog and the cat"
    for column, own, other in (("target", english, german), ("source", german, english)):
        pattern = f"(?P<{column}>.*)"
        assert read(corpus, own, PARENT, pattern, language=True)[1] == ""
        assert read(corpus, other, PARENT, pattern, language=True)[1] == "language"
    assert read(corpus, german, EXAMPLE, "(?P<hypothesis>.*)", language=True)[1] == "language"
    assert read(corpus, "это собака", language=True)[1] == "language"

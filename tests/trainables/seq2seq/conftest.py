"""Small experiments of generators, on text that is written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.make import prepare
from augury.experiments.run import Run
from tests import tiny
from trainables.seq2seq import pairs

NOUNS, VERBS = ("cat", "dog", "fox", "hen", "bee", "cow"), ("sees", "likes", "hears", "finds")


class Toy:
    """A directory with text, and experiments on it."""

    sentences = [
        (f"{subject} {verb} {object} .", f"{subject} {object} {verb} .")
        for subject in NOUNS
        for verb in VERBS
        for object in NOUNS
        if subject != object
    ]
    """Subject, verb, object; and the same with the verb behind the object."""
    pairs = [
        ("A dog runs.", "An animal moves.", "entailment"),
        ("A dog runs.", "No dog runs.", "contradiction"),
        ("Two cats sleep.", "Two cats dream.", "neutral"),
        ("A fox sees a hen.", "A fox sees an animal.", "entailment"),
    ]

    def __init__(self, directory: Path):
        self.directory, self.store = directory, Store(directory / "results")
        lines = ["premise\thypothesis\tlabel", *("\t".join(pair) for pair in self.pairs)]
        (directory / "nli.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def text(self, name: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
        """Sentence pairs as two files."""
        files = {}
        for side, key in enumerate(("source", "target")):
            path = self.directory / f"{name}.{key}"
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
            files[key] = str(path)
        return files

    def experiment(self, form: str, corpus: dict[str, Any] | None = None, **changes: Any) -> Any:
        """An experiment on the corpus of this form, to whose settings `corpus` adds.

        Of the parallel one every tenth sentence is held out; the NLI one is validated on itself.
        """
        if form == "hypothesis":
            file = {"file": str(self.directory / "nli.tsv")}
            settings: dict[str, Any] = {"language": "en", "train": file, "valid": file}
        else:
            train = self.text("train", self.sentences)
            settings = {"source_language": "aa", "target_language": "ab", "train": train}
            settings["every"] = 10
        sections = {
            "corpus": {"form": form, **settings, **(corpus or {})},
            "model": {**tiny.T5, "vocabulary_size": 80},
            "training": {"max_epochs": 1, "max_examples": 32},
        }
        return tiny.experiment("seq2seq", Path(self.store.root), **{**sections, **changes})

    def made(self, experiment: Any, split: str = "train") -> Corpus:
        """The pairs of a split."""
        return pairs.pairs(experiment.corpus, split, self.store)

    def prepared(self, experiment: Any) -> Run:
        """The run of seed 1, not trained."""
        return prepare(experiment, self.store)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)

"""Small experiments of generators, on text that is written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import parse
from trainables.seq2seq import pairs
from trainables.seq2seq.config import Config

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
    tiny = {
        "architecture": "tiny",
        "vocabulary_size": 80,
        "layers": 1,
        "hidden_size": 16,
        "feedforward_size": 32,
        "attention_heads": 2,
    }

    def __init__(self, directory: Path):
        self.directory, self.store = directory, Store(directory / "results")
        lines = ["premise\thypothesis\tlabel", *("\t".join(pair) for pair in self.pairs)]
        (directory / "nli.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    @property
    def parallel(self) -> dict[str, Any]:
        """A parallel corpus, of which every tenth sentence is held out."""
        train = self.text("train", self.sentences)
        return {"source_language": "aa", "target_language": "ab", "every": 10, "train": train}

    def text(self, name: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
        """Sentence pairs as two files."""
        files = {}
        for side, key in enumerate(("source", "target")):
            path = self.directory / f"{name}.{key}"
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
            files[key] = str(path)
        return files

    @property
    def nli(self) -> dict[str, Any]:
        """An NLI corpus of four pairs, which are its validation text too."""
        text = {"file": str(self.directory / "nli.tsv")}
        return {"language": "en", "train": text, "valid": text}

    def held_out(self, form: str) -> dict[str, str]:
        """The text of a test set for a corpus of this form."""
        lines = [("cat sees dog .", "cat dog sees ."), ("bee likes hen .", "bee hen likes .")]
        return self.nli["train"] if form == "hypothesis" else self.text("more", lines)

    def content(self, corpus: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """An experiment file."""
        return {
            "name": "toy",
            "task": "seq2seq",
            "storage": self.store.root,
            "baseline": False,
            "corpus": corpus,
            "model": self.tiny,
            "max_pieces": 30,
            "training": {"max_epochs": 1, "max_examples": 32},
            "tracking": {"enabled": False},
            "execution": {"executor": "local", "threads": 1},
            **changes,
        }

    def experiment(self, form: str, **changes: Any) -> Config:
        """The experiment of such a file, on the corpus of this form; `corpus` adds to its
        settings."""
        text = self.nli if form == "hypothesis" else self.parallel
        experiment = parse(
            self.content({"form": form, **text, **changes.pop("corpus", {})}, **changes)
        )
        assert isinstance(experiment, Config)
        return experiment

    def made(self, experiment: Config, split: str = "train") -> Corpus:
        """The pairs of a split."""
        return pairs.pairs(experiment.corpus, split, self.store, Execution(executor="local"))

    def prepared(self, experiment: Config) -> Run:
        """The run of seed 1, not trained."""
        return prepare(experiment, self.store)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)

"""What the preparation of a run finds, and what it writes down of it."""

from __future__ import annotations

from pathlib import Path

from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.experiment import parse
from augury.text.vocabulary import Vocabulary
from trainables import nmt


def test_examples_that_are_too_long_are_counted(tmp_path: Path) -> None:
    store, most = Store(tmp_path), 40
    prepared = nmt.prepare(
        parse(
            {
                "name": "toy",
                "task": "nmt",
                "storage": str(tmp_path),
                "max_pieces": most,
                "vocabulary": {"size": 200},
                "corpus": {
                    "source_language": "de",
                    "target_language": "en",
                    "train": {"builtin": 40},
                    "valid": {"builtin": 4},
                },
                "model": {"architecture": "tiny"},
                "execution": {"executor": "local"},
            }
        ),
        store,
    )
    vocabulary = Vocabulary.load(Folder(store.root, prepared.config["vocabulary"]))
    train = Corpus.load(store, prepared.config["corpora"]["train"])
    sides = [[len(vocabulary.encode([text])[0]) for text in train.column(side)] for side in ("source", "target")]
    long = sum(max(lengths) > most for lengths in zip(*sides, strict=True))
    assert 0 < long < 40 and prepared.config["rejected"] == {f"more than {most} pieces": long}

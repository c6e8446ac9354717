"""A storage that the first version with checksums wrote is read, kind by kind.

`tests/data/make_stored.py` has made it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from augury.cli import main
from augury.core.store import Folder, Store
from augury.core.verification import verify
from augury.corpora.corpus import read_shard
from augury.experiments.run import Run
from augury.runs.record import RECORDS, RunRecord
from augury.scoring.stored import read_statistics
from augury.text.tokens import Tokens
from augury.text.vocabulary.vocabulary import Vocabulary
from augury.training import history
from augury.training.checkpoint import Checkpoints

STORED = Path(__file__).parents[1] / "data" / "stored_schema_1"
RUN = "a54832a02154e59f/seed-1"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A copy, in which nothing can be changed for others."""
    return Store(shutil.copytree(STORED, tmp_path_factory.mktemp("stored") / "results"))


@pytest.fixture(scope="module")
def run(store: Store) -> Folder:
    return store.folder("runs", RUN)


def test_nothing_is_damaged_or_without_checksum(store: Store) -> None:
    checked = list(verify(store, RECORDS))
    assert len(checked) == 42
    assert not [file.name for file in checked if file.damage or file.earlier]


def test_texts_are_read(run: Folder) -> None:
    stored = Run.read(run)
    train, test = stored.corpus("train"), stored.corpus("test")
    assert (train.rows, test.rows) == (60, 6)
    assert train.column("source")[0] == "su rizo zopa kumu"
    view, fit = (
        stored.stored_folder(stored.views["rot-1"]),
        stored.stored_folder(stored.fits["rot-1"]),
    )
    assert read_shard(view, "part-00000.parquet").column("text")[0].as_py() == "tv sjap aprb lvnv"
    assert fit.checked_json("fitted.json") == {"cycles": ["abdefghijklmnoprstuvz"]}


def test_tokens_and_their_vocabulary_are_read(run: Folder) -> None:
    stored = Run.read(run)
    vocabulary = Vocabulary.load(stored.stored_folder(stored.tokenizer))
    assert (len(vocabulary), vocabulary.pieces[5:8]) == (90, ("▁g", "▁ga", "▁s"))
    tokens = Tokens(stored.stored_folder(stored.tokens["rot-1"]))
    assert len(tokens) == 60 and tokens[0][:4].tolist() == [53, 7, 64, 73]


def test_a_run_is_read(run: Folder) -> None:
    record = RunRecord.read(run)
    bleu, chrf = record.tests["test"]
    assert (bleu.value, chrf.value) == (0.0, pytest.approx(5.950042761991811))
    assert {name: counts.shape for name, counts in read_statistics(run, "test").items()} == {
        "bleu": (6, 9),
        "chrf": (6, 18),
    }
    assert record.cost is not None and list(record.cost.epochs) == ["source", "rot-1"]
    assert [line["update"] for line in history.read(run)] == [1, 1, 2, 2]


def test_weights_and_checkpoints_are_read(run: Folder) -> None:
    position, optimizer = Checkpoints(run).state(2)
    assert (position.update, position.validations, position.rows) == (2, 2, 638)
    weights = load_file(str(run.local() / "weights.safetensors"))
    assert (len(optimizer["state"]), len(weights)) == (44, 47)
    assert weights["model.encoder.layers.0.fc1.weight"][0, 0] == pytest.approx(-0.149747)


def test_it_is_listed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", store.root]) == 0
    assert "tiny/tiny/1" in capsys.readouterr().out

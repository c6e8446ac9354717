"""From text files to a run: the same steps and addresses for every task. What operators make with
models, which are named before they exist and trained once, and what is no use to train on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.graph import Graph
from augury.experiments.make import examples_of, prepare
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.experiments.task import find_task
from augury.sweeping.driver import run_experiment
from augury.text.pieces.vocabulary import Vocabulary
from augury.text.tokens import Tokens
from tests import tiny
from tests.language_models import save_translator
from tests.tiny import prepared

TASKS = ["nmt", "nli", "seq2seq"]
EDA = {"operator": "eda", "copies": 2}
DROP = {"operator": "word_drop"}
CIPHER = {"operator": "cipher", "keys": [1, 2]}


@pytest.mark.parametrize("task", TASKS)
def test_the_address_is_known_before_anything_is_made(task: str, tmp_path: Path) -> None:
    experiment, store = tiny.experiment(task, tmp_path, augment=[EDA, DROP]), Store(tmp_path)
    known = Graph(store).plan(experiment).address
    assert not (tmp_path / "corpora").exists()
    run = prepare(experiment, store)
    assert run.address == known and run.folder.name == f"runs/{known}/seed-1"
    rows = {corpus.name: corpus.rows for corpus in run.inputs}
    assert rows == {"train": 60, "valid": 12, "test": 6}
    assert run.data_factor == 3.0 and set(run.fits) == {"eda"}
    made = [run.tokenizer, *run.tokens.values(), *run.records.values()]
    assert all((tmp_path / name).is_dir() for name in made)


WITH_DROPOUT = {**tiny.ENCODER, "dropout": 0.2}
OF_MODEL: dict[str, list[dict[str, Any]]] = {
    "nmt": [{"max_pieces": 90}, {"validation": {"sentences": 3}}, {"vocabulary": {"size": 201}}],
    "nli": [{"max_length": 50}, {"regime": "adversarial"}, {"model": WITH_DROPOUT}],
    "seq2seq": [{"max_pieces": 20}, {"model": {**tiny.T5, "vocabulary_size": 151}}],
}


@pytest.mark.parametrize("task", TASKS)
def test_what_changes_the_model_changes_the_address_and_nothing_else_does(
    task: str, tmp_path: Path
) -> None:
    store = Store(tmp_path)

    def known(**changes: Any) -> str:
        return Graph(store).plan(tiny.experiment(task, tmp_path, **changes)).address

    unrelated = {
        "name": "other",
        "seeds": [5],
        "execution": {"threads": 2},
        "scoring": {"metrics": ["macro_f1" if task == "nli" else "chrf"]},
    }
    assert known(**unrelated) == known()
    smoothed = {"regime": {"name": "plain", "label_smoothing": 0.3}}
    trained = {"training": {"max_tokens": 400, "max_epochs": 3}}
    other = {**DROP, "seed": 2}
    operators = [[DROP], [{**DROP, "tau": 0.8}], [other], [DROP, other], [EDA], [EDA, DROP]]
    augmented = [{"augment": listed} for listed in operators]
    different = [*OF_MODEL[task], smoothed, trained, *augmented]
    assert len({known(), *(known(**change) for change in different)}) == 1 + len(different)


@pytest.mark.parametrize("task", TASKS)
def test_plain_text_has_the_same_pieces_with_and_without_records(task: str, tmp_path: Path) -> None:
    plain, augmented = prepared(task, tmp_path), prepared(task, tmp_path, augment=[EDA])
    assert augmented.tokenizer == plain.tokenizer and augmented.address != plain.address
    assert plain.tokens.items() <= augmented.tokens.items()
    added = {"eda"} if len(find_task(task).SIDES) == 1 else {"eda", "eda target"}
    assert set(augmented.tokens) - set(plain.tokens) == added


def test_the_rows_of_records_follow_those_of_the_corpus(tmp_path: Path) -> None:
    run = prepared("nmt", tmp_path, augment=[EDA])
    examples = examples_of(run, lambda: pytest.fail("no operator draws"))
    vocabulary = Vocabulary.load(run.stored_folder(run.tokenizer))
    records = Corpus(run.stored_folder(run.records["eda"]))
    assert examples.group_rows == [180] and len(examples.record_ids) == 180
    for row in (60, 101, 179):
        ((source,), (target,)) = (
            examples.pieces([side], [row], 0) for side in ("source", "target")
        )
        texts = [records.column(side)[row - 60] for side in ("source", "target")]
        assert vocabulary.decode([source.tolist(), target.tolist()]) == texts


def test_rows_are_left_out_of_all_views_and_records_where_they_are_too_long(tmp_path: Path) -> None:
    run = prepared("nmt", tmp_path, max_pieces=6, augment=[EDA, CIPHER], regime="multi_source")
    sides = {side: [side, name] for side, name in (("source", "eda"), ("target", "eda target"))}
    long = np.zeros(180, bool)
    for names in sides.values():
        long |= Tokens(*(run.stored_folder(run.tokens[name]) for name in names)).lengths > 6
    for view in run.views:
        long[:60] |= Tokens(run.stored_folder(run.tokens[view])).lengths > 6
    examples = examples_of(run, lambda: pytest.fail("no operator draws"))
    assert 0 < long.sum() < 180
    assert examples.left_out == {"more than 6 pieces": int(long.sum())}
    assert examples.rows.tolist() == np.flatnonzero(~long).tolist()
    of_corpus = int((~long[:60]).sum())
    assert examples.group_rows == [len(examples.rows), of_corpus, of_corpus]
    with pytest.raises(UserError, match="no training example has 1 to max_pieces=1 pieces"):
        prepared("nmt", tmp_path, max_pieces=1)


def content(storage: Path, checkpoint: str) -> dict[str, Any]:
    """Return an experiment of the baseline and of one with 100 back translations by a
    checkpoint."""
    operator = {
        "operator": "back_translation",
        "monolingual": {"language": "qab", "train": {"builtin": 100, "seed": 2}},
        "ready": {"checkpoint": checkpoint},
        "decoding": {"beam": 1, "max_length": 5},
    }
    systems = {"baseline": {}, "+BT": {"augment": [operator]}}
    return tiny.content("nmt", storage, training={"max_updates": 2}, systems=systems, health={})


@pytest.mark.trains
def test_a_hundred_empty_back_translations_are_not_trained_on(tmp_path: Path) -> None:
    """Their translator writes nothing."""
    experiment = parse(content(tmp_path, save_translator(tmp_path / "mute", "")))
    runs, failures, *_ = run_experiment(experiment)
    assert list(runs) == ["baseline"]
    (failure,) = failures
    assert re.search(r"^\+BT .*back_translation.* 0 of 100 .*100 empty", failure)
    run = Graph(Store(tmp_path)).plan(expand(experiment)["+BT"]).address
    assert not Store(tmp_path).folder("runs", run).exists()

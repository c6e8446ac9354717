"""From text files to a run: the same steps and addresses for every task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.graph import Graph
from augury.experiments.make import examples_of, prepare
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.text.tokens import Tokens
from augury.text.vocabulary.vocabulary import Vocabulary
from tests import tiny

TASKS = ["nmt", "nli", "seq2seq"]
EDA = {"operator": "eda", "copies": 2}
DROP = {"operator": "word_drop"}
CIPHER = {"operator": "cipher", "keys": [1, 2]}


def prepared(task: str, storage: Path, **changes: Any) -> Run:
    return prepare(tiny.experiment(task, storage, **changes), Store(storage))


@pytest.mark.parametrize("task", TASKS)
def test_the_address_is_known_before_anything_is_made(task: str, tmp_path: Path) -> None:
    experiment, store = tiny.experiment(task, tmp_path, augment=[EDA, DROP]), Store(tmp_path)
    known = Graph(store).plan(experiment).address
    assert not (tmp_path / "corpora").exists()
    run = prepare(experiment, store)
    assert run.address == known and run.folder.name == f"runs/{known}/seed-1"
    assert [(corpus.role, corpus.rows) for corpus in run.inputs] == [
        ("train", 60),
        ("valid", 12),
        ("test", 6),
    ]
    assert run.data_factor == 3.0 and set(run.fits) == {"eda"}
    assert all(
        (tmp_path / name).is_dir()
        for name in (run.tokenizer, *run.tokens.values(), *run.records.values())
    )


def test_a_test_set_that_is_the_validation_text_changes_no_address(tmp_path: Path) -> None:
    run = prepared(
        "nmt", tmp_path, corpus={**tiny.PARALLEL, "tests": {"dev": {"validation": True}}}
    )
    assert run.tests == ["dev"] and run.corpus("dev").address == run.corpus("valid").address
    assert run.address == Graph(Store(tmp_path)).plan(tiny.experiment("nmt", tmp_path)).address


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        (
            "nmt",
            [{"max_pieces": 90}, {"validation": {"sentences": 3}}, {"vocabulary": {"size": 201}}],
        ),
        (
            "nli",
            [
                {"max_length": 50},
                {"regime": "adversarial"},
                {"model": {**tiny.ENCODER, "dropout": 0.2}},
            ],
        ),
        ("seq2seq", [{"max_pieces": 20}, {"model": {**tiny.T5, "vocabulary_size": 151}}]),
    ],
)
def test_what_changes_the_model_changes_the_address_and_nothing_else_does(
    task: str, changes: list[dict[str, Any]], tmp_path: Path
) -> None:
    store = Store(tmp_path)

    def known(**changes: Any) -> str:
        return Graph(store).plan(tiny.experiment(task, tmp_path, **changes)).address

    unrelated = {
        "name": "other",
        "seeds": [5],
        "execution": {"threads": 2},
        "scoring": {"bootstrap_samples": 9},
    }
    assert known(**unrelated) == known()
    smoothed = {"regime": {"name": "plain", "label_smoothing": 0.3}}
    trained = {"training": {"max_tokens": 400, "max_epochs": 3}}
    draws = [
        {"augment": [DROP]},
        {"augment": [{**DROP, "tau": 0.8}]},
        {"augment": [{**DROP, "seed": 2}]},
    ]
    different = [*changes, smoothed, trained, *draws, {"augment": [EDA]}, {"augment": [EDA, DROP]}]
    assert len({known(), *(known(**change) for change in different)}) == 1 + len(different)


def test_settings_without_effect_do_not_count(tmp_path: Path) -> None:
    store, ciphers = Store(tmp_path), {"regime": "coregularised", "augment": [CIPHER]}

    def known(**changes: Any) -> str:
        return Graph(store).plan(tiny.experiment("nmt", tmp_path, **changes)).address

    assert known() == known(vocabulary={"size": 200, "size_per_key": 99})
    sizes = {"size": 200, "size_per_key": 60}
    assert known(**ciphers, vocabulary=sizes) == known(
        **ciphers, vocabulary={**sizes, "separate_size_per_key": 7}
    )
    assert known(**ciphers) != known(**{**ciphers, "augment": [{**CIPHER, "keys": [2, 1]}]})


def test_records_of_translation_have_another_source_and_the_same_target(tmp_path: Path) -> None:
    run = prepared("nmt", tmp_path, augment=[EDA])
    corpus, records = run.corpus("train"), Corpus(run.stored_folder(run.records["eda"]))
    ids, sources, targets = (records.column(name) for name in ("id", "source", "target"))
    parents = dict(
        zip(
            corpus.column("id"),
            zip(corpus.column("source"), corpus.column("target"), strict=True),
            strict=True,
        )
    )
    lineage = [row["lineage"] for block in records.blocks(["lineage"]) for row in block.to_pylist()]
    assert ids == [f"{parent}/eda-{copy}" for parent in parents for copy in (1, 2)]
    assert [row["parents"] for row in lineage] == [[parent] for parent in parents for _ in range(2)]
    assert targets == [target for _, target in parents.values() for _ in range(2)]
    changed = [
        source != old
        for source, (old, _) in zip(
            sources, [pair for pair in parents.values() for _ in "12"], strict=True
        )
    ]
    assert sum(changed) > 40  # deletions may take nothing, and no synonyms are known
    assert set(records.column("origin")) == {"eda"}


@pytest.mark.parametrize("task", TASKS)
def test_plain_text_has_the_same_pieces_with_and_without_records(task: str, tmp_path: Path) -> None:
    plain, augmented = prepared(task, tmp_path), prepared(task, tmp_path, augment=[EDA])
    assert augmented.tokenizer == plain.tokenizer and augmented.address != plain.address
    assert plain.tokens.items() <= augmented.tokens.items()
    sides = find_task(task).SIDES
    assert set(augmented.tokens) - set(plain.tokens) == (
        {"eda"} if len(sides) == 1 else {"eda", "eda target"}
    )


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
    assert 0 < long.sum() < 180 and run.left_out == {"more than 6 pieces": int(long.sum())}
    examples = examples_of(run, lambda: pytest.fail("no operator draws"))
    assert examples.rows.tolist() == np.flatnonzero(~long).tolist()
    of_corpus = int((~long[:60]).sum())
    assert examples.group_rows == [len(examples.rows), of_corpus, of_corpus]
    with pytest.raises(
        UserError, match="no training example has 1 to max_pieces=1 pieces on every side"
    ):
        prepared("nmt", tmp_path, max_pieces=1)


@pytest.mark.parametrize(("task", "most"), [("nli", "max_length"), ("seq2seq", "max_pieces")])
def test_rows_that_are_cut_are_counted_and_said(
    task: str, most: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut, full = (
        Tokens(
            (run := prepared(task, tmp_path, **{most: length})).stored_folder(run.tokens["source"])
        ).lengths
        for length in (12, 60)
    )
    assert cut.tolist() == full.clip(max=12).tolist() and (full > 12).any()
    assert f"{(full > 12).sum()} of 60 rows of 'source'" in capsys.readouterr().err


def test_a_test_set_that_was_trained_on_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pairs.tsv"
    rows = [
        "premise\thypothesis\tlabel",
        "a dog runs\tan animal runs\tentailment",
        "it rains\tit is dry\tcontradiction",
    ]
    file.write_text("".join(f"{row}\n" for row in rows))
    text = {"file": str(file)}
    prepared(
        "nli",
        tmp_path,
        corpus={"language": "en", "train": text, "valid": text, "tests": {"same": text}},
    )
    assert "2 of the 2 examples of 'same'" in capsys.readouterr().err


@pytest.mark.parametrize("task", TASKS)
def test_a_corpus_without_validation_text_is_refused(task: str, tmp_path: Path) -> None:
    corpus = {
        name: value for name, value in tiny.OF_TASK[task]["corpus"].items() if name != "valid"
    }
    with pytest.raises(UserError, match="no valid|give valid"):
        prepared(task, tmp_path, corpus=corpus)


def test_what_is_there_is_found_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prepared("nmt", tmp_path, augment=[EDA])

    def refuse(*arguments: Any, **options: Any) -> None:
        pytest.fail("made again")

    monkeypatch.setattr(Folder, "finish", refuse)
    monkeypatch.setattr(find_task("nmt"), "make_tokenizer", refuse)
    assert prepared("nmt", tmp_path, augment=[EDA]) == first

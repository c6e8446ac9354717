"""Tags of domains (Li and Specia 2019, 3.3): before the source, whole, and nowhere else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments import evaluate
from augury.experiments.graph import Graph
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.text.pieces.vocabulary import Vocabulary
from tests import tiny
from tests.trainables.nmt.conftest import Untrained
from trainables.nmt import trained
from trainables.nmt.translation import Translation

CLEAN, NOISY, MADE = "<clean_s>", "<MTNT_s>", "<EDA_s>"
RESERVED = {"size": 200, "reserved": [CLEAN, NOISY, MADE]}
TRAIN = [
    {"name": "clean", "builtin": 20, "tag": CLEAN},
    {"name": "noisy", "builtin": 10, "seed": 3, "tag": NOISY, "weight": 3},
]
CORPUS = {
    **tiny.PARALLEL,
    "train": TRAIN,
    "valid": [
        {"name": "clean", "builtin": 4, "tag": CLEAN},
        {"name": "noisy", "builtin": 4, "tag": NOISY},
    ],
    "decides": "noisy",
    "tests": {
        "news": {"builtin": 5, "tag": CLEAN},
        "mtnt": {"builtin": 6, "tag": NOISY},
        "plain": {"builtin": 3},
    },
}


def mixed(storage: Path, **changes: Any) -> Run:
    return prepare(
        tiny.experiment("nmt", storage, corpus=CORPUS, vocabulary=RESERVED, **changes),
        Store(storage),
    )


def first_ids(task: Translation, number: int = 0) -> list[int]:
    """What every row's source begins with, in an epoch."""
    examples = np.arange(len(task.examples.rows))
    return task.load(examples, number, torch.device("cpu")).batch.sources[0, :, 0].tolist()


def test_a_source_begins_with_the_tag_of_its_text_and_draws_leave_it_alone(tmp_path: Path) -> None:
    run = mixed(
        tmp_path,
        augment=[{"operator": "eda", "copies": 1}, {"operator": "word_drop", "tau": 100.0}],
    )
    task = Translation(run)
    clean, noisy = (task.vocabulary.tags[symbol] for symbol in (CLEAN, NOISY))
    tags = [clean] * 20 + [noisy] * 10
    assert (
        first_ids(task) == first_ids(task, number=1) == [*tags, *tags]
    )  # records have the tags of their parents
    assert task.weights is not None and task.weights.tolist() == 2 * ([1.0] * 20 + [3.0] * 10)
    assert run.data_factor == 2 * (20 + 30) / 30
    batch = task.load(np.arange(60), 0, torch.device("cpu")).batch
    assert not np.isin(batch.labels, [clean, noisy]).any()
    assert not np.isin(task.symbols().ordinary, list(task.vocabulary.tags.values())).any()


def test_the_tag_of_the_domain_follows_that_of_the_language(tmp_path: Path) -> None:
    run = mixed(tmp_path, augment=[{"operator": "cipher", "keys": [1]}], regime="multi_source")
    task = Translation(run)
    sources = task.load(np.arange(len(task.examples.rows)), 0, torch.device("cpu")).batch.sources[0]
    language = task.vocabulary.tags["__qab__"]
    assert set(sources[:, 0].tolist()) == {language}
    assert (
        sources[0, 1] == task.vocabulary.tags[CLEAN]
        and sources[25, 1] == task.vocabulary.tags[NOISY]
    )


def test_a_tag_is_one_symbol_that_no_text_has_and_no_output_gets(untrained: Untrained) -> None:
    """Golden: `<MTNT_s> hel@@ lo`, the tag in front and whole."""
    run = untrained(vocabulary=RESERVED)
    vocabulary, encoded = (
        Vocabulary.load(run.stored_folder(run.tokenizer)),
        trained.Trained(run).encode,
    )
    (plain,), (tagged,) = (encoded(["hello"], domain=domain) for domain in (None, NOISY))
    assert tagged == [vocabulary.tags[NOISY], *plain]
    (written,) = encoded([f"{NOISY} hello"])
    assert vocabulary.tags[NOISY] not in written and len(written) > len(tagged)
    assert vocabulary.decode([tagged]) == vocabulary.decode([plain])


def test_every_test_set_is_read_with_its_tag(
    untrained: Untrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = untrained(corpus=CORPUS, vocabulary=RESERVED)
    vocabulary = Vocabulary.load(run.stored_folder(run.tokenizer))
    searched: list[list[list[int]]] = []
    decode = trained.decode

    def watched(make: Any, views: Any, *search: Any, **options: Any) -> Any:
        searched.append(views[0])
        n_best = decode(make, views, *search, **options)
        assert not {*vocabulary.tags.values()} & {piece for (best,) in n_best for piece in best}
        return n_best

    monkeypatch.setattr(trained, "decode", watched)
    evaluate.evaluate(run)
    scores = run.folder.read_record("scores.json")["tests"]
    assert list(scores) == ["news", "mtnt", "plain"]
    begin = [{source[0] for source in sources} for sources in searched]
    assert begin[:2] == [{vocabulary.tags[CLEAN]}, {vocabulary.tags[NOISY]}]
    assert not begin[2] & {*vocabulary.tags.values()}


def test_another_tag_or_weight_is_another_training_and_another_test_tag_is_not(
    tmp_path: Path,
) -> None:
    def address(**changes: Any) -> str:
        corpus = {**CORPUS, **changes}
        run = tiny.experiment("nmt", tmp_path, corpus=corpus, vocabulary=RESERVED)
        return Graph(Store(tmp_path)).plan(run).address

    clean, noisy = TRAIN
    others = [[{**clean, "tag": NOISY}, noisy], [clean, {**noisy, "weight": 2}], TRAIN[::-1]]
    assert len({address(), *(address(train=train) for train in others)}) == 4
    assert address(tests={"news": {"builtin": 5, "tag": NOISY}}) == address()


def test_a_tag_outside_the_vocabulary_and_an_unknown_record_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"the tag '<clean_s>' is no symbol of the vocabulary: add it to"
    ):
        tiny.experiment("nmt", tmp_path, corpus=CORPUS)
    with pytest.raises(UserError, match="mixture: unknown records 'ead': did you mean 'eda'"):
        mixed(tmp_path, augment=[{"operator": "eda"}], mixture={"ead": {}})
    with pytest.raises(UserError, match="task seq2seq trains without weight and tag"):
        tiny.experiment(
            "seq2seq", tmp_path, corpus={"form": "text", **tiny.PARALLEL, "train": TRAIN}
        )


def test_dev_sets_are_measured_and_the_noisy_one_decides(tmp_path: Path) -> None:
    task = Translation(mixed(tmp_path))
    validation = task.validate(torch.device("cpu"))
    assert set(validation.metrics) == {"perplexity", "bleu", "clean/perplexity", "clean/bleu"}
    assert validation.metrics["perplexity"] == pytest.approx(np.exp(validation.loss))
    assert [dev_set.tag for dev_set in task.dev_sets.values()] == [NOISY, CLEAN]


@pytest.mark.parametrize(("tag", "symbol"), [(None, NOISY), (CLEAN, CLEAN), ("none", None)])
def test_translate_reads_text_with_the_tag_that_is_asked_for(
    untrained: Untrained, monkeypatch: pytest.MonkeyPatch, tag: str | None, symbol: str | None
) -> None:
    """By default that of the validation set."""
    run = untrained(corpus=CORPUS, vocabulary=RESERVED)
    tags, searched = Vocabulary.load(run.stored_folder(run.tokenizer)).tags, []
    decode = trained.decode

    def watched(make: Any, views: Any, *search: Any, **options: Any) -> Any:
        searched.extend(views[0])
        return decode(make, views, *search, **options)

    monkeypatch.setattr(trained, "decode", watched)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"mi kiza\n")))
    assert main(["translate", run.folder.uri, *(["--tag", tag] if tag else [])]) == 0
    (source,) = searched
    assert source[0] == tags[symbol] if symbol else source[0] not in tags.values()


def test_a_tag_that_the_run_does_not_know_is_refused(
    untrained: Untrained, capsys: pytest.CaptureFixture[str]
) -> None:
    for run, message in (
        (untrained(corpus=CORPUS, vocabulary=RESERVED), "did you mean '<MTNT_s>'"),
        (untrained(), "trained on tagged texts"),
    ):
        assert main(["translate", run.folder.uri, "--tag", "<MTNT_t>"]) == 2
        assert message in capsys.readouterr().err

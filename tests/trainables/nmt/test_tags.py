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
from augury.experiments import trial
from augury.experiments.graph import Graph
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.text.pieces.vocabulary import Vocabulary
from tests import tiny
from tests.trainables.nmt.conftest import Untrained
from trainables.nmt.trained import Trained
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


def first_batch(task: Translation, number: int = 0) -> Any:
    """All examples in an epoch."""
    examples = np.arange(len(task.examples.rows))
    return task.load(examples, number, torch.device("cpu")).batch


def test_a_source_begins_with_the_tag_of_its_text_and_draws_leave_it_alone(tmp_path: Path) -> None:
    run = mixed(
        tmp_path,
        augment=[{"operator": "eda", "copies": 1}, {"operator": "word_drop", "tau": 100.0}],
    )
    task = Translation(run)
    clean, noisy = (task.vocabulary.tags[symbol] for symbol in (CLEAN, NOISY))
    tags = [clean] * 20 + [noisy] * 10  # records have the tags of their parents
    for epoch in (0, 1):
        assert first_batch(task, epoch).sources[0, :, 0].tolist() == [*tags, *tags]
    assert task.weights is not None and task.weights.tolist() == 2 * ([1.0] * 20 + [3.0] * 10)
    assert run.data_factor == 2 * (20 + 30) / 30
    assert not np.isin(first_batch(task).labels, [clean, noisy]).any()
    assert not np.isin(task.symbols().ordinary, list(task.vocabulary.tags.values())).any()


def test_the_tag_of_the_domain_follows_that_of_the_language(tmp_path: Path) -> None:
    run = mixed(tmp_path, augment=[{"operator": "cipher", "keys": [1]}], regime="multi_source")
    task = Translation(run)
    sources, tags = first_batch(task).sources[0], task.vocabulary.tags
    assert set(sources[:, 0].tolist()) == {tags["__qab__"]}
    assert (sources[0, 1], sources[25, 1]) == (tags[CLEAN], tags[NOISY])


def test_a_tag_is_one_symbol_that_no_text_has_and_no_output_gets(untrained: Untrained) -> None:
    """Golden: `<MTNT_s> hel@@ lo`, the tag in front and whole."""
    run = untrained(vocabulary=RESERVED)
    vocabulary = Vocabulary.load(run.stored_folder(run.tokenizer))
    encoded = Trained(run).encode
    (plain,), (tagged,) = (encoded(["hello"], tag=tag) for tag in (None, NOISY))
    assert tagged == [vocabulary.tags[NOISY], *plain]
    (written,) = encoded([f"{NOISY} hello"])
    assert vocabulary.tags[NOISY] not in written and len(written) > len(tagged)
    assert vocabulary.decode([tagged]) == vocabulary.decode([plain])


def test_test_sets_and_texts_are_read_with_the_tag_that_is_asked_for(
    untrained: Untrained, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text by default with that of the validation set that decides."""
    run = untrained(corpus=CORPUS, vocabulary=RESERVED)
    tags = Vocabulary.load(run.stored_folder(run.tokenizer)).tags
    begin: list[set[int]] = []
    search = Trained.search

    def watched(self: Trained, threads: int) -> Any:
        def searched(sources: Any, decoding: Any) -> Any:
            begin.append({source[0] for source in sources})
            hypotheses = search(self, threads)(sources, decoding)
            assert not {*tags.values()} & {piece for best in hypotheses for piece in best}
            return hypotheses

        return searched

    monkeypatch.setattr(Trained, "search", watched)
    trial.score_run(run)
    for asked in ([], ["--tag", CLEAN], ["--tag", "none"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"mi kiza\n")))
        assert main(["translate", run.folder.uri, *asked]) == 0
    symbols = [CLEAN, NOISY, None, NOISY, CLEAN, None]
    for found, symbol in zip(begin, symbols, strict=True):
        assert found == {tags[symbol]} if symbol else not found & {*tags.values()}
    assert main(["translate", run.folder.uri, "--tag", "<MTNT_t>"]) == 2
    assert "did you mean '<MTNT_s>'" in capsys.readouterr().err


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
    with pytest.raises(UserError, match="the tag '<clean_s>' is no symbol of the vocabulary"):
        tiny.experiment("nmt", tmp_path, corpus=CORPUS)


def test_dev_sets_are_measured_and_the_noisy_one_decides(tmp_path: Path) -> None:
    task = Translation(mixed(tmp_path))
    validation = task.validate(torch.device("cpu"))
    assert set(validation.metrics) == {"perplexity", "bleu", "clean/perplexity", "clean/bleu"}
    assert validation.metrics["perplexity"] == pytest.approx(np.exp(validation.loss))
    assert [dev_set.tag for dev_set in task.validation_sets.values()] == [NOISY, CLEAN]

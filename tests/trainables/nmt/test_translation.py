"""The translation task: examples, batches and rows, on a prepared toy corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from transformers import MarianMTModel

from augury.core.store import Store
from augury.decoding.settings import Decoding
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.regimes.regime import Progress
from augury.text.cipher import Rot, build_alphabet
from tests import tiny
from tests.hypotheses import decoder_of, translate
from tests.trainables.nmt.conftest import Untrained
from tests.training.host_reads import NoReads
from trainables.nmt.translation import DevSet, Translation, translate_greedily


def content(storage: Path, **changes: Any) -> dict[str, Any]:
    languages = {"source_language": "de", "target_language": "en"}
    texts = {"train": {"builtin": 60}, "valid": {"builtin": 8}, "tests": {"test": {"builtin": 6}}}
    sections = {
        "corpus": {**languages, **texts},
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "vocabulary": {"size": 300, "size_per_key": 60},
        "model": {**tiny.OF_TASK["nmt"]["model"], "hidden_size": 32, "feedforward_size": 64},
        "regime": {"name": "coregularised", "warmup_steps": 0},
        "validation": {},
        "decoding": {},
    }
    return tiny.content("nmt", storage, **{**sections, **changes})


class Toy:
    def __init__(self, storage: Path, **changes: Any):
        self.run: Run = prepare(parse(content(storage, **changes)), Store(storage))
        self.task = Translation(self.run)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nmt")


def texts(task: Translation, ids: list[int]) -> str:
    return task.vocabulary.decode([ids])[0]


@pytest.mark.parametrize(
    "vocabulary",
    [
        {"size": 300, "size_per_key": 60},
        {"mode": "separate", "size": 300, "separate_size_per_key": 120},
    ],
    ids=["joint", "separate"],
)
def test_every_example_is_read_with_every_key_and_its_views_are_ciphers_of_one_sentence(
    vocabulary: dict[str, Any], storage: Path
) -> None:
    toy = Toy(storage, vocabulary=vocabulary)
    task = toy.task
    kept = len(task.examples.rows)
    assert task.group_rows == [kept, kept] and toy.run.data_factor == 3.0
    assert toy.run.epochs_by_view == {"source": 1.0, "rot-1": 0.5, "rot-2": 0.5}
    batch = task.load(np.array([0, kept]), 0, torch.device("cpu")).batch
    assert batch.sources.shape[:2] == (2, 2)
    sources = toy.run.corpus("train").column("source")
    targets = toy.run.corpus("train").column("target")
    row = int(task.examples.rows[0])
    plain = [texts(task, batch.sources[0, place].tolist()) for place in (0, 1)]
    assert plain == [sources[row], sources[row]]
    letters = {letter: 1 for text in sources for letter in text}
    for place, key in ((0, 1), (1, 2)):
        assert texts(task, batch.sources[1, place].tolist()) == Rot(
            build_alphabet(letters), key
        ).text(sources[row])
    assert [texts(task, labels.tolist()) for labels in batch.labels] == [targets[row]] * 2
    assert task.ids(np.array([kept])) == [f"train-{row + 1:08d} (source+rot-2)"] or task.ids(
        np.array([kept])
    )[0].endswith(" (source+rot-2)")


def test_tags_and_ends_frame_the_source(storage: Path) -> None:
    task = Toy(storage).task
    for view in task.load(np.array([0]), 0, torch.device("cpu")).batch.sources[:, 0].tolist():
        *source, end = (piece for piece in view if piece != task.vocabulary.pad)
        assert source[0] == task.vocabulary.tags["__en__"] and end == task.vocabulary.eos
    second = Toy(storage, regime={"name": "multi_source", "equation": 2}).task
    last = second.load(np.array([sum(second.group_rows) - 1]), 0, torch.device("cpu")).batch
    assert int(last.sources[0, 0, 0]) == second.vocabulary.tags["__de__"]
    row = int(second.examples.rows[-1])
    assert texts(second, last.labels[0].tolist()) == second.examples.column("source")[row]
    plain = Toy(storage, regime="plain", augment=[]).task
    first = plain.load(np.array([0]), 0, torch.device("cpu")).batch.sources[0, 0, 0]
    assert first not in plain.vocabulary.tags.values()


def test_rows_do_not_depend_on_padding_or_company(storage: Path) -> None:
    task = Toy(storage).task
    task.module.eval()
    examples = np.array([0, 1, 2, 3])
    together = task.rows(task.load(examples, 0, torch.device("cpu")).batch, [0, 1])
    alone = [
        task.rows(task.load(np.array([example]), 0, torch.device("cpu")).batch, [0, 1]).hidden
        for example in examples
    ]
    assert torch.allclose(together.hidden, torch.cat(alone, dim=1), atol=1e-5)
    one_view = task.rows(task.load(examples, 0, torch.device("cpu")).batch, [1])
    assert torch.allclose(one_view.hidden[0], together.hidden[1], atol=1e-5)


def test_with_sdpa_an_update_reads_no_tensor(storage: Path) -> None:
    model = {**content(storage)["model"], "attention": "sdpa"}
    task = Toy(storage, model=model).task
    batch = task.load(np.array([0, 1, 2]), 0, torch.device("cpu")).batch
    with NoReads():
        task.loss(batch, Progress(0)).total.backward()


# Perturbed sources


def test_a_translation_without_an_end_is_cut_by_the_length_of_its_source(
    storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose output layer always prefers one piece, so that greedy search never ends a
    sentence."""
    task = Toy(storage).task
    (dev_set,) = task.dev_sets.values()
    assert isinstance(dev_set, DevSet)
    endless = int(dev_set.sources[0][0])
    with torch.no_grad():
        task.module.final_logits_bias[0, endless] = 1e4
    cut: list[list[int]] = []

    def decode(ids: Sequence[Sequence[int]]) -> list[str]:
        cut.extend(list(pieces) for pieces in ids)
        return [""] * len(ids)

    monkeypatch.setattr(task.vocabulary, "decode", decode)
    task.score(dev_set)
    tag = 1
    assert cut == [[endless] * (2 * (len(source) + tag) + 10) for source in dev_set.sources]


def test_translations_are_those_of_one_search_cut_at_their_limits(untrained: Untrained) -> None:
    task = Translation(untrained())
    vocabulary = cast(Any, task.vocabulary)
    random = np.random.default_rng(1)
    lengths = random.integers(1, 30, 40).tolist()
    sources = [random.choice(vocabulary.ordinary, length).tolist() for length in lengths]
    limits = [2 * length + 1 for length in lengths]

    assert isinstance(task.module, MarianMTModel)
    decoder = decoder_of(task.module)
    settings = Decoding(beam=1, max_length=max(limits))
    whole = translate(decoder, sources, settings, vocabulary.never)

    translations = translate_greedily(task.kind, task.module, sources, limits)
    assert translations == [best[:limit] for best, limit in zip(whole, limits, strict=True)]
    assert any(len(best) > limit for best, limit in zip(whole, limits, strict=True))

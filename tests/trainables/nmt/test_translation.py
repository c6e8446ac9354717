"""The translation task: examples, batches and rows, on a prepared toy corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from augury.decoding.settings import Decoding
from augury.text.cipher import Rot, build_alphabet
from tests import tiny
from tests.hypotheses import translate
from tests.trainables.nmt.conftest import Untrained
from tests.trainables.nmt.tuned import CORPUS
from trainables.nmt.translation import Translation, translate_greedily

SECTIONS: dict[str, Any] = {
    "corpus": CORPUS,
    "augment": [{"operator": "cipher", "keys": [1, 2]}],
    "vocabulary": {"size": 300, "size_per_key": 60},
    "regime": {"name": "coregularised", "warmup_steps": 0},
}


def translation(storage: Path, **changes: Any) -> Translation:
    return Translation(tiny.prepared("nmt", storage, **{**SECTIONS, **changes}))


def batch_of(task: Translation, *examples: int) -> Any:
    return task.load(np.array(examples), 0, torch.device("cpu")).batch


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
    run = tiny.prepared("nmt", storage, **{**SECTIONS, "vocabulary": vocabulary})
    task = Translation(run)
    kept = len(task.examples.rows)
    assert task.group_rows == [kept, kept] and run.data_factor == 3.0
    batch = batch_of(task, 0, kept)
    sources, targets = (run.corpus("train").column(side) for side in ("source", "target"))
    row = int(task.examples.rows[0])
    plain = [texts(task, batch.sources[0, place].tolist()) for place in (0, 1)]
    assert plain == [sources[row], sources[row]]
    letters = {letter: 1 for text in sources for letter in text}
    for place, key in ((0, 1), (1, 2)):
        enciphered = Rot(build_alphabet(letters), key).texts([sources[row]])[0]
        assert texts(task, batch.sources[1, place].tolist()) == enciphered
    assert [texts(task, labels.tolist()) for labels in batch.labels] == [targets[row]] * 2
    assert task.ids(np.array([kept])) == [f"train-{row + 1:08d} (source+rot-2)"]


def test_tags_and_ends_frame_the_source(storage: Path) -> None:
    task = translation(storage)
    for view in batch_of(task, 0).sources[:, 0].tolist():
        *source, end = (piece for piece in view if piece != task.vocabulary.pad)
        assert source[0] == task.vocabulary.tags["__en__"] and end == task.vocabulary.eos
    second = translation(storage, regime={"name": "multi_source", "equation": 2})
    last = batch_of(second, sum(second.group_rows) - 1)
    assert int(last.sources[0, 0, 0]) == second.vocabulary.tags["__de__"]
    row = int(second.examples.rows[-1])
    assert texts(second, last.labels[0].tolist()) == second.examples.column("source")[row]
    plain = translation(storage, regime="plain", augment=[])
    assert batch_of(plain, 0).sources[0, 0, 0] not in plain.vocabulary.tags.values()


def test_rows_do_not_depend_on_padding_or_company(storage: Path) -> None:
    task = translation(storage)
    task.module.eval()
    together = task.rows(batch_of(task, *range(4)), [0, 1])
    alone = [task.rows(batch_of(task, example), [0, 1]).hidden for example in range(4)]
    assert torch.allclose(together.hidden, torch.cat(alone, dim=1), atol=1e-5)
    one_view = task.rows(batch_of(task, *range(4)), [1])
    assert torch.allclose(one_view.hidden[0], together.hidden[1], atol=1e-5)


def test_translations_are_those_of_one_search_cut_at_their_limits(untrained: Untrained) -> None:
    task = Translation(untrained())
    vocabulary = cast(Any, task.vocabulary)
    random = np.random.default_rng(1)
    lengths = random.integers(1, 30, 40).tolist()
    sources = [random.choice(vocabulary.ordinary, length).tolist() for length in lengths]
    limits = [2 * length + 1 for length in lengths]

    settings = Decoding(beam=1, max_length=max(limits))
    whole = translate(task.module, sources, settings, vocabulary.never)

    translations = translate_greedily(vocabulary, task.module, sources, limits)
    assert translations == [best[:limit] for best, limit in zip(whole, limits, strict=True)]
    assert any(len(best) > limit for best, limit in zip(whole, limits, strict=True))

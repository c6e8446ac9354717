"""What training reads: draws from token ids in every epoch, in the texts that they change, for
every task and regime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augury.augment.draw import Symbols
from augury.experiments.examples import Examples
from augury.experiments.make import examples_of
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.experiments.trial import run_trial
from augury.regimes.regime import Progress
from augury.text.pieces.vocabulary import Vocabulary
from augury.training.trained import OUTCOME
from tests import tiny

UNKNOWN = 1
CPU = torch.device("cpu")
DROP = {"operator": "word_drop", "tau": 0.1}
CIPHER = {"operator": "cipher", "keys": [1]}
SWITCH = {"operator": "switch_out", "tau": 0.1}
RAML = {"operator": "raml", "tau": 0.1}
SEGMENT = {"operator": "bpe_dropout", "dropout": 0.5}
EQUATION_2 = {"name": "multi_source", "equation": 2}
AGREEMENT = {"name": "coregularised", "warmup_steps": 0}


def prepared(storage: Path, *operators: Any, task: str = "nmt", **changes: Any) -> Run:
    return tiny.prepared(task, storage, augment=operators, **changes)


def loaded(run: Run) -> Examples:
    vocabulary = Vocabulary.load(run.stored_folder(run.tokenizer))
    return examples_of(
        run, lambda: Symbols(UNKNOWN, np.arange(5, len(vocabulary)), vocabulary.resegmenter)
    )


def read(examples: Examples, name: str, number: int = 0) -> list[list[int]]:
    rows = examples.rows.tolist()
    predicted = name == "target"
    return [
        pieces.tolist()
        for pieces in examples.pieces([name] * len(rows), rows, number, predicted=predicted)
    ]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_a_draw_changes_its_side_anew_in_every_epoch(side: str, storage: Path) -> None:
    plain = loaded(prepared(storage))
    examples = loaded(prepared(storage, {**DROP, "side": side}))
    for name in ("source", "target"):
        stored, first, second = read(plain, name), read(examples, name), read(examples, name, 1)
        if side not in (name, "both"):
            assert first == second == stored
            continue
        assert first != second and read(examples, name) == first
        assert read(loaded(prepared(storage, {**DROP, "side": side}).with_seed(2)), name) != first
        pairs = list(zip(sum(stored, []), sum(first, []), strict=True))
        assert {new for old, new in pairs if new != old} == {UNKNOWN}
        assert all(new == old for old, new in pairs if old < 5)
    if side == "both":
        assert _dropped(examples, "source") != _dropped(examples, "target")


def _dropped(examples: Examples, name: str) -> list[int]:
    return [row.count(UNKNOWN) for row in read(examples, name)]


def test_every_view_has_draws_of_its_own_and_so_has_every_operator(storage: Path) -> None:
    views = loaded(prepared(storage, CIPHER, DROP, regime="coregularised"))
    rows = views.rows.tolist()
    both = views.pieces(["source"] * len(rows) + ["rot-1"] * len(rows), rows + rows, 0)
    assert [pieces.tolist() for pieces in both] == read(views, "source") + read(views, "rot-1")
    assert _dropped(views, "source") != _dropped(views, "rot-1")
    view = {**DROP, "seed": 2, "use": "view"}
    twice = loaded(prepared(storage, DROP, view, regime="coregularised"))
    assert read(twice, "source") == read(loaded(prepared(storage, DROP)), "source")
    assert read(twice, "source") != read(twice, "word_drop")


@pytest.mark.parametrize(
    ("ciphers", "changes"), [([CIPHER], {}), ([], {"preset": "r_drop"})], ids=["cipher", "r_drop"]
)
def test_identical_views_have_one_draw(
    ciphers: list[Any], changes: dict[str, str], storage: Path
) -> None:
    """R-Drop reads one input twice."""

    def batch(*draws: Any) -> torch.Tensor:
        regime = {"name": "coregularised", **changes}
        task: Any = find_task("nmt").learner(prepared(storage, *ciphers, *draws, regime=regime))
        sources: torch.Tensor = task.load(np.arange(20), 0, CPU).batch.sources
        return sources

    plain, changed = batch(), batch(DROP)
    assert not torch.equal(changed[0], plain[0])
    assert torch.equal(changed[0], changed[1]) == (not ciphers)


@pytest.mark.parametrize("draw", [DROP, SEGMENT], ids=lambda draw: draw["operator"])
def test_a_draw_as_a_view_leaves_the_text_as_it_is(draw: dict[str, Any], storage: Path) -> None:
    """And costs what a cipher as the view costs."""
    plain, cipher = prepared(storage), prepared(storage, CIPHER, regime="coregularised")
    run, name = prepared(storage, {**draw, "use": "view"}, regime="coregularised"), draw["operator"]
    assert run.tokens == plain.tokens and run.data_factor == cipher.data_factor == 2.0
    examples = loaded(run)
    assert read(examples, "source") == read(loaded(plain), "source") != read(examples, name)
    assert read(examples, name) != read(examples, name, 1)


def test_a_source_that_is_predicted_stays_as_it_is(storage: Path) -> None:
    """Equation 2 of CipherDAug: enciphered sources, of which tokens are dropped, predict the
    plain source."""
    run = prepared(storage, CIPHER, DROP, regime=EQUATION_2)
    task: Any = find_task("nmt").learner(run)
    group = next(
        place for place, group in enumerate(task.examples.view_groups) if group.target == "source"
    )
    batch = task.load(sum(task.group_rows[:group]) + np.arange(20), 0, CPU).batch
    assert (batch.labels != task.vocabulary.unk).all() and (
        batch.sources == task.vocabulary.unk
    ).any()


def learners(storage: Path, regime: Any, *draws: Any) -> tuple[Any, Any, np.ndarray]:
    """A task without and with draws, and the numbers of all examples."""
    plain, drawn = (
        find_task("nmt").learner(prepared(storage, CIPHER, *operators, regime=regime))
        for operators in ([], draws)
    )
    return plain, drawn, np.arange(len(plain.examples.rows) * len(plain.examples.view_groups))


@pytest.mark.parametrize(("of_source", "regime"), [(SWITCH, AGREEMENT), (DROP, EQUATION_2)])
def test_the_target_and_every_source_change_alone(
    of_source: dict[str, Any], regime: Any, storage: Path
) -> None:
    """RAML beside SwitchOut or WordDrop: tags, ends and pads stay, and so does the length of a
    row."""
    plain, drawn, examples = learners(storage, regime, RAML, of_source)
    old, new, again = (task.load(examples, 0, CPU).batch for task in (plain, drawn, drawn))
    assert all(map(torch.equal, new, again))
    special = torch.tensor(
        [plain.vocabulary.pad, plain.vocabulary.eos, *plain.vocabulary.tags.values()]
    )
    for before, after in zip(old, new, strict=True):
        assert before.shape == after.shape
        assert torch.equal(torch.isin(before, special), torch.isin(after, special))
        assert torch.equal(before[torch.isin(before, special)], after[torch.isin(after, special)])
    counts = [
        (before != after).sum(-1) / (before > 4).sum(-1)
        for before, after in ((old.labels, new.labels), *zip(old.sources, new.sources, strict=True))
    ]
    assert torch.corrcoef(torch.stack(counts)).fill_diagonal_(0).abs().max() < 0.5
    assert all((0.2 < count.mean() < 0.6) for count in counts)
    losses = drawn.loss(new, Progress(0))
    losses.total.backward()
    assert torch.isfinite(losses.total)


@pytest.mark.trains
@pytest.mark.parametrize("task", ["nmt", "nli", "seq2seq"])
def test_every_task_is_trained_with_a_draw(task: str, storage: Path) -> None:
    run = prepared(storage, DROP, task=task)
    loaded: Any = find_task(task).learner(run)
    first, second = (loaded.load(np.arange(20), number, CPU).batch[0] for number in (0, 1))
    assert first.shape == second.shape and not torch.equal(first, second)
    assert run_trial(run, scored=False) and run.folder.read_record(OUTCOME)["epochs"] == 2

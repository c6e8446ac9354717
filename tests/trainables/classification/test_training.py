"""A classifier with its examples: rows, losses, attacks, validation, on a prepared toy corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from augury.core.store import Store
from augury.corpora.corpus import LABELS, Corpus
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.experiments.trial import train_here
from augury.regimes.regime import Progress
from augury.training.trained import WEIGHTS
from tests import tiny
from trainables import nli
from trainables.classification.training import Batch

CPU = torch.device("cpu")


class Toy:
    def __init__(self, storage: Path, **changes: Any):
        model = {"architecture": "tiny", "vocabulary_size": 200, "hidden_size": 32, "layers": 1}
        training = {"max_tokens": 400, "max_examples": 8, "max_epochs": 2}
        sections = {"model": {**model, "dropout": 0.0}, "training": training, **changes}
        self.run: Run = prepare(parse(tiny.content("nli", storage, **sections)), Store(storage))
        self.task: Any = nli.TASK.learner(self.run)
        self.corpus = self.run.corpus("train")

    def load(self, *examples: int) -> Batch:
        """The batch of these examples."""
        batch: Batch = self.task.load(np.array(examples), 0, CPU).batch
        return batch

    def text(self, ids: torch.Tensor) -> list[str]:
        """Premise and hypothesis of a row."""
        sides = self.task.reader.tokenizer.decode(ids.tolist()).replace("<pad>", "").split("</s>")
        return [side.replace("<s>", "").strip() for side in sides if side.strip()]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nli")


def test_a_row_is_one_of_the_corpus_of_the_records_or_of_a_view(storage: Path) -> None:
    view = {"operator": "noise", "spelling": 0.3, "use": "view"}
    toy = Toy(storage, augment=[{"operator": "eda", "copies": 2}, view], regime="adversarial")
    # Every row of the corpus and of the records as it is, and every row of the corpus in the view.
    assert toy.task.group_rows == [60 + 120, 60] and toy.run.data_factor == 4.0
    records = Corpus(toy.run.stored_folder(toy.run.records["eda"]))
    view_text = Corpus(toy.run.stored_folder(toy.run.views["noise"]))
    for example, text, row, name in (
        (59, toy.corpus, 59, "source"),
        (60, records, 0, "source"),
        (179, records, 119, "source"),
        (239, view_text, 59, "noise"),
    ):
        batch = toy.load(example)
        sides = [text.column(side)[row] for side in ("premise", "hypothesis")]
        assert toy.text(batch.ids[0, 0]) == sides
        labelled = toy.corpus if text is view_text else text
        assert LABELS[batch.labels[0]] == labelled.column("label")[row]
        names = toy.task.ids(np.array([example]))
        assert names == [f"{labelled.column('id')[row]} ({name})"]


@pytest.mark.parametrize(
    ("regime", "factor"), [("plain", 1), ({"name": "coregularised", "over": "identity"}, 2)]
)
def test_the_loss_is_that_of_torch(storage: Path, regime: Any, factor: int) -> None:
    """Two equal views without dropout: twice the cross-entropy, no divergence."""
    toy = Toy(storage, regime=regime)
    task, batch = toy.task, toy.load(*range(10))
    losses = task.loss(batch, Progress(10_000))
    parameters = dict(task.module.named_parameters())
    gradients = torch.autograd.grad(losses.total, [*parameters.values()])
    logits = task.reader.logits(batch.ids[0])
    nll = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum")
    assert losses.metrics["nll"].item() == pytest.approx(nll.item(), rel=1e-5)
    assert losses.rows == 10
    expected = torch.autograd.grad(nll, [*parameters.values()])
    for name, own, other in zip(parameters, gradients, expected, strict=True):
        assert torch.allclose(own, factor * other, atol=1e-5), name


def test_validation_is_the_accuracy_of_the_plain_pairs(storage: Path) -> None:
    toy = Toy(storage)
    toy.task.module.eval()
    with torch.no_grad():
        validation = toy.task.validate(CPU)
        valid = toy.run.corpus("valid")
        encoding = toy.task.reader.tokenizer(
            valid.column("premise"), valid.column("hypothesis"), padding=True, return_tensors="pt"
        )
        logits = toy.task.reader.logits(encoding.input_ids)
    labels = torch.tensor([LABELS.index(label) for label in valid.column("label")])
    accuracy = 100 * float((logits.argmax(1) == labels).float().mean())
    assert validation.score == validation.metrics["accuracy"] == pytest.approx(accuracy)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    assert validation.loss == pytest.approx(float(loss), rel=1e-5)


ATTACKED = {"name": "adversarial", "epsilon": 1, "alpha": 0.7}


def test_the_words_of_an_attack_are_those_of_the_model(storage: Path) -> None:
    """Special ones included, and pads not; the attack raises the loss."""
    toy = Toy(storage, regime=ATTACKED)
    batch = toy.load(*range(6))
    embedded = toy.task.embedded(batch, 0)
    words = toy.task.module.get_input_embeddings()(batch.ids[0])
    assert torch.equal(embedded.embeddings, words) and not embedded.embeddings.requires_grad
    assert torch.equal(embedded.mask, batch.ids[0] != 1) and not embedded.mask.all()
    losses = toy.task.loss(batch, Progress(0))
    assert losses.metrics["nll_before"] < losses.metrics["nll"]


def worker(rank: int, run: Run, rendezvous: Path) -> None:
    init = f"file://{rendezvous}"
    torch.distributed.init_process_group("gloo", init_method=init, rank=rank, world_size=2)
    torch.set_num_threads(1)
    train_here(run, CPU, lambda metrics: None)
    torch.distributed.destroy_process_group()


@pytest.mark.slow
@pytest.mark.trains
def test_two_workers_train_as_one_with_accumulation(tmp_path: Path) -> None:
    def run(**training: Any) -> Run:
        # 10 batches: two workers take the updates of one that accumulates two of them.
        training |= {"max_examples": 6, "max_epochs": 2, "learning_rate": 0.01, "adam_eps": 0.01}
        regime = {**ATTACKED, "epsilon": 0.5, "alpha": 0.3}
        return Toy(tmp_path, regime=regime, training=training).run

    two_workers, one_worker = run(), run(accumulation=2)
    torch.multiprocessing.start_processes(
        worker, (two_workers, tmp_path / "rendezvous"), nprocs=2, start_method="spawn"
    )
    train_here(one_worker, CPU, lambda metrics: None)
    of_two, of_one = (
        load_file(Path(run.folder.path(WEIGHTS))) for run in (two_workers, one_worker)
    )
    fresh = nli.TASK.learner(one_worker).module.state_dict()
    assert any(
        not torch.allclose(fresh[name], trained, atol=1e-2) for name, trained in of_one.items()
    )
    for name, trained in of_one.items():
        assert torch.allclose(of_two[name], trained, atol=1e-5), name

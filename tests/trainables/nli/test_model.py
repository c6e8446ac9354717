"""Classifiers of several families: how they are loaded, what is new in them, how they read padded pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from augury import pretrained
from augury.config import validate
from augury.corpora.corpus import LABELS
from augury.errors import UserError
from augury.store import Store
from augury.text import learned
from augury.training.batching import padded
from trainables.nli.model import Pretrained, Reader, Scratch, build, empty
from trainables.nli.pieces import pairs

Checkpoint = Callable[..., Path]
FAMILIES = ("xlm_roberta", "bert", "distilbert")
PREMISES = ["the dog runs", "a big old man eats the fish", "a bird sings"]
HYPOTHESES = ["the cat sleeps not", "a man eats", "the old bird sings the big cat eats not the fish"]


def loaded(path: Path, store: Path, seed: int = 1, **settings: object) -> tuple[PreTrainedModel, str]:
    """A checkpoint as training gets it, and where its tokenizer lies."""
    config = Pretrained.model_validate({"name": str(path), **settings})
    folder = Store(store).folder("vocabularies", path.name)
    pretrained.keep(config.name, None, folder)
    directory = learned.directory(folder)
    return build(config, directory, seed), directory


def reader(model: PreTrainedModel, directory: str, max_length: int = 32) -> tuple[Reader, Tensor]:
    """A reader in evaluation mode, and the ids of the pairs."""
    tokenizer = pretrained.tokenizer(directory)
    rows, _ = pairs(tokenizer, PREMISES, HYPOTHESES, max_length)
    return Reader(model.eval(), tokenizer, max_length), torch.from_numpy(padded(rows, tokenizer.pad_token_id))


@pytest.mark.parametrize("family", FAMILIES)
def test_pairs_are_read_as_transformers_reads_them(family: str, checkpoint: Checkpoint, tmp_path: Path) -> None:
    model, directory = loaded(checkpoint(family, LABELS), tmp_path)
    read, ids = reader(model, directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    given = tokenizer(PREMISES, HYPOTHESES, padding=True, return_tensors="pt")
    assert torch.equal(given.input_ids, ids)
    with torch.no_grad():
        assert torch.allclose(read.logits(ids), model(**given).logits, atol=1e-6)
        assert read.logits(ids).std(0).min() > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_embeddings_without_perturbation_give_the_logits_of_the_ids(
    family: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    read, ids = reader(*loaded(checkpoint(family, LABELS), tmp_path))
    zero = torch.zeros(*ids.shape, 32)
    with torch.no_grad():
        plain = read.logits(ids)
        assert torch.allclose(read.logits(ids, zero), plain, atol=1e-6)
        moved = zero.clone()
        moved[0, 1] = torch.linspace(-1, 1, 32)
        changed = (read.logits(ids, moved) - plain).abs().amax(1)
    assert changed[0] > 1e-3 and changed[1:].max() < 1e-6


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("embedded", [False, True])
def test_company_and_padding_do_not_matter(family: str, embedded: bool, checkpoint: Checkpoint, tmp_path: Path) -> None:
    read, ids = reader(*loaded(checkpoint(family, LABELS), tmp_path))

    def logits(given: Tensor) -> Tensor:
        with torch.no_grad():
            return read.logits(given, torch.zeros(*given.shape, 32) if embedded else None)

    wider = nn.functional.pad(ids, (0, 9), value=read.pad)
    assert torch.allclose(logits(wider), logits(ids), atol=1e-5)
    for row in ids:
        alone = row[row != read.pad][None]
        assert torch.allclose(logits(alone), logits(row[None]), atol=1e-5)


def test_token_types_are_those_of_the_tokenizer(checkpoint: Checkpoint, tmp_path: Path) -> None:
    model, directory = loaded(checkpoint("bert"), tmp_path)
    read, ids = reader(model, directory)
    given = AutoTokenizer.from_pretrained(directory)(PREMISES, HYPOTHESES, padding=True, return_tensors="pt")
    assert read.types and torch.equal(read._token_types(ids, ids != read.pad), given.token_type_ids)


def test_a_classifier_of_nli_keeps_its_head_and_its_classes_are_found_by_name(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = checkpoint("xlm_roberta", ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"))
    model, directory = loaded(path, tmp_path)
    read, ids = reader(model, directory)
    own = AutoModelForSequenceClassification.from_pretrained(path).eval()
    with torch.no_grad():
        expected = own(input_ids=ids, attention_mask=(ids != read.pad).long()).logits[:, [2, 1, 0]]
        assert torch.allclose(read.logits(ids), expected, atol=1e-6)
    assert model.config.id2label == {0: "entailment", 1: "neutral", 2: "contradiction"}
    assert "new head" not in capsys.readouterr().err


@pytest.mark.parametrize("classes", [("LABEL_0", "LABEL_1", "LABEL_2"), ("entailment", "not_entailment")])
def test_another_classifier_gets_a_new_head_and_it_is_said(
    classes: tuple[str, ...], checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = checkpoint("xlm_roberta", classes)
    model, _ = loaded(path, tmp_path)
    assert f"tells {', '.join(classes)}, not entailment, neutral, contradiction" in capsys.readouterr().err
    saved = load_file(path / "model.safetensors")
    for name, parameter in model.named_parameters():
        kept = name in saved and saved[name].shape == parameter.shape and torch.equal(saved[name], parameter)
        assert kept == name.startswith("roberta.")
    assert model.classifier.out_proj.weight.shape == (3, 32)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_new_is_a_function_of_the_seed(family: str, checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = checkpoint(family)
    before = torch.random.get_rng_state()
    models = [dict(loaded(path, tmp_path / str(run), seed)[0].named_parameters())
              for run, seed in enumerate((1, 1, 2))]  # fmt: skip
    assert torch.equal(torch.random.get_rng_state(), before)
    saved = load_file(path / "model.safetensors")
    new = {name for name in models[0] if name not in saved}
    assert new and all("classifier" in name or "pooler" in name for name in new)
    for name, first in models[0].items():
        again, other = models[1][name], models[2][name]
        assert torch.equal(first, again)
        assert torch.equal(first, other) == (name not in new or name.endswith("bias"))
        assert name in new or torch.equal(first, saved[name])


def test_from_nothing_every_parameter_is_a_function_of_the_seed(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("vocabularies", "learned")
    learned.learn(["the dog runs", "a cat sleeps"] * 20, 60, folder)
    config, directory = Scratch(architecture="tiny", layers=1), learned.directory(folder)
    first, again, other = (build(config, directory, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["classifier.dense.weight"], other["classifier.dense.weight"])
    embeddings = first["roberta.embeddings.word_embeddings.weight"]
    assert embeddings[1].abs().max() == 0 and 0.015 < embeddings[2:].std() < 0.025
    assert first["roberta.encoder.layer.0.output.LayerNorm.weight"].unique().tolist() == [1.0]
    assert first["classifier.out_proj.bias"].tolist() == [0, 0, 0]
    assert empty(config, directory).state_dict().keys() == first.keys()


def test_dropout_can_be_replaced(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = checkpoint("bert")
    model, _ = loaded(path, tmp_path / "own")
    assert {module.p for module in model.modules() if isinstance(module, nn.Dropout)} == {0.1}
    model, _ = loaded(path, tmp_path / "none", dropout=0.0)
    assert {module.p for module in model.modules() if isinstance(module, nn.Dropout)} == {0.0}


def test_a_pair_may_not_be_longer_than_the_positions(checkpoint: Checkpoint, tmp_path: Path) -> None:
    for family in ("xlm_roberta", "bert"):
        model, directory = loaded(checkpoint(family), tmp_path / family)
        assert reader(model, directory, 64)
        with pytest.raises(UserError, match="max_length=65 exceeds the 64 positions of the model: lower it"):
            reader(model, directory, 65)


def test_sizes_are_checked() -> None:
    assert Scratch(architecture="small", layers=3).sizes.layers == 3
    with pytest.raises(UserError, match="hidden_size 50 is not a multiple of attention_heads 4"):
        validate(Scratch, {"architecture": "tiny", "hidden_size": 50}, "model")


def test_the_longer_sentence_is_cut_first(checkpoint: Checkpoint) -> None:
    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    rows, cut = pairs(tokenizer, PREMISES, HYPOTHESES, 12)
    assert [len(row) for row in rows] == [10, 12, 12] and cut == 2
    text = tokenizer.decode(rows[2])
    assert text == "[CLS] a bird sings [SEP] the old bird sings the big [SEP]"
    assert pairs(tokenizer, [], [], 12) == ([], 0)

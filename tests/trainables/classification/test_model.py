"""Classifiers of several families: how they are loaded, what is new in them, how they read
padded pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELS
from augury.models import pretrained
from augury.models.settings import Pretrained
from augury.text.pieces import subwords
from augury.text.pieces.subwords import encode
from augury.training.batching import padded
from trainables.classification.config import Scratch
from trainables.classification.model import Reader, build, check

Checkpoint = Callable[..., Path]
FAMILIES = ("xlm_roberta", "bert", "multilingual_minilm", "distilbert", "deberta", "modernbert")
WITH_SDPA = ("xlm_roberta", "bert")
PREMISES = ["the dog runs", "a big old man eats the fish", "a bird sings"]
HYPOTHESES = [
    "the cat sleeps not",
    "a man eats",
    "the old bird sings the big cat eats not the fish",
]


def loaded(
    path: Path, store: Path, seed: int = 1, **settings: object
) -> tuple[PreTrainedModel, str]:
    """A checkpoint as training gets it, and where its tokenizer lies."""
    config = Pretrained.model_validate({"name": str(path), **settings})
    folder = Store(store).folder("vocabularies", path.name)
    pretrained.save(config.name, None, folder)
    directory = subwords.directory_of(folder)
    return build(config, LABELS, directory, seed), directory


def reader(model: PreTrainedModel, directory: str, max_length: int = 32) -> tuple[Reader, Tensor]:
    """A reader in evaluation mode, and the ids of the pairs."""
    tokenizer = subwords.load(directory)
    rows, _ = encode(tokenizer, [PREMISES, HYPOTHESES], max_length)
    return Reader(model.eval(), tokenizer, max_length), torch.from_numpy(
        padded(rows, tokenizer.pad_token_id)
    )


@pytest.mark.parametrize(
    ("attention", "family"),
    [*(("eager", family) for family in FAMILIES), *(("sdpa", family) for family in WITH_SDPA)],
)
def test_a_family_is_read_as_transformers_reads_it_however_it_is_padded(
    attention: str, family: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    model, directory = loaded(checkpoint(family, LABELS), tmp_path)
    own = AutoModelForSequenceClassification.from_pretrained(checkpoint(family, LABELS))
    model.load_state_dict(own.state_dict())  # with its head, whose logits are far from even
    model.set_attn_implementation(attention)
    read, ids = reader(model, directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    encoding = tokenizer(PREMISES, HYPOTHESES, padding=True, return_tensors="pt")
    assert torch.equal(encoding.input_ids, ids)
    with torch.no_grad():
        plain = read.logits(ids)
        assert torch.allclose(plain, model(**encoding).logits, atol=1e-6)
        assert plain.std(0).min() > 1e-3
        perturbation = torch.zeros_like(read.embeddings(ids))
        perturbation[0, 1] = torch.linspace(-1, 1, perturbation.shape[2])
        changed = (read.logits(ids, perturbation) - plain).abs().amax(1)
        assert changed[0] > 1e-3 and changed[1:].max() < 1e-6
        wider = nn.functional.pad(ids, (0, 9), value=read.pad)
        for moved in (None, torch.zeros_like(read.embeddings(wider))):
            assert torch.allclose(read.logits(wider, moved), plain, atol=1e-5)


def test_a_classifier_gets_a_new_head_that_is_a_function_of_the_seed(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    path = checkpoint("deberta", ("entailment", "not_entailment"), dtype=torch.bfloat16)
    before = torch.random.get_rng_state()
    first, again, other = (
        dict(loaded(path, tmp_path / str(run), seed)[0].named_parameters())
        for run, seed in enumerate((1, 1, 2))
    )
    assert torch.equal(torch.random.get_rng_state(), before)
    saved = load_file(path / "model.safetensors")
    for name, parameter in first.items():
        assert parameter.dtype == torch.float32 and torch.equal(parameter, again[name])
        if "classifier" in name or "pooler" in name:
            assert torch.equal(parameter, other[name]) == name.endswith("bias")
        else:
            assert torch.equal(parameter, saved[name].float())


def test_from_nothing_every_parameter_is_a_function_of_the_seed(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("vocabularies", "learned")
    subwords.learn(["the dog runs", "a cat sleeps"] * 20, 60, folder)
    config, directory = Scratch(architecture="tiny", layers=1), subwords.directory_of(folder)
    first, again, other = (
        build(config, LABELS, directory, seed).state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["classifier.dense.weight"], other["classifier.dense.weight"])
    embeddings = first["roberta.embeddings.word_embeddings.weight"]
    assert embeddings[1].abs().max() == 0 and 0.015 < embeddings[2:].std() < 0.025


def test_a_model_that_cannot_be_read_as_transformers_does_is_refused(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    path, folder = checkpoint("xlnet"), Store(tmp_path).folder("vocabularies", "xlnet")
    pretrained.save(str(path), None, folder)
    config, directory = Pretrained(name=str(path)), subwords.directory_of(folder)
    with pytest.raises(UserError, match="cannot be read here as in transformers"):
        check(config, LABELS, 2, directory, 32)


def test_a_pair_may_not_be_longer_than_the_positions(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    model, directory = loaded(checkpoint("xlm_roberta"), tmp_path)  # 66, of which two are no place
    assert reader(model, directory, 64)
    with pytest.raises(UserError, match="max_length=65 exceeds the 64 positions of the model"):
        reader(model, directory, 65)

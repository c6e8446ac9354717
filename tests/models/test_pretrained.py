"""Pretrained models: their identity in addresses, the files that are read, and what no hub can
give here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from transformers import AutoModelForSequenceClassification, XLMRobertaConfig

from augury.core.errors import UserError
from augury.models import pretrained
from augury.models.pretrained import commit, hub_answer, identity, load_model, pinned, unreachable

COMMIT, OTHER = "0123456789abcdef" * 2 + "01234567", "f" * 40


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and no hub."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    hub_answer.cache_clear()
    identity.cache_clear()
    yield tmp_path / "hub"
    hub_answer.cache_clear()
    identity.cache_clear()


def cached(hub: Path, name: str, revision: str, head: str) -> Path:
    """A model in the local cache of the hub; returns its snapshot."""
    model = hub / f"models--{name.replace('/', '--')}"
    (model / "refs").mkdir(parents=True, exist_ok=True)
    (model / "refs" / revision).write_text(head)
    snapshot = model / "snapshots" / head
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    return snapshot


def tiny(directory: Path, *, pickled: bool) -> Path:
    config = XLMRobertaConfig(
        vocab_size=10,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(directory)
    if pickled:
        (directory / "model.safetensors").unlink()
        torch.save(model.state_dict(), directory / "pytorch_model.bin")
    return directory


def test_a_directory_is_at_hand_and_a_name_is_not_without_a_hub(tmp_path: Path) -> None:
    assert unreachable(str(tmp_path)) is None
    assert unreachable("nobody/no-such-model") is not None


def test_a_branch_is_the_commit_of_the_local_cache(offline: Path) -> None:
    assert identity("some/model") == "some/model@main" and commit("some/model") is None
    identity.cache_clear()
    hub_answer.cache_clear()
    cached(offline, "some/model", "main", COMMIT)
    cached(offline, "some/model", "v2", OTHER)
    assert identity("some/model") == f"some/model@{COMMIT}"
    assert identity("some/model", "v2") == f"some/model@{OTHER}"
    assert identity("some/model", COMMIT) == identity("some/model")


def test_weights_are_those_of_the_commit_in_the_address(offline: Path) -> None:
    cached(offline, "some/model", "main", COMMIT)
    read = {}
    pretrained.load(lambda name, **settings: read.update(settings, name=name), "some/model")
    assert read == {"name": "some/model", "revision": COMMIT}


def test_a_directory_is_the_hash_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = identity(str(tmp_path))
    identity.cache_clear()
    (tmp_path / "config.json").write_text("{ }")
    assert first.startswith("files:") and identity(str(tmp_path)) != first


def test_a_kept_tokenizer_says_which_weights_belong_to_it(tmp_path: Path) -> None:
    assert pinned(str(tmp_path), "main") == "main"
    (tmp_path / pretrained.PINNED).write_text(f'{{"name": "some/model", "commit": "{COMMIT}"}}')
    assert pinned(str(tmp_path), "main") == COMMIT


def test_pickle_files_are_read_where_they_are_allowed_alone(tmp_path: Path) -> None:
    load = AutoModelForSequenceClassification.from_pretrained
    safe = load_model(load, str(tiny(tmp_path / "safe", pickled=False)))
    assert safe.config.hidden_size == 8
    directory = str(tiny(tmp_path / "pickled", pickled=True))
    with pytest.raises(UserError, match="a pickle file, which can run code .* allow_pickle: true"):
        load_model(load, directory)
    assert load_model(load, directory, allow_pickle=True).config.hidden_size == 8


def test_weights_of_the_hub_are_safetensors(offline: Path) -> None:
    """In the cache of the hub, where no directory is named."""
    snapshot = cached(offline, "some/model", "main", COMMIT)
    (snapshot / "config.json").unlink()
    tiny(snapshot, pickled=True)
    load = AutoModelForSequenceClassification.from_pretrained
    with pytest.raises(UserError, match="'some/model' cannot be loaded: .*allow_pickle: true"):
        load_model(load, "some/model", cache_dir=str(offline), local_files_only=True)
    loaded = load_model(
        load, "some/model", allow_pickle=True, cache_dir=str(offline), local_files_only=True
    )
    assert loaded.config.hidden_size == 8

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
from augury.models.pretrained import commit, hub_answer, identity, pinned

COMMIT, OTHER = "0123456789abcdef" * 2 + "01234567", "f" * 40


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and no hub."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    hub_answer.cache_clear()
    yield tmp_path / "hub"
    hub_answer.cache_clear()


def cached(hub: Path, name: str, revision: str, head: str) -> Path:
    """A model in the local cache of the hub; returns its snapshot."""
    model = hub / f"models--{name.replace('/', '--')}"
    (model / "refs").mkdir(parents=True, exist_ok=True)
    (model / "refs" / revision).write_text(head)
    snapshot = model / "snapshots" / head
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    return snapshot


def pickled(directory: Path) -> str:
    """A directory with a model whose weights are a pickle file."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = XLMRobertaConfig(vocab_size=10, intermediate_size=8, **sizes)
    model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(directory)
    (directory / "model.safetensors").unlink()
    torch.save(model.state_dict(), directory / "pytorch_model.bin")
    return str(directory)


def test_a_branch_is_the_commit_of_the_local_cache(offline: Path) -> None:
    assert identity("some/model") == "some/model@main" and commit("some/model") is None
    hub_answer.cache_clear()
    cached(offline, "some/model", "main", COMMIT)
    cached(offline, "some/model", "v2", OTHER)
    assert identity("some/model") == f"some/model@{COMMIT}"
    assert identity("some/model", "v2") == f"some/model@{OTHER}"
    assert identity("some/model", COMMIT) == identity("some/model")
    read: dict[str, object] = {}
    pretrained.load(lambda name, **settings: read.update(settings), "some/model")
    assert read == {"revision": COMMIT}  # the weights of the commit in the address


def test_a_directory_that_changes_is_another_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    before = identity(str(tmp_path))
    (tmp_path / "config.json").write_text('{"a": 1}')
    assert identity(str(tmp_path)) != before


def test_a_kept_tokenizer_says_which_weights_belong_to_it(tmp_path: Path) -> None:
    assert pinned(str(tmp_path), "main") == "main"
    (tmp_path / pretrained.PINNED).write_text(f'{{"name": "some/model", "commit": "{COMMIT}"}}')
    assert pinned(str(tmp_path), "main") == COMMIT


def test_the_weights_of_pickle_files_are_read_and_no_code_is_run(tmp_path: Path) -> None:
    load = AutoModelForSequenceClassification.from_pretrained
    directory = pickled(tmp_path / "pickled")
    assert pretrained.load(load, directory).config.hidden_size == 8
    torch.save({"weight": Path("/nowhere")}, Path(directory) / "pytorch_model.bin")
    with pytest.raises(UserError, match="cannot be loaded"):
        pretrained.load(load, directory)
    (Path(directory) / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(UserError, match="has no tokenizer, or an empty one"):
        pretrained.load_settings(directory, None)
    with pytest.raises(UserError, match="header too large. See whether its files are whole"):
        pretrained.load(load, directory)

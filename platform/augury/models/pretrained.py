"""Pretrained models and tokenizers from the hub or a directory, and their identity in addresses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.core.config import Section
from augury.core.directories import scratch
from augury.core.errors import UserError
from augury.core.paths import PATHS
from augury.core.store import Folder
from augury.models.settings import Pretrained, model_directory
from augury.text.pieces.subwords import FILES

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedConfig, PreTrainedTokenizerBase

Loader = Callable[..., Any]
COMMIT = re.compile("[0-9a-f]{40}")
PINNED = "pretrained.json"
"""The file beside a kept tokenizer that says which commit it is of."""
HUB_SECONDS = 5.0
"""Timeout for checking whether the hub has a model."""


def load(loader: Loader, name: str, revision: str | None = None, **settings: Any) -> Any:
    """Call `loader`, a `from_pretrained` of transformers; raise UserError if it fails.

    `name` is a directory or a name on the hub, and `revision` a branch, tag or commit there, read
    at the commit that `identity` names. Of pickle files only weights are read, which runs no code.
    """
    directory = model_directory(name)
    pinned = {} if directory else {"revision": commit(name, revision) or revision}
    quieten()
    with loading_errors(name):
        return loader(str(directory or name), **pinned, **settings)


@contextmanager
def loading_errors(name: str) -> Iterator[None]:
    """Convert errors of `transformers` when loading a model to UserError."""
    try:
        yield
    except Exception as error:  # of every library that reads one of its files
        reason = _one_line(error) or type(error).__name__
        message = f"pretrained '{name}' cannot be loaded: {reason}"
        if not isinstance(error, ValueError):  # which is of its content
            message += ". See whether its files are whole; if the hub cannot be reached, give the "
            message += "path of a directory"
        raise UserError(message) from error


def load_settings(
    name: str, revision: str | None
) -> tuple[PreTrainedTokenizerBase, PreTrainedConfig, GenerationConfig]:
    """Return the tokenizer of a model, its configuration and the settings of its search; UserError
    where there is no tokenizer."""
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    settings = load(AutoConfig.from_pretrained, name, revision)
    try:
        generation = load(GenerationConfig.from_pretrained, name, revision)
    except UserError:  # it has none
        generation = GenerationConfig.from_model_config(settings)
    tokenizer = load(AutoTokenizer.from_pretrained, name, revision)
    # Where its files are missing, `transformers` makes one that knows no words.
    if len({*tokenizer.get_vocab().values()}.difference(tokenizer.all_special_ids)) < 2:
        raise UserError(
            f"pretrained '{name}' has no tokenizer, or an empty one: write it beside the model, "
            "with its save_pretrained"
        )
    return tokenizer, settings, generation


def save(name: str, revision: str | None, folder: Folder) -> None:
    """Save the tokenizer, configuration and search settings of a model in `folder`, so that later
    steps do not need the hub."""
    from transformers.utils import GENERATION_CONFIG_NAME

    tokenizer, settings, generation = load_settings(name, revision)
    with scratch("tokenizer") as directory:
        settings.save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        # Unlike save_pretrained, it takes settings that contradict each other, which some have.
        generation.to_json_file(directory / GENERATION_CONFIG_NAME)
        (directory / PINNED).write_text(
            json.dumps({"name": name, "commit": commit(name, revision)})
        )
        folder.put(directory, FILES)
    size = len(tokenizer)
    folder.finish({"pretrained": name, "identity": identity(name, revision), "size": size})


def address_settings(model: Section) -> dict[str, Any]:
    """Return the settings of a model for an address: what determines its weights, in place of
    where they lie."""
    settings = model.to_dict()
    if not isinstance(model, Pretrained):
        return settings
    # The content of a directory, or name and revision on a hub, in place of both.
    settings["name"] = identity(settings["name"], settings.pop("revision"))
    return settings


def pinned(directory: str, revision: str | None) -> str | None:
    """Return the commit whose tokenizer `save` wrote to a directory, or `revision` where none is
    known.

    A process of another machine reads the weights of that commit, wherever the branch has moved to.
    """
    file = Path(directory) / PINNED
    known = json.loads(file.read_text())["commit"] if file.is_file() else None
    return known or revision


def identity(name: str, revision: str | None = None) -> str:
    """Return the identity of a pretrained model: a hash of the files of a directory, or the hub
    name and commit.

    Where the commit of a branch or tag cannot be known here, it is the branch or tag.
    """
    directory = model_directory(name)
    if directory is None:
        return f"{name}@{commit(name, revision) or revision or 'main'}"
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(directory.iterdir()):
        if file.is_file():
            status = file.stat()
            content = _content(file, status.st_ino, status.st_size, status.st_mtime_ns)
            digest.update(f"{file.name}:{content};".encode())
    return f"files:{digest.hexdigest()}"


@cache
def _content(file: Path, place: int, size: int, changed: int) -> str:
    """Return the hash of a file, which is read once as long as it does not change."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def commit(name: str, revision: str | None = None) -> str | None:
    """Return the commit of a model on the hub: that of the local cache, else of the hub.

    None for a directory, and where neither knows.
    """
    if model_directory(name):
        return None
    if revision and COMMIT.fullmatch(revision):
        return revision
    return hub_answer(name, revision)[0]


def unreachable(name: str, revision: str | None = None) -> str | None:
    """Return why a pretrained model is not available on this machine, None if it is."""
    return None if model_directory(name) else hub_answer(name, revision)[1]


@cache
def hub_answer(name: str, revision: str | None) -> tuple[str | None, str | None]:
    """Return the commit of a model by the local cache, else by the hub, and why there is none."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.constants import CONFIG_NAME

    try:
        cached = try_to_load_from_cache(name, CONFIG_NAME, revision=revision)
        if isinstance(cached, str):
            return Path(cached).parent.name, None  # snapshots/COMMIT/config.json
        url = hf_hub_url(name, CONFIG_NAME, revision=revision)
        return get_hf_file_metadata(url, timeout=HUB_SECONDS).commit_hash, None
    except Exception as error:  # from huggingface_hub and its HTTP library
        return None, _one_line(error) or type(error).__name__


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def hub_name(name: str) -> str | None:
    """Return the name of a pretrained model on the hub, None for a directory."""
    return None if name.startswith(PATHS) or Path(name).is_dir() else name


def quieten() -> None:
    """Silence the progress bars and log messages of `transformers`."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()

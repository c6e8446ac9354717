"""Pretrained models and tokenizers from the hub or a directory, and their identity in addresses."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.models.settings import PATHS, model_directory
from augury.text.subwords.learned import FILES

Loader = Callable[..., Any]
COMMIT = re.compile("[0-9a-f]{40}")
PINNED = "pretrained.json"
"""The file beside a kept tokenizer that says which commit it is of."""
HUB_SECONDS = 5.0
"""Timeout for checking whether the hub has a model."""


def load(loader: Loader, name: str, revision: str | None = None, **settings: Any) -> Any:
    """Call `loader`, a `from_pretrained` of transformers; raise UserError if it fails.

    `name` is a directory or a name on the hub, and `revision` a branch, tag or commit there, read
    at the commit that `identity` names.
    """
    directory = model_directory(name)
    pinned = {} if directory else {"revision": commit(name, revision) or revision}
    with loading_errors(name), quiet():
        return loader(str(directory or name), **pinned, **settings)


def load_model(
    loader: Loader,
    name: str,
    revision: str | None = None,
    *,
    allow_pickle: bool = False,
    **settings: Any,
) -> Any:
    """Load a model with its weights as `load` does, from safetensors unless pickle files are
    allowed.

    Reading a pickle file can run the code of whoever wrote it. Raises UserError for a model without
    safetensors.
    """
    if not allow_pickle:
        require_safetensors(name)
    return load(loader, name, revision, **weights_settings(allow_pickle), **settings)


def weights_settings(allow_pickle: bool) -> dict[str, bool]:
    """Return the arguments of `from_pretrained` that choose the files of weights."""
    return {} if allow_pickle else {"use_safetensors": True}


def require_safetensors(name: str) -> None:
    """Raise UserError if `name` is a directory with weights that are not in safetensors."""
    directory = model_directory(name)
    if directory is None or any(directory.glob("*.safetensors")):
        return
    if pickled := sorted(file.name for file in directory.glob("*.bin")):
        raise UserError(
            f"pretrained '{name}' has its weights in {pickled[0]}, a pickle file, which can run "
            "code when it is read: convert it to safetensors (save_pretrained), or set "
            "allow_pickle: true if you trust its author"
        )


@contextmanager
def loading_errors(name: str) -> Iterator[None]:
    """Convert errors of `transformers` when loading a model to UserError."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        advice = (
            ". If the hub cannot be reached, give the path of a directory"
            if isinstance(error, OSError)
            else ""
        )
        if ".safetensors" in reason:
            advice = (
                ". Only safetensors are read unless allow_pickle: true is set, as pickle files "
                "can run code"
            )
        raise UserError(f"pretrained '{name}' cannot be loaded: {reason}{advice}") from error


def save(name: str, revision: str | None, folder: Folder) -> None:
    """Save the tokenizer and configuration of a model in `folder`, so that later steps do not
    need the hub."""
    from transformers import AutoConfig, AutoTokenizer

    directory = Path(tempfile.mkdtemp(prefix="augury-tokenizer-"))
    load(AutoConfig.from_pretrained, name, revision).save_pretrained(directory)
    pieces = load(AutoTokenizer.from_pretrained, name, revision)
    pieces.save_pretrained(directory)
    (directory / PINNED).write_text(json.dumps({"name": name, "commit": commit(name, revision)}))
    folder.put(directory, FILES)
    folder.finish({"pretrained": name, "identity": identity(name, revision), "size": len(pieces)})


def pinned(directory: str, revision: str | None) -> str | None:
    """Return the commit whose tokenizer `save` wrote to a directory, or `revision` where none is
    known.

    A process of another machine reads the weights of that commit, wherever the branch has moved to.
    """
    file = Path(directory) / PINNED
    known = json.loads(file.read_text())["commit"] if file.is_file() else None
    return known or revision


@cache
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
            with file.open("rb") as stream:
                digest.update(
                    f"{file.name}:{hashlib.file_digest(stream, 'sha256').hexdigest()};".encode()
                )
    return f"files:{digest.hexdigest()}"


@cache
def commit(name: str, revision: str | None = None) -> str | None:
    """Return the commit of a model on the hub: that of the local cache, else of the hub.

    None for a directory, and where neither knows.
    """
    if model_directory(name):
        return None
    if revision and COMMIT.fullmatch(revision):
        return revision
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.constants import CONFIG_NAME

    try:
        cached = try_to_load_from_cache(name, CONFIG_NAME, revision=revision)
        if isinstance(cached, str):
            return Path(cached).parent.name  # snapshots/COMMIT/config.json
        return get_hf_file_metadata(
            hf_hub_url(name, CONFIG_NAME, revision=revision), timeout=HUB_SECONDS
        ).commit_hash
    except Exception:  # from huggingface_hub and its HTTP library; loading says why
        return None


def unreachable(name: str, revision: str | None = None) -> str | None:
    """Return why a pretrained model is not available on this machine, None if it is."""
    if model_directory(name):
        return None
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.constants import CONFIG_NAME

    if isinstance(try_to_load_from_cache(name, CONFIG_NAME, revision=revision), str):
        return None
    try:
        get_hf_file_metadata(hf_hub_url(name, CONFIG_NAME, revision=revision), timeout=HUB_SECONDS)
    except Exception as error:  # from huggingface_hub and its HTTP library
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return None


def hub_name(name: str) -> str | None:
    """Return the name of a pretrained model on the hub, None for a directory."""
    return None if name.startswith(PATHS) or Path(name).is_dir() else name


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and log messages of `transformers`."""
    from transformers.utils import logging

    verbosity, progress = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if progress:
            logging.enable_progress_bar()

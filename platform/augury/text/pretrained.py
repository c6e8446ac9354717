"""Pretrained models and tokenizers from the hub or a directory, and their identity in addresses."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.text.architecture import PATHS, model_directory
from augury.text.learned import FILES

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Loader = Callable[..., Any]
HUB_SECONDS = 5.0
"""Timeout for checking whether the hub has a model."""


def load(loader: Loader, name: str, revision: str | None = None, **settings: Any) -> Any:
    """Call `loader`, a `from_pretrained` of transformers; raise UserError if it fails.

    `name` is a directory or a name on the hub, and `revision` a branch, tag or commit there.
    """
    directory = model_directory(name)
    with loading_errors(name), quiet():
        return loader(str(directory or name), **({} if directory else {"revision": revision}), **settings)


@contextmanager
def loading_errors(name: str) -> Iterator[None]:
    """Convert errors of `transformers` when loading a model to UserError."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        advice = ". If the hub cannot be reached, give the path of a directory" if isinstance(error, OSError) else ""
        raise UserError(f"pretrained '{name}' cannot be loaded: {reason}{advice}") from error


def save(name: str, revision: str | None, folder: Folder) -> None:
    """Save the tokenizer and configuration of a model in `folder`, so that later steps do not need the hub."""
    from transformers import AutoConfig, AutoTokenizer

    directory = Path(tempfile.mkdtemp(prefix="augury-tokenizer-"))
    load(AutoConfig.from_pretrained, name, revision).save_pretrained(directory)
    pieces = load(AutoTokenizer.from_pretrained, name, revision)
    pieces.save_pretrained(directory)
    folder.put(directory, FILES)
    folder.finish({"pretrained": name, "identity": identity(name, revision), "size": len(pieces)})


def tokenizer(directory: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer from a directory written by `save_pretrained`; `<s>` in a text is text to it."""
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(directory)
    loaded.split_special_tokens = True
    return loaded


@cache
def identity(name: str, revision: str | None = None) -> str:
    """Return the identity of a pretrained model: a hash of the files of a directory, or the hub name and revision."""
    directory = model_directory(name)
    if directory is None:
        return f"{name}@{revision or 'main'}"
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(directory.iterdir()):
        if file.is_file():
            with file.open("rb") as stream:
                digest.update(f"{file.name}:{hashlib.file_digest(stream, 'sha256').hexdigest()};".encode())
    return f"files:{digest.hexdigest()}"


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

"""Pretrained models and tokenizers by name on a hub or by local path, and their identity in an address."""

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
"""For which a hub is waited for when it is asked whether it has a model."""


def load(loader: Loader, name: str, revision: str | None = None, **settings: Any) -> Any:
    """Return `loader(name)`, a `from_pretrained` of transformers; raise UserError where there is nothing of that name.

    `name` is a directory, or a name on the hub, where `revision` is a branch, a tag or a commit.
    """
    directory = model_directory(name)
    with explained(name), quiet():
        return loader(str(directory or name), **({} if directory else {"revision": revision}), **settings)


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn errors of `transformers`, which finds no such model or cannot make it, into UserError with the reason."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        advice = ". Where no hub can be reached, give the path of a directory" if isinstance(error, OSError) else ""
        raise UserError(f"pretrained '{name}' cannot be loaded: {reason}{advice}") from error


def keep(name: str, revision: str | None, folder: Folder) -> None:
    """Finish `folder` with a model's tokenizer and configuration, so that no later step needs the hub for them."""
    from transformers import AutoConfig, AutoTokenizer

    directory = Path(tempfile.mkdtemp(prefix="augury-tokenizer-"))
    load(AutoConfig.from_pretrained, name, revision).save_pretrained(directory)
    pieces = load(AutoTokenizer.from_pretrained, name, revision)
    pieces.save_pretrained(directory)
    folder.put(directory, FILES)
    folder.finish({"pretrained": name, "identity": identity(name, revision), "size": len(pieces)})


def tokenizer(directory: str) -> PreTrainedTokenizerBase:
    """Return the tokenizer in a directory that `save_pretrained` wrote."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(directory)


@cache
def identity(name: str, revision: str | None = None) -> str:
    """Return what determines a pretrained model: a hash of a directory's files, or a hub name and its revision."""
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
    """Return why a pretrained model cannot be had on this machine; None where it can, as one in a directory."""
    if model_directory(name):
        return None
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.constants import CONFIG_NAME

    if isinstance(try_to_load_from_cache(name, CONFIG_NAME, revision=revision), str):
        return None
    try:
        get_hf_file_metadata(hf_hub_url(name, CONFIG_NAME, revision=revision), timeout=HUB_SECONDS)
    except Exception as error:  # of the hub's library and of that for HTTP under it
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return None


def hub_name(name: str) -> str | None:
    """Return the name of a pretrained model where that is one on the hub, and None for a directory."""
    return None if name.startswith(PATHS) or Path(name).is_dir() else name


@contextmanager
def quiet() -> Iterator[None]:
    """Silence progress and reports of what `transformers` loads or writes; the caller reports what matters."""
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

"""Pretrained models and tokenizers from the hub or a directory, and their identity in addresses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.core.config import Section
from augury.core.directories import scratch
from augury.core.errors import UserError
from augury.core.paths import PATHS, expanded
from augury.core.store import Folder
from augury.models.settings import Pretrained, model_directory
from augury.text.pieces.subwords import FILES

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Loader = Callable[..., Any]
COMMIT = re.compile("[0-9a-f]{40}")
PINNED = "pretrained.json"
"""The file beside a kept tokenizer that says which commit it is of."""
GENERATION = "generation_config.json"
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
        _require_safetensors(name)
        settings["use_safetensors"] = True
    return load(loader, name, revision, **settings)


def _require_safetensors(name: str) -> None:
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
        reason, advice = _one_line(error), ""
        if ".safetensors" in reason:
            advice = (
                ". Only safetensors are read unless allow_pickle: true is set, as pickle files "
                "can run code"
            )
        elif isinstance(error, OSError):
            advice = ". If the hub cannot be reached, give the path of a directory"
        raise UserError(f"pretrained '{name}' cannot be loaded: {reason}{advice}") from error


def save(name: str, revision: str | None, folder: Folder) -> None:
    """Save the tokenizer and configuration of a model in `folder`, so that later steps do not
    need the hub."""
    pieces = put_files(name, revision, folder)
    folder.finish({"pretrained": name, "identity": identity(name, revision), "size": len(pieces)})


def put_files(
    name: str, revision: str | None, folder: Folder, *, generation: bool = False
) -> PreTrainedTokenizerBase:
    """Put tokenizer and configuration of a model into an unfinished folder; return the tokenizer.

    With `generation`, the settings of its search are put there too.
    """
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    with scratch("tokenizer") as directory:
        settings = load(AutoConfig.from_pretrained, name, revision)
        settings.save_pretrained(directory)
        if generation:
            kept = GenerationConfig.from_model_config(settings)
            if search := _generation_settings(name, revision):
                kept = GenerationConfig.from_dict(search)
            kept.save_pretrained(directory)
        pieces: PreTrainedTokenizerBase = load(AutoTokenizer.from_pretrained, name, revision)
        pieces.save_pretrained(directory)
        (directory / PINNED).write_text(
            json.dumps({"name": name, "commit": commit(name, revision)})
        )
        folder.put(directory, FILES)
    return pieces


def address_settings(model: Section) -> dict[str, Any]:
    """Return the settings of a model for an address: what determines its weights, in place of
    where they lie."""
    settings = model.to_dict()
    if not isinstance(model, Pretrained):
        return settings
    # The content of a directory, or name and revision on a hub, in place of both.
    settings["name"] = identity(settings["name"], settings.pop("revision"))
    del settings["allow_pickle"]  # the same weights in another form
    return settings


def check_files(model: Pretrained) -> None:
    """Raise UserError for a path without a model, and for weights in a form that is not allowed."""
    model_directory(model.name)
    if not model.allow_pickle:
        _require_safetensors(model.name)


@cache
def search_settings(name: str, revision: str | None = None) -> Mapping[str, Any]:
    """Return the settings of search that a model comes with, by the names of
    `decoding.settings.Decoding`; none where it has none, or its files are not reachable."""
    settings = _generation_settings(name, revision)
    named = {
        "beam": settings.get("num_beams"),
        "length_penalty": settings.get("length_penalty"),
        "max_length": settings.get("max_new_tokens") or settings.get("max_length"),
    }
    return {setting: value for setting, value in named.items() if value is not None}


def _generation_settings(name: str, revision: str | None) -> dict[str, Any]:
    """Return a model's settings of search, from its directory, the local cache or the hub; none
    where there are none."""
    directory = expanded(name)
    if directory.is_dir() or name.startswith(PATHS):
        file = directory / GENERATION
    else:
        from huggingface_hub import hf_hub_download, try_to_load_from_cache

        try:
            cached = try_to_load_from_cache(name, GENERATION, revision=revision)
            if not isinstance(cached, str):
                if commit(name, revision) is None:  # downloading would try again and again
                    return {}
                cached = hf_hub_download(
                    name, GENERATION, revision=revision, etag_timeout=HUB_SECONDS
                )
            file = Path(cached)
        except Exception:  # from huggingface_hub and its HTTP library; loading the model says why
            return {}
    settings: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return settings


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

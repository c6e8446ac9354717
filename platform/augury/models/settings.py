"""Settings shared by the models of all tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BeforeValidator

from augury.core.config import ModelName, Section, validate
from augury.core.errors import UserError
from augury.core.paths import PATHS, expanded

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

D = TypeVar("D", bound="DataclassInstance")


class Pretrained(Section):
    """A pretrained model with its tokenizer."""

    name: ModelName
    """Directory written by `save_pretrained`, or name on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub.

    A branch or tag is resolved to its commit, which is part of addresses.
    """


def attention() -> str | None:
    """Return the `attn_implementation` for `transformers`.

    With a GPU None: the default of `transformers`, which is `sdpa` if the model supports it. On
    CPU `eager`, which is faster for short sentences.
    """
    import torch

    return None if torch.cuda.is_available() else "eager"


def model_directory(name: str) -> Path | None:
    """Return the directory of a pretrained model, or None for a name on the hub.

    Raises UserError for a path that does not exist.
    """
    path = expanded(name)
    if path.is_dir():
        return path
    if name.startswith(PATHS):
        raise UserError(
            f"no pretrained model '{name}': give a directory written by save_pretrained, or a hub "
            "name"
        )
    return None


def scratch_or_pretrained(
    scratch: type[Section], pretrained: type[Pretrained], default: type[Section]
) -> BeforeValidator:
    """Return a validator of model settings, which are `pretrained` if they have a `name`, `scratch`
    if they have an `architecture`, and `default` if they have neither."""

    def select(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        chosen = scratch if "architecture" in value else default
        if "name" in value:
            chosen = pretrained
        kind = "a pretrained model" if chosen is pretrained else "a model trained from scratch"
        return validate(chosen, value, kind)

    return BeforeValidator(select)


def overridden(architecture: D, settings: Section) -> D:
    """Return an architecture, a dataclass of sizes, with those replaced that are set in
    `settings`."""
    sizes = {field.name for field in fields(architecture)}
    return replace(architecture, **settings.model_dump(include=sizes, exclude_none=True))


def check_heads(hidden_size: int, attention_heads: int) -> None:
    """Raise UserError unless the hidden size is a multiple of the number of heads."""
    if hidden_size % attention_heads:
        raise UserError(
            f"hidden_size {hidden_size} must be a multiple of attention_heads {attention_heads}: "
            "change one"
        )

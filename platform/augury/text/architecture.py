"""Settings that the models of all tasks share: their directories, sizes that must fit, how attention is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BeforeValidator

from augury.core.config import Section, validate
from augury.core.errors import UserError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

D = TypeVar("D", bound="DataclassInstance")
Attention = Literal["auto", "eager", "sdpa"]
PATHS = ("/", "./", "../", "~")
"""The beginnings of a name that can only be a path."""


class Pretrained(Section):
    """A pretrained model with its tokenizer."""

    name: str
    """Directory that `save_pretrained` wrote, or name on the hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub."""


def attention(setting: Attention) -> str | None:
    """Return the `attn_implementation` of `transformers` for a setting.

    `auto` is None where there is a GPU: the default of `transformers` for the model, `sdpa` if the model has it;
    otherwise `eager`, which is quicker for short sentences.
    """
    if setting != "auto":
        return setting
    import torch

    return None if torch.cuda.is_available() else "eager"


def model_directory(name: str) -> Path | None:
    """Return the directory of a pretrained model; None for a name on the hub. Raise UserError for a missing path."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if name.startswith(PATHS):
        raise UserError(f"no pretrained model '{name}': give a directory that save_pretrained wrote, or a hub name")
    return None


def scratch_or_pretrained(scratch: type[Section], pretrained: type[Pretrained]) -> BeforeValidator:
    """Return the validator of a model: one from nothing where it names an `architecture`, and else a pretrained one."""

    def chosen(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if "architecture" in value:
            return validate(scratch, value, "a model from nothing")
        return validate(pretrained, value, "a pretrained model")

    return BeforeValidator(chosen)


def overridden(architecture: D, settings: Section) -> D:
    """Return an architecture, a dataclass of sizes, with those of equal names that settings give in their place."""
    given = {field.name: getattr(settings, field.name) for field in fields(architecture)}
    return replace(architecture, **{name: value for name, value in given.items() if value is not None})


def check_heads(hidden_size: int, attention_heads: int) -> None:
    """Raise UserError where the heads do not divide the hidden size."""
    if hidden_size % attention_heads:
        raise UserError(
            f"hidden_size {hidden_size} is not a multiple of attention_heads {attention_heads}: "
            "each head takes an equal share, so change one of the two"
        )

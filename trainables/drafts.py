"""First experiments, whose texts stand in files."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from augury.experiments.task import Draft


def filled(texts: Mapping[str, str], **values: str) -> Draft:
    """Return the draft of a file, values in place of `$model` and other names."""
    return Draft(**{key: Template(text).substitute(values) for key, text in texts.items()})

"""Prompts of generators: Jinja templates over the columns of a record, some with names, and those
of generators that are trained here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from augury.core.errors import UserError
from augury.corpora.languages import base_language, languages


def reordering(sentence: str) -> str:
    """Return the prompt for reordering a sentence to the word order of another language."""
    return f"reorder: {sentence}"


def hypothesis(label: str, premise: str) -> str:
    """Return the prompt for generating a hypothesis with a label for a premise (Dong et al.
    2021, 2.1.2)."""
    return f"{label}: {premise}"


EXAMPLES = "examples"
"""The name of the examples in a template, a list of mappings from columns to texts."""
COLUMN = "COLUMN"
"""What stands in a named prompt for the column that is filled."""


PROMPTS: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
"""Prompts by name, as `prompts.yaml` lists them: the column that is filled, and the template."""


def _language_name(code: str) -> str:
    """Return the English name of a language, or a code that has none as it is."""
    name = languages().names.get(base_language(code))
    return name.title() if name else code


ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
ENVIRONMENT.filters["language"] = _language_name
_compiled = cache(ENVIRONMENT.from_string)


def columns_of(template: str) -> list[str]:
    """Return the columns that a template reads, sorted; UserError for one that is not valid."""
    try:
        read = meta.find_undeclared_variables(ENVIRONMENT.parse(template))
    except TemplateSyntaxError as error:
        raise UserError(
            f"the prompt is no Jinja template: line {error.lineno}, {error.message}; a column "
            "stands in two braces, such as {{ source }}"
        ) from error
    return sorted(read - {EXAMPLES})


def render(template: str, record: Mapping[str, Any], examples: Sequence[Mapping[str, str]]) -> str:
    """Return a template filled with a record and examples; UserError where that fails."""
    try:
        return _compiled(template).render({**record, EXAMPLES: list(examples)})
    except Exception as error:  # a template's own, of any type
        raise UserError(
            f"the prompt cannot be filled with record {record.get('id')}: "
            f"{type(error).__name__}: {error}"
        ) from error

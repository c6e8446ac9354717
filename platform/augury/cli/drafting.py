"""Write a commented first experiment file for a user's texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from augury.core.yaml_file import scalar
from augury.experiments.task import Drafts, capable

HELD_OUT = 1000  # rows for validation at most, and a tenth of the training text
COMMENTS = {
    "max_tokens": "of a batch",
    "warmup_updates": "until then the rate rises",
    "max_epochs": "over the training text, at most",
    "validate_every_epochs": "a sweep decides at validations",
    "patience": "validations without gain, then training ends",
    "labels": "those of the training text",
}


@dataclass(frozen=True)
class DraftOptions:
    """The choices of a user for a new experiment; a text is its settings."""

    name: str
    task: str
    rows: int
    """The approximate number of rows of the training text."""
    corpus: Mapping[str, Any]
    """The settings of the corpus before its texts: its form, languages and labels."""
    train: Mapping[str, Any]
    valid: Mapping[str, Any] | None = None
    """None: rows of the training text are held out, as for tests."""
    tests: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    model: str | None = None
    """A pretrained model, by its directory or its name on the hub."""


def draft(options: DraftOptions) -> str:
    """Return the experiment file; UserError unless the task says how it is drafted."""
    task = capable(options.task, Drafts).draft(options.rows, options.model)
    comments = "".join(f"  # {line}\n" for line in task.corpus.splitlines())
    training = dict(setting.split(": ", 1) for setting in task.training.split(", "))
    return f"""# {task.question}
# `augury config FILE` checks this file and its texts, and shows all settings by --resolved.
# `augury sweep augmentations FILE` races all augmentations that its text allows, and says which
# helps, by how much and at what cost; `augury train FILE` trains the systems at its end. Both end
# in a table and a page.
name: {scalar(options.name)}
task: {scalar(options.task)}
seeds: [1, 2, 3]    # seeds differ as much as methods do: a single one decides nothing
storage: results    # directory or URI of everything that is made

corpus:
{_lines({key: _inline(value) for key, value in options.corpus.items()})}
{_texts(options)}
{comments}
{task.system}
training:
{_lines(training)}
# All systems train for as many epochs, of which those with more records take more updates; instead:
# equal: updates      # or tokens, or time (with training.max_minutes)

# Each by the dotted keys in which it differs from the settings above; the first is the baseline.
systems:
  baseline: {{{task.baseline}}}
  {task.name}: {{}}
  # another: {{{task.other}}}
"""


def held_out_share(rows: int) -> float:
    """Return the share of `rows` rows that is held out for each of validation and test."""
    return min(0.1, HELD_OUT / max(1, rows))


def _texts(options: DraftOptions) -> str:
    """Return the texts, with random rows of the training text for those that there are not."""
    roles: dict[str, Mapping[str, Any] | None] = {"valid": options.valid}
    roles |= options.tests if options.tests else dict.fromkeys(["test"])
    share, missing = held_out_share(options.rows), sum(not text for text in roles.values())
    start = 1 - share * missing
    train = dict(options.train)
    if missing:
        train["portion"] = [0, round(start, 8)]
    shown = []
    for text in roles.values():
        if not text:
            text = {**options.train, "portion": [round(start, 8), round(start + share, 8)]}
            start += share
        shown.append(_inline(text))
    valid, *tests = shown
    held_out = "" if options.valid else "    # rows held out at random"
    lines = [f"  train: {_inline(train)}", f"  valid: {valid}{held_out}", "  tests:"]
    names = [name for name in roles if name != "valid"]
    lines += [f"    {scalar(name)}: {text}" for name, text in zip(names, tests, strict=True)]
    return "\n".join(lines)


def _inline(value: Any) -> str:
    """Return a value as YAML in a line."""
    if isinstance(value, str):
        return scalar(value)
    shown = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**6
    )
    return str(shown).strip()


def _lines(settings: Mapping[str, str]) -> str:
    """Return settings, one per line with its comment."""
    lines = []
    for key, value in settings.items():
        setting = f"  {key}: {value}"
        lines.append(f"{setting:<27}# {COMMENTS[key]}" if key in COMMENTS else setting)
    return "\n".join(lines)

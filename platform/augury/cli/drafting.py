"""Write a commented first experiment file for a user's texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.core.yaml_file import inline
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


def draft(
    name: str,
    task: str,
    *,
    rows: int,
    corpus: Mapping[str, Any],
    train: Mapping[str, Any],
    valid: Mapping[str, Any] | None = None,
    tests: Mapping[str, Mapping[str, Any]] | None = None,
    model: str | None = None,
) -> str:
    """Return the experiment file; UserError unless the task says how it is drafted.

    A text is its settings, and `corpus` those before the texts: form, languages and labels. Where
    there is no validation text or test set, rows of the training text, of about `rows` rows, are
    held out. `model` is a pretrained one, by its directory or its name on the hub.
    """
    languages = [code for key, code in corpus.items() if key.endswith("language")]
    of_task = capable(task, Drafts).draft(rows, model, languages)
    comments = "".join(f"  # {line}\n" for line in of_task.corpus.splitlines())
    training = dict(setting.split(": ", 1) for setting in of_task.training.split(", "))
    return f"""# {of_task.question}
# `augury config FILE` checks this file and its texts, and shows all settings by --resolved.
# `augury sweep augmentations FILE` races all augmentations that its text allows, and says which
# helps, by how much and at what cost; `augury train FILE` trains the systems at its end. Both end
# in a table and a page.
name: {inline(name)}
task: {inline(task)}
seeds: [1, 2, 3]    # seeds differ as much as methods do: a single one decides nothing
storage: results    # directory or URI of everything that is made

corpus:
{_lines({key: inline(value) for key, value in corpus.items()})}
{_texts(rows, train, {"valid": valid, **(tests or dict.fromkeys(["test"]))})}
{comments}
{of_task.system}
training:
{_lines(training)}
# All systems train for as many epochs, of which those with more records take more updates;
# max_updates in place of max_epochs gives all as many.

# Each by the dotted keys in which it differs from the settings above; the first is the baseline.
systems:
  baseline: {{{of_task.baseline}}}
  {of_task.name}: {{}}
  # another: {{{of_task.other}}}
"""


def _texts(
    rows: int, train: Mapping[str, Any], held_out: Mapping[str, Mapping[str, Any] | None]
) -> str:
    """Return the texts, with random rows of the training text for those that there are not."""
    share = min(0.1, HELD_OUT / max(1, rows))  # of each
    missing = sum(not text for text in held_out.values())
    start = 1 - share * missing
    first = {**train, **({"portion": [0, round(start, 8)]} if missing else {})}
    lines = [f"  train: {inline(first)}"]
    for name, text in held_out.items():
        note = "" if text else "    # rows held out at random"
        if not text:
            text = {**train, "portion": [round(start, 8), round(start + share, 8)]}
            start += share
        if name == "valid":
            lines += [f"  valid: {inline(text)}{note}", "  tests:"]
        else:
            lines.append(f"    {inline(name)}: {inline(text)}")
    return "\n".join(lines)


def _lines(settings: Mapping[str, str]) -> str:
    """Return settings, one per line with its comment."""
    lines = []
    for key, value in settings.items():
        setting = f"  {key}: {value}"
        lines.append(f"{setting:<26} # {COMMENTS[key]}" if key in COMMENTS else setting)
    return "\n".join(lines)

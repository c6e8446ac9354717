"""Write a commented first experiment file for a user's texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from augury.core.yaml_file import scalar
from augury.experiments.task import Draft, Drafts, capable

HELD_OUT = 1000  # rows for validation at most, and a tenth of the training text
COMMENTS = {
    "max_tokens": "of a batch",
    "warmup_updates": "until then the rate rises",
    "max_epochs": "over the training text, at most",
    "validate_every_epochs": "a sweep decides at validations",
    "patience": "validations without gain, then training ends",
}
Files = Sequence[str]
"""Two aligned files, source and target, or one table."""


@dataclass(frozen=True)
class DraftOptions:
    """The choices of a user for a new experiment."""

    name: str
    task: str
    languages: Mapping[str, str]
    """Language codes by setting of the corpus."""
    rows: int
    """The approximate number of rows of the training text."""
    train: Files
    valid: Files = ()
    """Empty: rows of the training text are held out, as for tests."""
    tests: Mapping[str, Files] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of tables by column of records."""
    labels: Sequence[str] = ()
    """All labels, for a corpus that lists them."""
    model: str | None = None
    """A pretrained model, by its directory or its name on the hub."""
    header: Sequence[str] = ()
    """The columns of tables without a header line."""
    form: str | None = None
    """The kind of corpus, for a task that has several."""
    names: Mapping[str, str | None] = field(default_factory=dict)
    """Labels of texts by other names; None for no label."""
    others: Mapping[str, tuple[Mapping[str, str], Sequence[str]]] = field(default_factory=dict)
    """The columns and the header of tables that have their own."""


def draft(options: DraftOptions) -> str:
    """Return the experiment file; UserError unless the task says how it is drafted."""
    task = capable(options.task, Drafts).draft(options.rows, options.model)
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
{_corpus(options, task)}

{task.system}
training:
{_lines(task.training)}
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


def _corpus(options: DraftOptions, task: Draft) -> str:
    lines = [f"form: {options.form}"] if options.form else []
    lines += [f"{setting}: {code}" for setting, code in options.languages.items()]
    if options.labels:
        labels = ", ".join(map(scalar, options.labels))
        lines.append(f"labels: [{labels}]    # those of the training text")
    lines += [*_texts(options), *(f"# {line}" for line in task.corpus.splitlines())]
    return "\n".join(f"  {line}" for line in lines)


def _texts(options: DraftOptions) -> list[str]:
    """Return the texts, with random rows of the training text for those that there are not."""
    tests = dict(options.tests) or {"test": ()}
    missing = sum(not files for files in (options.valid, *tests.values()))
    starts = [1 - held_out_share(options.rows) * count for count in range(missing, -1, -1)]
    portions = iter(zip(starts, starts[1:], strict=False))

    def text(files: Files) -> str:
        return _text(options, files) if files else _text(options, options.train, next(portions))

    kept = (0.0, starts[0]) if missing else None
    held_out = "" if options.valid else "    # rows held out at random"
    lines = [f"train: {_text(options, options.train, kept)}"]
    lines += [f"valid: {text(options.valid)}{held_out}", "tests:"]
    return [*lines, *(f"  {scalar(name)}: {text(files)}" for name, files in tests.items())]


def _text(options: DraftOptions, files: Files, portion: tuple[float, float] | None = None) -> str:
    """Return the section of a text."""
    if len(files) == 2:
        settings = [f"source: {scalar(files[0])}", f"target: {scalar(files[1])}"]
    else:
        columns, header = options.others.get(files[0], (options.columns, options.header))
        settings = [f"file: {scalar(files[0])}"]
        settings += [f"{name}_column: {scalar(column)}" for name, column in columns.items()]
        settings += [f"header: [{', '.join(map(scalar, header))}]"] * bool(header)
        names = [f"{scalar(name)}: {json.dumps(label)}" for name, label in options.names.items()]
        settings += [f"names: {{{', '.join(names)}}}"] * bool(names)
    if portion:
        settings.append(f"portion: [{portion[0]:.8g}, {portion[1]:.8g}]")
    return f"{{{', '.join(settings)}}}"


def _lines(settings: str) -> str:
    """Return settings, `key: value, key: value`, one per line with its comment."""
    lines = []
    for setting in settings.split(", "):
        comment = COMMENTS.get(setting.partition(":")[0])
        lines.append(f"  {setting:<25}# {comment}" if comment else f"  {setting}")
    return "\n".join(lines)
